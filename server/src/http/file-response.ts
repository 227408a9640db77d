import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ByteRange, parseRange } from './byte-range.ts';
import { Reply, type RequestFacts, streamed } from './handler.ts';
import { standardHeaders } from './router.ts';

/** Bytes that people made, as they are served: `etag` is a strong one, with its quotes. */
export type ServedFile = {
  size: number;
  etag: string;
  type: string;
  /** An `attachment`, or `inline` for types that run nothing. */
  disposition: string;
  read(range: ByteRange): Promise<Readable>;
};

/** A client that takes nothing for this long has gone. */
const silenceMs = 300_000;

/** No page of ours, whatever it holds: no scripts, no frames, no origin (contract section 8). */
const untrusted = {
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'self'",
  'cross-origin-resource-policy': 'same-origin',
};

/** Headers of everything that is served from what people made. */
export function untrustedHeaders(request: RequestFacts): Record<string, string> {
  return { ...standardHeaders(request.id), ...untrusted };
}

/** Serves the file or the range asked for (RFC 9110, 13 and 14): 200, 206, 304 or 416. A cut stream breaks the connection. */
export async function sendFile(request: RequestFacts, file: ServedFile): Promise<typeof streamed | Reply> {
  const { outgoing } = request;
  const headers: Record<string, string> = {
    ...untrustedHeaders(request),
    'content-type': file.type,
    'content-disposition': file.disposition,
    'accept-ranges': 'bytes',
    etag: file.etag,
  };
  if (matches(request.headers.get('if-none-match'), file.etag)) {
    outgoing.writeHead(304, headers).end();
    return streamed;
  }
  const range = isRangeWanted(request, file)
    ? parseRange(request.headers.get('range') ?? undefined, file.size)
    : undefined;
  if (range === 'unsatisfiable') return unsatisfiable(request, file.size);
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  headers['content-length'] = String(end - start + 1);
  if (range !== undefined) headers['content-range'] = `bytes ${start}-${end}/${file.size}`;
  const isEmpty = request.method === 'HEAD' || file.size === 0;
  const bytes = isEmpty ? undefined : await file.read({ start, end });
  outgoing.writeHead(range === undefined ? 200 : 206, headers);
  if (bytes === undefined) outgoing.end();
  else {
    outgoing.setTimeout(silenceMs, () => outgoing.destroy());
    await pipeline(bytes, outgoing);
  }
  return streamed;
}

function isRangeWanted(request: RequestFacts, file: ServedFile): boolean {
  if (request.method !== 'GET') return false;
  const condition = request.headers.get('if-range');
  return condition === null || condition === file.etag;
}

function matches(condition: string | null, etag: string): boolean {
  if (condition === null) return false;
  const tags = condition.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}

function unsatisfiable(request: RequestFacts, size: number): Reply {
  const error = { message: `This file has ${size} bytes`, code: 'invalid_request', requestId: request.id };
  return new Reply({ error }, { status: 416, headers: [['content-range', `bytes */${size}`]] });
}
