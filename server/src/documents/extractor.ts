import { Worker } from 'node:worker_threads';
import { systemClock } from '../clock.ts';
import { type DocumentBounds, type DocumentProblem, documentBounds, type IndexedDocument } from './document.ts';

/** What the thread of extract-worker.ts is given and answers. */
export type ExtractInput = { bytes: Uint8Array; bounds: DocumentBounds };
export type ThreadAnswer =
  | { head: Omit<IndexedDocument, 'pages'> }
  /** The next ones, sent when they are asked for; none at the end. */
  | { pages: IndexedDocument['pages'] }
  | { problem: DocumentProblem };
export type ExtractAnswer = { document: IndexedDocument } | { problem: DocumentProblem };

const watchEveryMs = 100;

const tooSlow: DocumentProblem = { code: 'too_slow', message: 'Reading the file takes too long.' };
const tooMuchMemory: DocumentProblem = { code: 'too_much_memory', message: 'Reading the file takes too much memory.' };
const crashed: DocumentProblem = { code: 'damaged', message: 'The file is damaged or was cut short.' };

/**
 * Reads a document on a thread of its own with bounded time and memory, so that no file holds up or ends the service.
 * Takes the bytes over. Rejects only with the signal's reason.
 */
export async function extractOnThread(
  bytes: Uint8Array,
  signal: AbortSignal,
  bounds: DocumentBounds = documentBounds,
): Promise<ExtractAnswer> {
  signal.throwIfAborted();
  const own = ownBytes(bytes);
  const worker = new Worker(workerFile(), {
    workerData: { bytes: own, bounds } satisfies ExtractInput,
    transferList: [own.buffer],
    resourceLimits: { maxOldGenerationSizeMb: bounds.heapMb },
    // What a library prints about a file is for nobody.
    stdout: true,
    stderr: true,
  });
  const { promise, resolve, reject } = Promise.withResolvers<ExtractAnswer>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = systemClock.after(bounds.timeoutMs, () => resolve({ problem: tooSlow }));
  const watch = systemClock.every(watchEveryMs, async () => {
    if (await holdsMoreThan(worker, bounds.maxBufferBytes)) resolve({ problem: tooMuchMemory });
  });
  receive(worker, resolve);
  worker.on('error', (error) => resolve({ problem: isOutOfMemory(error) ? tooMuchMemory : crashed }));
  worker.on('exit', () => resolve({ problem: crashed }));
  try {
    return await promise;
  } finally {
    timer.stop();
    watch.stop();
    signal.removeEventListener('abort', onAbort);
    await worker.terminate();
  }
}

/** Asks for the pages bit by bit: unpacking a long document at once would hold up everything else. */
function receive(worker: Worker, resolve: (answer: ExtractAnswer) => void): void {
  let head: Omit<IndexedDocument, 'pages'> | undefined;
  const pages: IndexedDocument['pages'] = [];
  worker.on('message', (answer: ThreadAnswer) => {
    if ('problem' in answer) return resolve(answer);
    if ('head' in answer) head = answer.head;
    else if (answer.pages.length > 0) pages.push(...answer.pages);
    else if (head !== undefined) return resolve({ document: { ...head, pages } });
    worker.postMessage('next');
  });
}

/** Buffers are in no bound of a thread's heap: a stream in a PDF may unpack to any size. */
async function holdsMoreThan(worker: Worker, bytes: number): Promise<boolean> {
  try {
    const { external_memory: external } = await worker.getHeapStatistics();
    return external > bytes;
  } catch {
    return false;
  }
}

/** Only whole memory can be handed over to a thread. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === buffer.byteLength;
  return isWhole && buffer instanceof ArrayBuffer ? new Uint8Array(buffer) : Uint8Array.from(bytes);
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Beside this file in the sources, and beside the bundle. */
function workerFile(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
  return new URL(`./extract-worker.${extension}`, import.meta.url);
}
