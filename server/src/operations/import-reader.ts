import { Worker } from 'node:worker_threads';
import { systemClock } from '../clock.ts';
import type { PreparedItem } from './prepare.ts';
import { ImportRefused, importBounds } from './readers/read-conversation.ts';

/** What the thread of import-worker.ts is given and answers, one message for each question. */
export type ImportWorkerInput = { path: string; ownerId: string; email: string };
export type ImportWorkerMessage = { item: PreparedItem } | { end: true } | { refused: string };

const damaged = 'Reading the archive failed: it is damaged, or needs too much memory or time.';

/**
 * The items of an archive, read on a thread of its own with bounded memory and time. Throws ImportRefused with words
 * for the person, and the signal's reason.
 */
export async function* readOnThread(
  input: ImportWorkerInput,
  signal: AbortSignal,
  bounds: { heapMb: number; stepMs: number } = importBounds,
): AsyncGenerator<PreparedItem, void> {
  signal.throwIfAborted();
  const worker = new Worker(workerFile(), {
    workerData: input,
    resourceLimits: { maxOldGenerationSizeMb: bounds.heapMb },
    // What a library prints about an archive is for nobody.
    stdout: true,
    stderr: true,
  });
  let settle: (answer: ImportWorkerMessage) => void = () => undefined;
  let hasEnded = false;
  const onEnd = (): void => {
    hasEnded = true;
    settle({ refused: damaged });
  };
  worker.on('message', (message: ImportWorkerMessage) => settle(message));
  worker.on('error', onEnd);
  worker.on('exit', onEnd);
  try {
    for (;;) {
      const answer = await new Promise<ImportWorkerMessage>((resolve, reject) => {
        const stop = (): void => reject(signal.reason);
        signal.addEventListener('abort', stop, { once: true });
        const timer = systemClock.after(bounds.stepMs, () => resolve({ refused: damaged }));
        settle = (message) => {
          timer.stop();
          signal.removeEventListener('abort', stop);
          resolve(message);
        };
        worker.postMessage('next');
        if (signal.aborted) stop();
        if (hasEnded) onEnd();
      });
      if ('refused' in answer) throw new ImportRefused(answer.refused);
      if ('end' in answer) return;
      yield answer.item;
    }
  } finally {
    await worker.terminate();
  }
}

/** Beside this file in the sources, and beside the bundle. */
function workerFile(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'mjs';
  return new URL(`./import-worker.${extension}`, import.meta.url);
}
