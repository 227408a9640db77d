import { type Task, TaskRefused } from '../sandbox/serve.ts';
import { DocumentRefused, type IndexedDocument } from './document.ts';
import { extractDocument } from './extract.ts';
import type { ExtractInput } from './extractor.ts';
import { indexed } from './pieces.ts';

const batchCharacters = 500_000;

/** Reads one document in a child process: its head first, then its pages in batches; an empty batch ends them. */
export const extractTask: Task = async (input) => {
  const { bytes, bounds } = input as ExtractInput;
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const { pages, ...head } = indexed(await extractDocument(buffer, bounds));
    const batches = batchesOf(pages);
    return { opened: head, ask: () => batches.next().value ?? [] };
  } catch (error) {
    if (!(error instanceof DocumentRefused)) throw error;
    throw new TaskRefused({ code: error.code, message: error.message });
  }
};

/** In answers that are unpacked quickly where they arrive. */
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
