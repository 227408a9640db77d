import { parentPort, workerData } from 'node:worker_threads';
import { DocumentRefused, type IndexedDocument } from './document.ts';
import { extractDocument } from './extract.ts';
import type { ExtractInput, ThreadAnswer } from './extractor.ts';
import { indexed } from './pieces.ts';

/** The thread that reads one document. */

const batchCharacters = 500_000;

const port = parentPort;
if (port === null) throw new Error('extract-worker.ts runs as a worker thread');
const { bytes, bounds } = workerData as ExtractInput;
const answer = (message: ThreadAnswer): void => port.postMessage(message);

try {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { pages, ...head } = indexed(await extractDocument(buffer, bounds));
  const batches = batchesOf(pages);
  port.on('message', () => answer({ pages: batches.next().value ?? [] }));
  answer({ head });
} catch (error) {
  if (!(error instanceof DocumentRefused)) throw error;
  answer({ problem: { code: error.code, message: error.message } });
}

/** In messages that are unpacked quickly where they arrive. */
function* batchesOf(pages: IndexedDocument['pages']): Generator<IndexedDocument['pages'], undefined> {
  let batch: IndexedDocument['pages'] = [];
  let size = 0;
  for (const page of pages) {
    batch.push(page);
    size += page.pieces.reduce((sum, { text, words }) => sum + text.length + words.length, 0);
    if (size < batchCharacters) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}
