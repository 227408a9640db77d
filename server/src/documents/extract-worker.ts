import { parentPort, workerData } from 'node:worker_threads';
import { DocumentRefused } from './document.ts';
import { extractDocument } from './extract.ts';
import type { ExtractAnswer, ExtractInput } from './extractor.ts';
import { indexed } from './pieces.ts';

/** The thread that reads one document. */

const port = parentPort;
if (port === null) throw new Error('extract-worker.ts runs as a worker thread');
const { bytes, bounds } = workerData as ExtractInput;
const answer = (message: ExtractAnswer): void => port.postMessage(message);

try {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  answer({ document: indexed(await extractDocument(buffer, bounds)) });
} catch (error) {
  if (!(error instanceof DocumentRefused)) throw error;
  answer({ problem: { code: error.code, message: error.message } });
}
