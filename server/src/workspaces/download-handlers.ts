import { ApiError } from '@homeport/contracts/errors';
import type { WorkspaceEntry } from '@homeport/contracts/workspace/daemon';
import type { DaemonDownload } from '../egress/daemon-download.ts';
import { attachment } from '../http/content-disposition.ts';
import { untrustedHeaders } from '../http/file-response.ts';
import { Reply, type RequestFacts, streamed } from '../http/handler.ts';
import { systemClock } from '../platform/clock.ts';
import { readDownloadRefusal, readRefusal } from './daemon-client.ts';
import { silenceMs, streamBody } from './daemon-response.ts';
import { type FileHold, pathQuery } from './files.ts';

/** Packing begins once the folder has been counted. */
const packingMs = 60_000;

const entityTag = /^"[\x21\x23-\x7e]{1,128}"$/;
const asked = ['range', 'if-range', 'if-none-match'] as const;

/**
 * Passes on a file or the requested range: 200, 206, 304 or 416. Of the daemon's headers only length, range, tag and
 * date are passed on, and only if valid; a body that is cut off breaks the connection.
 */
export async function sendContent(
  { daemon, signal, touch }: FileHold,
  request: RequestFacts,
  entry: WorkspaceEntry,
): Promise<typeof streamed | Reply> {
  const given = asked.flatMap((name) => (request.headers.has(name) ? [[name, request.headers.get(name) ?? '']] : []));
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const wish = { method, headers: Object.fromEntries(given), signal } as const;
  const answer = await daemon.download(`/v1/files/content?${pathQuery(entry.path)}`, wish);
  try {
    if (answer.status === 416 && request.headers.has('range')) return unsatisfiable(request, answer);
    if (answer.status === 304 && request.headers.has('if-none-match')) {
      request.outgoing.writeHead(304, { ...headersFor(request, entry.name), ...validators(answer.headers) }).end();
      return streamed;
    }
    if (answer.status !== 200 && answer.status !== 206) throw await readDownloadRefusal(answer, signal);
    const facts = { ...validators(answer.headers), ...sizes(answer, request), 'accept-ranges': 'bytes' };
    const headers = { ...headersFor(request, entry.name), 'content-type': 'application/octet-stream', ...facts };
    request.outgoing.writeHead(answer.status, headers);
    if (method === 'HEAD') request.outgoing.end();
    else await passBytes(answer, request, touch);
    return streamed;
  } finally {
    answer.destroy();
  }
}

/** Like `streamBody`, with one buffer for everything. */
async function passBytes(answer: DaemonDownload, { outgoing }: RequestFacts, touch: () => void): Promise<void> {
  const silence = systemClock.after(silenceMs, () => outgoing.destroy());
  const leave = (): void => answer.destroy();
  outgoing.once('close', leave);
  try {
    await answer.read((bytes) => {
      silence.restart();
      touch();
      return new Promise((resolve, reject) => {
        outgoing.write(bytes, (error) => (error ? reject(error) : resolve()));
      });
    });
    outgoing.end();
  } catch {
    outgoing.destroy();
  } finally {
    outgoing.off('close', leave);
    silence.stop();
  }
}

/** Passes on a folder as .zip, created while it is sent. */
export async function sendArchive(
  { daemon, signal, touch }: FileHold,
  request: RequestFacts,
  entry: WorkspaceEntry,
): Promise<typeof streamed> {
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const init = { method, signal, headersTimeoutMs: packingMs };
  const answer = await daemon.request(`/v1/files/archive?${pathQuery(entry.path)}`, init);
  try {
    if (answer.status !== 200) throw await readRefusal(answer, signal);
    const name = `${entry.name === '~' ? 'home' : entry.name}.zip`;
    request.outgoing.writeHead(200, { ...headersFor(request, name), 'content-type': 'application/zip' });
    if (method === 'HEAD') request.outgoing.end();
    else await streamBody(answer.body, request.outgoing, touch);
    return streamed;
  } finally {
    answer.body.destroy();
  }
}

function headersFor(request: RequestFacts, name: string): Record<string, string> {
  return { ...untrustedHeaders(request), 'content-disposition': attachment(name) };
}

function validators(headers: DaemonDownload['headers']): Record<string, string> {
  const responseHeaders: Record<string, string> = {};
  if (entityTag.test(headers.etag ?? '')) responseHeaders.etag = headers.etag ?? '';
  const modified = Date.parse(headers['last-modified'] ?? '');
  if (!Number.isNaN(modified)) responseHeaders['last-modified'] = new Date(modified).toUTCString();
  return responseHeaders;
}

/** The length, and the range if one was requested; inconsistent values make the response invalid. */
function sizes({ status, headers }: DaemonDownload, request: RequestFacts): Record<string, string> {
  const length = headers['content-length'] ?? '';
  if (!/^\d{1,15}$/.test(length)) throw nonsense();
  if (status === 200) return { 'content-length': length };
  const range = headers['content-range'] ?? '';
  const [, start, end, size] = (/^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(range) ?? []).map(Number);
  const fits = start !== undefined && end !== undefined && size !== undefined && start <= end && end < size;
  if (!fits || end - start + 1 !== Number(length) || !request.headers.has('range')) throw nonsense();
  return { 'content-length': length, 'content-range': range };
}

function unsatisfiable(request: RequestFacts, { headers }: DaemonDownload): Reply {
  const [, size] = /^bytes \*\/(\d{1,15})$/.exec(headers['content-range'] ?? '') ?? [];
  if (size === undefined) throw nonsense();
  const error = { message: `This file has ${size} bytes`, code: 'invalid_request', requestId: request.id };
  return new Reply({ error }, { status: 416, headers: [['content-range', `bytes */${size}`]] });
}

function nonsense(): ApiError {
  return new ApiError('workspace_request_failed', 'The workspace sent an invalid response');
}
