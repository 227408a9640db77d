import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '@homeport/contracts/errors';
import { decoders } from '../platform/content-decoders.ts';
import { unreachable } from './failures.ts';
import type { EgressBody } from './response-body.ts';

/** A few bytes can become any number: more than this is no answer. */
const maxDecodedBytes = 1024 ** 3;

/** True if a body of this content encoding can be decoded. */
export function isDecodable(encoding: string): boolean {
  return Object.hasOwn(decoders, encoding);
}

/** The decoded body of a response with this content encoding. */
export function decodeBody(body: EgressBody, encoding: string, maxBytes: number): EgressBody {
  const most = Math.min(maxBytes, maxDecodedBytes);
  const decoded = (): AsyncGenerator<Uint8Array> => decodeChunks(body, encoding, most);
  return {
    [Symbol.asyncIterator]: decoded,
    async pump(onChunk) {
      for await (const chunk of decoded()) onChunk(chunk);
    },
    async text(limit) {
      const decoder = new TextDecoder();
      let size = 0;
      let text = '';
      for await (const chunk of decoded()) {
        size += chunk.length;
        if (size > limit) throw unreachable('too_large', 'response');
        text += decoder.decode(chunk, { stream: true });
      }
      return text + decoder.decode();
    },
    destroy: () => body.destroy(),
  };
}

/** Chunks as soon as they can be decoded: one that was sent for itself does not wait for the next. */
async function* decodeChunks(body: EgressBody, encoding: string, most: number): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  const create = decoders[encoding];
  if (first.done === true || create === undefined) return;
  const decoder = create(first.value);
  // Its failures come out of the decoder.
  pipeline(Readable.from(rejoined(first.value, chunks), { objectMode: false }), decoder).catch(() => undefined);
  let size = 0;
  try {
    for await (const chunk of decoder) {
      size += chunk.length;
      if (size > most) throw unreachable('too_large', 'response');
      yield chunk;
    }
  } catch (error) {
    throw error instanceof ApiError ? error : unreachable('encoded', 'response', error);
  } finally {
    decoder.destroy();
    body.destroy();
  }
}

async function* rejoined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
