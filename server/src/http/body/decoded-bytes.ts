import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '@homeport/contracts/errors';
import { decoders } from '../../platform/content-decoders.ts';

/** True if a request body of this content encoding can be decoded. */
export function isDecodable(encoding: string): boolean {
  return Object.hasOwn(decoders, encoding);
}

/**
 * Decodes a compressed body; `look` sees each piece, and can refuse the body by throwing. Throws `payload_too_large`
 * beyond `maxBytes`, or `invalid_request` for bytes that are not of this encoding.
 */
export async function decodeBytes(
  sent: Buffer,
  encoding: string,
  maxBytes: number,
  look: (chunk: Buffer) => void,
): Promise<Buffer> {
  const decoder = decoders[encoding]?.(sent);
  if (decoder === undefined || sent.length === 0) return sent;
  pipeline(Readable.from([sent], { objectMode: false }), decoder).catch(() => undefined);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decoder) {
      size += chunk.length;
      if (size > maxBytes) throw new ApiError('payload_too_large', `The decoded body is larger than ${maxBytes} bytes`);
      look(chunk);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const message = `Not valid ${encoding}`;
    throw new ApiError('invalid_request', `The body is ${message.toLowerCase()}`, {
      details: [{ path: '', message }],
      cause: error,
    });
  } finally {
    decoder.destroy();
  }
  return Buffer.concat(chunks, size);
}
