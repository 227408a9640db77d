import type { IncomingMessage } from 'node:http';
import { ApiError } from '@homeport/contracts/errors';

const maxDepth = 64;
const readTimeoutMs = 60_000;

/**
 * Reads and parses a JSON body (contract section 1). Undefined when the request has none. Throws `unsupported_media_type`,
 * `payload_too_large` or `invalid_request`.
 */
export async function readJsonBody(incoming: IncomingMessage, maxBytes: number): Promise<unknown> {
  if (!hasBody(incoming)) return undefined;
  const type = incoming.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new ApiError('unsupported_media_type', 'Send JSON with content-type: application/json');
  }
  const bytes = await readBytes(incoming, maxBytes);
  if (bytes.length === 0) return undefined;
  const value = parse(bytes);
  assertStorable(value);
  return value;
}

function hasBody(incoming: IncomingMessage): boolean {
  const length = incoming.headers['content-length'];
  return incoming.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('payload_too_large', `The body is larger than ${maxBytes} bytes`);
}

function readBytes(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (error: ApiError | undefined): void => {
      clearTimeout(timer);
      incoming.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
      if (error === undefined)
        resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
      else reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) finish(tooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const onEnd = (): void => finish(undefined);
    const onCut = (): void => finish(new ApiError('invalid_request', 'The request ended before its body was complete'));
    const timer = setTimeout(onCut, readTimeoutMs);
    incoming.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  });
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new ApiError('invalid_request', 'The body is not valid JSON in UTF-8', {
      details: [{ path: '', message: 'Not valid JSON in UTF-8' }],
    });
  }
}

/** True for text that PostgreSQL and UTF-8 can hold: no NUL, no lone surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

type Fault = { path: string; message: string };

function assertStorable(root: unknown): void {
  const fault = findFault(root, 0);
  if (fault !== undefined) throw invalid(fault.path, fault.message);
}

/**
 * The first thing in a JSON value that cannot be stored. It allocates nothing on the way, as a body may hold millions of values
 * and nobody has signed in yet; the depth that is allowed bounds the recursion.
 */
function findFault(value: unknown, depth: number): Fault | undefined {
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : { path: '', message: 'Holds a NUL character or half a surrogate pair' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= maxDepth) return { path: '', message: `Nested deeper than ${maxDepth} levels` };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const fault = findFault(value[index], depth + 1);
      if (fault !== undefined) return below(String(index), fault);
    }
    return undefined;
  }
  return findFaultInMembers(value, depth);
}

function findFaultInMembers(value: object, depth: number): Fault | undefined {
  for (const key of Object.keys(value)) {
    if (!isStorable(key)) return { path: '', message: 'A member name holds a NUL character or half a surrogate pair' };
    const fault = findFault(Reflect.get(value, key), depth + 1);
    if (fault !== undefined) return below(key, fault);
  }
  return undefined;
}

function below(key: string, fault: Fault): Fault {
  return { path: fault.path === '' ? key : `${key}.${fault.path}`, message: fault.message };
}

function invalid(path: string, message: string): ApiError {
  const short = path.slice(0, 200);
  return new ApiError('invalid_request', `The request is not valid${short === '' ? '' : `: ${short}`}`, {
    details: [{ path: short, message }],
  });
}
