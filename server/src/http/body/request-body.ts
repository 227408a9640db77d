import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { SentBytes } from '@homeport/contracts/endpoint';
import { ApiError } from '@homeport/contracts/errors';
import { findJsonFault } from '../../platform/json/json-fault.ts';
import { decodeUtf8 } from '../../platform/json/json-pieces.ts';
import { JsonScan, jsonBounds } from '../../platform/json/json-scan.ts';
import { type BodyPace, declaredBytes, readBytes } from './body-bytes.ts';
import { decodeBytes, isDecodable } from './decoded-bytes.ts';
import type { Release } from './request-body-budget.ts';

export type BodyReading = {
  maxBytes: number;
  pace: BodyPace;
  /** Waits until there is room for this many bytes before they are read. */
  takeRoom(bytes: number): Promise<Release>;
};

/** A parsed body, and the function that returns its share of the budget once the body is no longer needed. */
export type ReadBody<T> = { value: T; release: Release };

const nothing = <T>(value: T): ReadBody<T> => ({ value, release: () => undefined });

/** Bodies from this size are decoded, parsed and checked in several turns of the event loop. */
const largeBytes = 128 * 1024;

/**
 * Reads and parses a JSON body (contract.md section 1). Undefined if the request has none. Throws
 * `unsupported_media_type`, `payload_too_large`, `rate_limited` or `invalid_request`.
 */
export async function readJsonBody(incoming: IncomingMessage, reading: BodyReading): Promise<ReadBody<unknown>> {
  if (!hasBody(incoming)) return nothing(undefined);
  if (mediaType(incoming) !== 'application/json') {
    throw new ApiError('unsupported_media_type', 'Send JSON with content-type: application/json');
  }
  const scan = new JsonScan(jsonBounds);
  const look = (chunk: Buffer): void => {
    const excess = scan.push(chunk);
    if (excess !== undefined) throw invalid('', excess.message);
  };
  const encoding = contentEncoding(incoming);
  if (encoding !== undefined) {
    const decode = async (): Promise<unknown> => {
      const sent = await readBytes(incoming, reading);
      return parseBody(await decodeBytes(sent, encoding, reading.maxBytes, look));
    };
    return withRoom(incoming, reading, decode, reading.maxBytes);
  }
  return withRoom(incoming, reading, async () => parseBody(await readBytes(incoming, { ...reading, look })));
}

/** Undefined for a body that is not compressed. Throws `unsupported_media_type`. */
function contentEncoding({ headers }: IncomingMessage): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return undefined;
  if (isDecodable(encoding)) return encoding;
  throw new ApiError(
    'unsupported_media_type',
    'Send the body plain, or with content-encoding gzip, deflate, br or zstd',
  );
}

/**
 * Reads a body of one of these media types unparsed; no bytes if the request has none. Throws `unsupported_media_type`,
 * `payload_too_large`, `rate_limited` or `invalid_request`.
 */
export async function readSentBytes(
  incoming: IncomingMessage,
  types: readonly string[],
  reading: BodyReading,
): Promise<ReadBody<SentBytes>> {
  const type = mediaType(incoming);
  if (!hasBody(incoming)) return nothing({ type, bytes: new Uint8Array() });
  if (!types.includes(type)) throw new ApiError('unsupported_media_type', `Send one of ${types.join(', ')}`);
  return withRoom(incoming, reading, async () => {
    const { buffer, byteOffset, byteLength } = await readBytes(incoming, reading);
    return { type, bytes: new Uint8Array(buffer, byteOffset, byteLength) };
  });
}

async function withRoom<T>(
  incoming: IncomingMessage,
  { maxBytes, takeRoom }: BodyReading,
  read: () => Promise<T>,
  bytes = declaredBytes(incoming, maxBytes),
): Promise<ReadBody<T>> {
  const release = await takeRoom(bytes);
  try {
    return { value: await read(), release };
  } catch (error) {
    release();
    throw error;
  }
}

function mediaType(incoming: IncomingMessage): string {
  return incoming.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
}

function hasBody(incoming: IncomingMessage): boolean {
  const length = incoming.headers['content-length'];
  return incoming.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

async function parseBody(bytes: Buffer): Promise<unknown> {
  if (bytes.length === 0) return undefined;
  const pause = async (): Promise<unknown> => (bytes.length < largeBytes ? undefined : setImmediate());
  await pause();
  const text = await decode(bytes);
  await pause();
  const value = parse(text);
  await pause();
  const fault = findJsonFault(value);
  if (fault !== undefined) throw invalid(fault.path, fault.message);
  await pause();
  return value;
}

async function decode(bytes: Buffer): Promise<string> {
  try {
    return await decodeUtf8(bytes);
  } catch {
    throw notJson();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}

function notJson(): ApiError {
  return new ApiError('invalid_request', 'The body is not valid JSON in UTF-8', {
    details: [{ path: '', message: 'Not valid JSON in UTF-8' }],
  });
}

function invalid(path: string, message: string): ApiError {
  const short = path.slice(0, 200);
  return new ApiError('invalid_request', `The request is not valid${short === '' ? '' : `: ${short}`}`, {
    details: [{ path: short, message }],
  });
}
