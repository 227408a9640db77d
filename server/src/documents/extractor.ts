import { z } from 'zod';
import { type JobLimits, ParseFailure } from '../sandbox/child.ts';
import { ParseRefused, type Sandbox } from '../sandbox/sandbox.ts';
import {
  type DocumentBounds,
  type DocumentProblem,
  documentBounds,
  documentKinds,
  type IndexedDocument,
  problemCodes,
  warningCodes,
} from './document.ts';

/** The input of the task in extract-task.ts. */
export type ExtractInput = { bytes: Uint8Array; bounds: DocumentBounds };
export type ExtractAnswer = { document: IndexedDocument } | { problem: DocumentProblem };

const tooSlow: DocumentProblem = { code: 'too_slow', message: 'Reading the file takes too long.' };
const tooMuchMemory: DocumentProblem = { code: 'too_much_memory', message: 'Reading the file takes too much memory.' };
const crashed: DocumentProblem = { code: 'damaged', message: 'The file is damaged or was cut short.' };

// A file may have taken over the process that read it, so its answers are checked like those of any stranger.
const problemAnswer = z.object({ code: z.enum(problemCodes), message: z.string().max(500) });
const headAnswer = z.object({
  kind: z.enum(documentKinds),
  warnings: z.array(z.object({ code: z.enum(warningCodes), message: z.string().max(500) })).max(10),
  tokens: z.number().int().min(0).max(1_000_000_000),
});
const pagesAnswer = z.array(
  z.object({
    label: z.string().max(10_000),
    pieces: z.array(z.object({ text: z.string().max(20_000), words: z.string().max(200_000) })),
  }),
);

/**
 * Reads a document in a child process with bounded time and memory, so that no file holds up or ends the service. A
 * child that ended for no known reason is tried once more. Rejects only with the signal's reason, and when the child
 * was ended from outside.
 */
export async function extractInSandbox(
  sandbox: Sandbox,
  bytes: Uint8Array,
  signal: AbortSignal,
  bounds: DocumentBounds = documentBounds,
): Promise<ExtractAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await extractOnce(sandbox, bytes, signal, bounds);
    } catch (error) {
      if (error instanceof ParseRefused) return { problem: problemOf(error.data) };
      if (error instanceof z.ZodError) return { problem: crashed };
      if (!(error instanceof ParseFailure) || error.reason === 'interrupted') throw error;
      if (error.reason === 'time') return { problem: tooSlow };
      if (error.reason === 'memory') return { problem: tooMuchMemory };
      if (error.reason === 'failed' || attempt === 2) return { problem: crashed };
    }
  }
}

async function extractOnce(
  sandbox: Sandbox,
  bytes: Uint8Array,
  signal: AbortSignal,
  bounds: DocumentBounds,
): Promise<ExtractAnswer> {
  const job = await sandbox.open('document', { bytes, bounds } satisfies ExtractInput, {
    limits: limitsOf(bounds),
    signal,
  });
  try {
    const head = headAnswer.parse(job.opened);
    const pages: IndexedDocument['pages'] = [];
    let characters = 0;
    for (;;) {
      const batch = pagesAnswer.parse(await job.ask('pages'));
      if (batch.length === 0) return { document: { ...head, pages } };
      for (const page of batch) {
        pages.push(page);
        for (const { text } of page.pieces) characters += text.length;
      }
      if (pages.length > bounds.maxPages || characters > bounds.maxTextBytes) return { problem: crashed };
    }
  } finally {
    await job.close();
  }
}

function limitsOf({ heapMb, maxBufferBytes, timeoutMs }: DocumentBounds): JobLimits {
  return {
    heapMb,
    memoryBytes: heapMb * 1024 * 1024 + maxBufferBytes,
    stepMs: timeoutMs,
    cpuMs: timeoutMs,
  };
}

function problemOf(data: unknown): DocumentProblem {
  const { success, data: problem } = problemAnswer.safeParse(data);
  return success ? problem : crashed;
}
