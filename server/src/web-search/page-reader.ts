import { z } from 'zod';
import { documentBounds } from '../documents/document.ts';
import { extractInSandbox } from '../documents/extractor.ts';
import { ParseFailure } from '../sandbox/child.ts';
import { ParseRefused, type Sandbox } from '../sandbox/sandbox.ts';
import type { FetchedPage } from './page-fetch.ts';

/** Input of the task in page-task.ts. */
export type PageInput = {
  bytes: Uint8Array;
  charset: string | undefined;
  url: string;
  isHtml: boolean;
  maxTextBytes: number;
};
/** Text of a page, as a model gets it. */
export type ReadPage = { title: string; author?: string; publishedAt?: string; text: string; isCut: boolean };

/** A page that cannot be read, in words for the model. */
export class PageRefused extends Error {}

export const pageTextBytes = 256 * 1024;
const mebibyte = 1024 * 1024;
const limits = {
  heapMb: documentBounds.heapMb,
  memoryBytes: (documentBounds.heapMb + 256) * mebibyte,
  stepMs: 10_000,
  cpuMs: 10_000,
};
const bounds = { ...documentBounds, maxPages: 300, maxTextBytes: pageTextBytes, timeoutMs: 20_000 };

// The page may have taken over the process that read it, so its answer is checked like that of any stranger.
const answer = z.object({
  title: z.string().max(300),
  author: z.string().max(300).optional(),
  publishedAt: z.string().max(300).optional(),
  text: z.string().max(pageTextBytes + 1024),
  isCut: z.boolean(),
});
const refusal = z.object({ message: z.string().max(500) });

const unreadable = 'The page cannot be read.';

/** Reads a page in a child process with bounded time and memory. Throws PageRefused and the signal's reason. */
export async function readPage(sandbox: Sandbox, page: FetchedPage, signal: AbortSignal): Promise<ReadPage> {
  const isText = page.kind !== 'document';
  const read = isText ? await readText(sandbox, page, signal) : await readDocument(sandbox, page, signal);
  const text = cutBytes(read.text.trim().toWellFormed(), pageTextBytes);
  if (text === '') throw new PageRefused('There is no text on the page. It may need a browser that runs its scripts.');
  return { ...read, title: read.title || lastName(page.url), text };
}

async function readText(sandbox: Sandbox, page: FetchedPage, signal: AbortSignal): Promise<ReadPage> {
  const { bytes, charset, url, kind } = page;
  const input: PageInput = { bytes, charset, url, isHtml: kind === 'html', maxTextBytes: pageTextBytes };
  try {
    const job = await sandbox.open('page', input, { limits, signal });
    try {
      const { title, author, publishedAt, text, isCut } = answer.parse(job.opened);
      return {
        title,
        text,
        isCut,
        ...(author === undefined ? {} : { author }),
        ...(publishedAt === undefined ? {} : { publishedAt }),
      };
    } finally {
      await job.close();
    }
  } catch (error) {
    if (error instanceof ParseRefused) {
      throw new PageRefused(refusal.safeParse(error.data).data?.message ?? unreadable);
    }
    if (error instanceof z.ZodError) throw new PageRefused(unreadable);
    if (!(error instanceof ParseFailure)) throw error;
    throw new PageRefused(error.reason === 'time' ? 'Reading the page takes too long.' : unreadable);
  }
}

async function readDocument(sandbox: Sandbox, page: FetchedPage, signal: AbortSignal): Promise<ReadPage> {
  const extracted = await extractInSandbox(sandbox, page.bytes, signal, bounds).catch((error: unknown) => {
    throw error instanceof ParseFailure ? new PageRefused(unreadable) : error;
  });
  if ('problem' in extracted) throw new PageRefused(extracted.problem.message);
  const { pages, warnings } = extracted.document;
  const texts = pages.map(({ label, pieces }) => {
    const text = pieces.map((piece) => piece.text).join('');
    return pages.length === 1 ? text : `[${label}]\n${text}`;
  });
  return { title: '', text: texts.join('\n\n'), isCut: warnings.length > 0 };
}

/** At most this many bytes of UTF-8, without half a character at the end. */
function cutBytes(text: string, most: number): string {
  if (text.length * 3 <= most) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

function lastName(url: string): string {
  const { hostname, pathname } = new URL(url);
  const name = pathname.split('/').findLast((part) => part !== '');
  return (name ?? hostname).slice(0, 300);
}
