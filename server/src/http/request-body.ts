import type { IncomingMessage } from 'node:http';
import type { SentBytes } from '@homeport/contracts/endpoint';
import { ApiError } from '@homeport/contracts/errors';
import { findJsonFault } from '../json-fault.ts';

const readTimeoutMs = 60_000;

/**
 * Reads and parses a JSON body (contract section 1). Undefined when the request has none. Throws `unsupported_media_type`,
 * `payload_too_large` or `invalid_request`.
 */
export async function readJsonBody(incoming: IncomingMessage, maxBytes: number): Promise<unknown> {
  if (!hasBody(incoming)) return undefined;
  if (mediaType(incoming) !== 'application/json') {
    throw new ApiError('unsupported_media_type', 'Send JSON with content-type: application/json');
  }
  const bytes = await readBytes(incoming, maxBytes);
  if (bytes.length === 0) return undefined;
  const value = parse(bytes);
  const fault = findJsonFault(value);
  if (fault !== undefined) throw invalid(fault.path, fault.message);
  return value;
}

/**
 * Reads a body of one of these media types as it was sent; no bytes when the request has none. Throws `unsupported_media_type`,
 * `payload_too_large` or `invalid_request`.
 */
export async function readSentBytes(
  incoming: IncomingMessage,
  types: readonly string[],
  maxBytes: number,
): Promise<SentBytes> {
  const type = mediaType(incoming);
  if (!hasBody(incoming)) return { type, bytes: new Uint8Array() };
  if (!types.includes(type)) throw new ApiError('unsupported_media_type', `Send one of ${types.join(', ')}`);
  const { buffer, byteOffset, byteLength } = await readBytes(incoming, maxBytes);
  // Memory of its own, so that it can be handed to another thread; small buffers share theirs.
  const isOwn = byteLength === buffer.byteLength && buffer instanceof ArrayBuffer;
  return {
    type,
    bytes: isOwn ? new Uint8Array(buffer) : Uint8Array.from(new Uint8Array(buffer, byteOffset, byteLength)),
  };
}

function mediaType(incoming: IncomingMessage): string {
  return incoming.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
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

function invalid(path: string, message: string): ApiError {
  const short = path.slice(0, 200);
  return new ApiError('invalid_request', `The request is not valid${short === '' ? '' : `: ${short}`}`, {
    details: [{ path: short, message }],
  });
}
