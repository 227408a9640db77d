import { read } from 'node:fs';
import { promisify } from 'node:util';
import { type ByteRange, parseRange } from '@homeport/contracts/files/byte-range';
import { DaemonError } from '../daemon-error.ts';
import type { HomePath } from '../file-system/home-path.ts';
import type { Exchange } from '../http.ts';
import { close } from './descriptors.ts';
import { openFile } from './read.ts';
import type { Found, Home } from './walk.ts';

const readBytes = promisify(read);
const chunkBytes = 256 * 1024;

/** A file's bytes, or one range of them (RFC 9110, 13 and 14): 200, 206, 304 or 416. */
export async function sendContent(
  home: Home,
  path: HomePath,
  exchange: Exchange,
  onOpened: (opened: Found) => void = () => undefined,
): Promise<void> {
  const opened = openFile(home, path);
  let range: ByteRange | undefined;
  try {
    onOpened(opened);
    range = sendHead(opened, exchange);
  } finally {
    if (range === undefined) close(opened.descriptor);
  }
  if (range === undefined) exchange.response.end();
  else await sendBytes(opened.descriptor, range, exchange.response);
}

/** Undefined if only the head is to be sent. */
function sendHead({ stats }: Found, { request, response, method }: Exchange): ByteRange | undefined {
  const size = Number(stats.size);
  const etag = `"${stats.ino.toString(36)}-${stats.size.toString(36)}-${stats.mtimeNs.toString(36)}"`;
  const modified = new Date(Number(stats.mtimeMs)).toUTCString();
  const headers: Record<string, string> = { 'accept-ranges': 'bytes', etag, 'last-modified': modified };
  if (isUnchanged(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers);
    return undefined;
  }
  const condition = request.headers['if-range'];
  const isRangeWanted = method === 'GET' && (condition === undefined || condition === etag);
  const range = isRangeWanted ? parseRange(request.headers.range, size) : undefined;
  if (range === 'unsatisfiable') {
    const rangeHeader = { 'content-range': `bytes */${size}` };
    throw new DaemonError('range_not_satisfiable', `This file has ${size} bytes`, rangeHeader);
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  headers['content-type'] = 'application/octet-stream';
  headers['content-length'] = String(end - start + 1);
  if (range !== undefined) headers['content-range'] = `bytes ${start}-${end}/${size}`;
  response.writeHead(range === undefined ? 200 : 206, headers);
  return method === 'HEAD' || size === 0 ? undefined : { start, end };
}

/**
 * Closes the descriptor, even if the reader disconnects. If the file shrinks meanwhile, it breaks the connection, so
 * that the reader does not take half a file for the whole. Of two buffers, one is filled while the other is sent.
 */
async function sendBytes(descriptor: number, { start, end }: ByteRange, response: Exchange['response']): Promise<void> {
  const buffers = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)];
  const readAt = (position: number, buffer: Buffer | undefined) =>
    buffer === undefined || position > end
      ? undefined
      : readBytes(descriptor, buffer, 0, Math.min(chunkBytes, end - position + 1), position);
  let position = start;
  let reading = readAt(position, buffers[0]);
  try {
    while (reading !== undefined) {
      const { bytesRead, buffer } = await reading;
      position += bytesRead;
      reading =
        bytesRead === 0
          ? undefined
          : readAt(
              position,
              buffers.find((other) => other !== buffer),
            );
      await writeTo(response, buffer.subarray(0, bytesRead));
      if (bytesRead === 0) break;
    }
  } catch {
    response.destroy();
  } finally {
    await reading?.catch(() => undefined);
    close(descriptor);
  }
  if (position === end + 1) response.end();
  else response.destroy();
}

function writeTo(response: Exchange['response'], bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new Error('the reader left'));
    if (response.destroyed) return leave();
    response.once('close', leave);
    response.write(bytes, (error) => {
      response.off('close', leave);
      if (error) reject(error);
      else resolve();
    });
  });
}

function isUnchanged(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  const tags = condition.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}
