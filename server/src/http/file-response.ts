import type { ServerResponse } from 'node:http';
import { type ByteRange, parseRange } from '@homeport/contracts/files/byte-range';
import { Reply, type RequestFacts, streamed } from './handler.ts';
import { standardHeaders } from './response.ts';

/** People's bytes as they are served; `etag` is a strong one, with quotes. */
export type ServedFile = {
  size: number;
  etag: string;
  type: string;
  /** An `attachment`, or `inline` for types that cannot run anything. */
  disposition: string;
  /** Passes on the bytes of a range; they are overwritten once `take` has resolved. */
  read(range: ByteRange, take: (bytes: Uint8Array) => Promise<void>): Promise<void>;
};

/** A client that takes nothing for this long counts as gone. */
const silenceMs = 300_000;

/** Never one of our pages, whatever the content: no scripts, no frames, no origin (contract.md section 8). */
const untrusted = {
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'self'",
  'cross-origin-resource-policy': 'same-origin',
};

/** Headers for everything that people made. */
export function untrustedHeaders(request: RequestFacts): Record<string, string> {
  return { ...standardHeaders(request.id), ...untrusted };
}

/**
 * Serves the file or the requested range (RFC 9110, 13 and 14): 200, 206, 304 or 416. If the stream is cut off, so is
 * the connection. `more` replaces headers.
 */
export async function sendFile(
  request: RequestFacts,
  file: ServedFile,
  more: Readonly<Record<string, string>> = {},
): Promise<typeof streamed | Reply> {
  const { outgoing } = request;
  const headers: Record<string, string> = {
    ...untrustedHeaders(request),
    ...more,
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
  const status = range === undefined ? 200 : 206;
  if (request.method === 'HEAD' || file.size === 0) outgoing.writeHead(status, headers).end();
  else
    await sendBytes(
      outgoing,
      (take) => file.read({ start, end }, take),
      () => outgoing.writeHead(status, headers),
    );
  return streamed;
}

/** The head is sent with the first bytes, so that an earlier failure gets its own response. */
async function sendBytes(
  outgoing: ServerResponse,
  read: (take: (bytes: Uint8Array) => Promise<void>) => Promise<void>,
  begin: () => void,
): Promise<void> {
  outgoing.setTimeout(silenceMs, () => outgoing.destroy());
  const write = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      const leave = (): void => reject(new ClientLeft());
      outgoing.once('close', leave);
      outgoing.write(bytes, (error) => {
        outgoing.off('close', leave);
        if (error) leave();
        else resolve();
      });
    });
  try {
    await read(async (bytes) => {
      if (outgoing.destroyed) throw new ClientLeft();
      if (!outgoing.headersSent) begin();
      await write(bytes);
    });
    outgoing.end();
  } catch (error) {
    if (error instanceof ClientLeft) return;
    // A broken connection shows the client that the file is incomplete.
    if (outgoing.headersSent) outgoing.destroy();
    throw error;
  }
}

class ClientLeft extends Error {}

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
