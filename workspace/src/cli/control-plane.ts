import { readFileSync } from 'node:fs';
import { type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions, request as startHttp } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { trimEndOf } from '@homeport/contracts/text/trim-characters';
import type { Config } from './config.ts';
import { type ExitCode, exitCodes, Failure, reasonOf } from './failure.ts';
import { printable } from './output.ts';

/** The command-line tool's only way out: every request goes to its workspace's control plane. */

export type Request = {
  method?: 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | undefined>;
  headers?: OutgoingHttpHeaders;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a stream; of unknown length if `size` is absent. */
  upload?: { bytes: Readable; size: number | undefined };
};

/** A connection or response without progress for this long is given up. */
const silenceMs = 120_000;
const errorMaxBytes = 64 * 1024;
const jsonMaxBytes = 16 * 1024 * 1024;

/**
 * Sends the request; resolves with the head of a successful response, whose bytes are still to be read. Otherwise
 * throws a `Failure`.
 */
export async function send(config: Config, request: Request, signal: AbortSignal): Promise<IncomingMessage> {
  const place = placeOf(config);
  const headers: OutgoingHttpHeaders = { authorization: `Bearer ${readToken(config)}`, ...request.headers };
  const body = request.json === undefined ? undefined : JSON.stringify(request.json);
  if (body !== undefined)
    Object.assign(headers, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  if (request.upload !== undefined) {
    headers['content-type'] ??= 'application/octet-stream';
    if (request.upload.size !== undefined) headers['content-length'] = request.upload.size;
  }
  const query = new URLSearchParams(Object.entries(request.query ?? {}).filter(isGiven)).toString();
  const path = `${place.prefix}${request.path}${query === '' ? '' : `?${query}`}`;
  const options: RequestOptions = { ...place.options, method: request.method ?? 'GET', path, headers, signal };
  const start = place.isSecure ? (await import('node:https')).request : startHttp;
  const answer = await exchange(start(options), body, request.upload?.bytes, place.name, signal);
  if (answer.statusCode !== undefined && answer.statusCode >= 200 && answer.statusCode < 300) return answer;
  throw await refusal(answer);
}

/** The same for a JSON response. */
export async function ask(config: Config, request: Request, signal: AbortSignal): Promise<unknown> {
  const answer = await send(config, request, signal);
  const text = await readText(answer, jsonMaxBytes);
  try {
    return JSON.parse(text);
  } catch {
    throw unexpected();
  }
}

export function unexpected(): Failure {
  return new Failure(exitCodes.failure, 'The control plane sent an unexpected response', {
    hint: 'Check that HOMEPORT_URL is the address of Homeport.',
  });
}

export function broken(error: unknown): Failure {
  return new Failure(exitCodes.unreachable, `The connection to the control plane broke: ${reasonOf(error)}`, {
    hint: 'Try again.',
  });
}

function exchange(
  outgoing: ReturnType<typeof startHttp>,
  body: string | undefined,
  upload: Readable | undefined,
  name: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let sourceError: unknown;
    let isConnected = false;
    outgoing.setTimeout(silenceMs, () => outgoing.destroy(Object.assign(new Error('silence'), { code: 'ETIMEDOUT' })));
    outgoing.once('socket', (socket) => {
      isConnected = !socket.connecting;
      socket.once('connect', () => {
        isConnected = true;
      });
    });
    // Even if the body is still being sent: a refusal needs no more of it.
    outgoing.once('response', resolve);
    outgoing.on('error', (error) => {
      if (signal.aborted) reject(signal.reason);
      else if (sourceError !== undefined) reject(sourceError);
      else if (isConnected) reject(broken(error));
      else reject(unreachable(name, error));
    });
    if (upload === undefined) outgoing.end(body);
    else {
      upload.once('error', (error) => {
        sourceError ??=
          error instanceof Failure ? error : new Failure(exitCodes.failure, `Cannot read: ${reasonOf(error)}`);
      });
      pipeline(upload, outgoing).catch(() => undefined);
    }
  });
}

function unreachable(name: string, error: unknown): Failure {
  return new Failure(exitCodes.unreachable, `Cannot reach the control plane at ${name}: ${reasonOf(error)}`, {
    hint: 'It could be restarting: try again in a moment.',
  });
}

type Place = { name: string; prefix: string; options: RequestOptions; isSecure: boolean };

function placeOf({ url }: Config): Place {
  if (url === undefined) {
    throw new Failure(exitCodes.unreachable, 'HOMEPORT_URL is not set', {
      hint: 'This command works inside a Homeport workspace, which sets it.',
    });
  }
  if (url.startsWith('unix:')) {
    const options = { socketPath: url.slice('unix:'.length), headers: {}, host: 'homeport' };
    return { name: url, prefix: '', options, isSecure: false };
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new Failure(exitCodes.usage, 'HOMEPORT_URL is neither http://…, https://… nor unix:<path>');
  }
  const hostname = parsed.hostname.replace(/^\[|\]$/g, '');
  const options: RequestOptions = { hostname, port: parsed.port || undefined };
  const prefix = trimEndOf(parsed.pathname, '/');
  return { name: parsed.origin, prefix, options, isSecure: parsed.protocol === 'https:' };
}

/** Read each time, because it changes when the workspace restarts. */
function readToken({ tokenFile }: Config): string {
  const hint = 'This command works inside a Homeport workspace, which sets HOMEPORT_TOKEN_FILE.';
  if (tokenFile === undefined) throw new Failure(exitCodes.refused, 'HOMEPORT_TOKEN_FILE is not set', { hint });
  let token: string;
  try {
    token = readFileSync(tokenFile, 'utf8').trim();
  } catch (error) {
    throw new Failure(exitCodes.refused, `Cannot read the workspace's token: ${reasonOf(error)}`, { hint });
  }
  if (/^[\x21-\x7e]{1,4096}$/.test(token)) return token;
  throw new Failure(exitCodes.refused, "The file of the workspace's token holds none", { hint });
}

function isGiven(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined;
}

async function readText(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer) {
      size += chunk.length;
      if (size > maxBytes) throw unexpected();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof Failure ? error : broken(error);
  }
  return Buffer.concat(chunks).toString();
}

const exitCodeByStatus: Readonly<Record<number, ExitCode>> = {
  400: exitCodes.usage,
  401: exitCodes.refused,
  403: exitCodes.refused,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  413: exitCodes.noRoom,
  429: exitCodes.unreachable,
  502: exitCodes.unreachable,
  503: exitCodes.unreachable,
  504: exitCodes.unreachable,
  507: exitCodes.noRoom,
};

const hints: Readonly<Record<string, string>> = {
  unauthorized: "The workspace's token is no longer valid: it changes when the workspace restarts. Open a new shell.",
  account_disabled: 'Ask an administrator of this installation.',
  password_change_required: 'Change your password in the browser first.',
  path_taken: 'Choose another path, or --on-conflict rename or replace.',
  storage_full: 'Ask the operator of this installation for more space.',
  rate_limited: 'Wait a moment, then try again.',
  database_unavailable: 'Try again in a moment.',
};

async function refusal(answer: IncomingMessage): Promise<Failure> {
  const status = answer.statusCode ?? 0;
  const exitCode = exitCodeByStatus[status] ?? exitCodes.failure;
  const text = await readText(answer, errorMaxBytes).catch(() => '');
  const { message, code } = readError(text);
  answer.destroy();
  if (message === undefined) {
    return new Failure(exitCode, `The control plane answered with status ${status}`, {
      hint: 'Check that HOMEPORT_URL is the address of Homeport.',
    });
  }
  return new Failure(exitCode, printable(message), { code, hint: hints[code] });
}

function readError(text: string): { message: string | undefined; code: string } {
  try {
    const { error } = JSON.parse(text);
    if (typeof error.message === 'string' && typeof error.code === 'string') {
      return { message: error.message.slice(0, 1000), code: error.code.slice(0, 64) };
    }
  } catch {
    // The body is not an error of Homeport's API.
  }
  return { message: undefined, code: '' };
}
