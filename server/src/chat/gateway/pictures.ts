import { ApiError } from '@homeport/contracts/errors';
import { sniffImage } from '@homeport/contracts/files/image-bytes';
import type { Egress } from '../../egress/egress.ts';
import type { ContentPart } from '../model/provider-messages.ts';
import type { GatewayMessage } from './gateway-request.ts';
import { invalidMember } from './gateway-request.ts';

/** Pictures of requests: data, or an https address that is fetched through the outbound guard. */

const pictureBytesMax = 20 * 1024 * 1024;
const fetchedPicturesMax = 20;
const fetchedBytesMax = 32 * 1024 * 1024;
const fetchMs = 20_000;
const headCharacters = 64;

const dataHead = /^data:(image\/[a-z+.-]{1,40});base64,/i;

/** Throws `invalid_request` unless the address is a picture as data, or an https address. */
export function assertPicture(url: string, path: string): void {
  if (/^https:\/\/./i.test(url)) return;
  const head = dataHead.exec(url.slice(0, 128));
  const declared = head?.[1]?.toLowerCase().replace(/^image\/jpg$/, 'image/jpeg');
  if (head === null || declared === undefined) {
    throw invalidMember(path, 'A picture is a data: URL in Base64 or an https: address');
  }
  const start = head[0].length;
  if ((url.length - start) * 0.75 > pictureBytesMax) throw invalidMember(path, 'A picture has at most 20 MiB');
  const type = sniffImage(Buffer.from(url.slice(start, start + headCharacters), 'base64'));
  if (type === undefined || type !== declared) {
    throw invalidMember(path, 'A picture is PNG, JPEG, GIF or WebP, and its data: URL names that type');
  }
}

/** Throws `invalid_request` unless the address is a PDF as data. */
export function assertDocument(url: string, path: string): void {
  const isPdf = /^data:application\/pdf;base64,JVBERi/.test(url.slice(0, 64));
  if (!isPdf) throw invalidMember(path, 'A file is a PDF as a data: URL in Base64');
}

/** The length of all pictures and files that came as data. */
export function dataLength(messages: readonly GatewayMessage[]): number {
  let length = 0;
  for (const part of messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))) {
    if (part.type === 'image_url') length += part.image_url.url.length;
    else if (part.type === 'file') length += part.file.file_data.length;
  }
  return length;
}

/** The messages with every fetched picture as data. Throws `blocked_destination` or `invalid_request`. */
export async function fetchPictures(
  egress: Pick<Egress, 'request'>,
  messages: readonly GatewayMessage[],
  signal: AbortSignal,
): Promise<GatewayMessage[]> {
  const room = { pictures: fetchedPicturesMax, bytes: fetchedBytesMax };
  const filled: GatewayMessage[] = [];
  for (const message of messages) {
    if (message.role !== 'user' || typeof message.content === 'string') {
      filled.push(message);
      continue;
    }
    const content: ContentPart[] = [];
    for (const part of message.content) {
      const isRemote = part.type === 'image_url' && !part.image_url.url.startsWith('data:');
      content.push(isRemote ? await fetchPicture(egress, part.image_url.url, room, signal) : part);
    }
    filled.push({ role: 'user', content });
  }
  return filled;
}

async function fetchPicture(
  egress: Pick<Egress, 'request'>,
  url: string,
  room: { pictures: number; bytes: number },
  signal: AbortSignal,
): Promise<ContentPart> {
  room.pictures -= 1;
  if (room.pictures < 0) throw invalidMember('messages', `At most ${fetchedPicturesMax} pictures by address`);
  const maxResponseBytes = Math.min(pictureBytesMax, room.bytes);
  try {
    const { status, body } = await egress.request(url, {
      headers: { accept: 'image/png,image/jpeg,image/gif,image/webp' },
      signal,
      totalTimeoutMs: fetchMs,
      maxResponseBytes,
    });
    try {
      if (status !== 200) throw invalidMember('messages', `A picture's address answered with status ${status}`);
      const chunks: Uint8Array[] = [];
      await body.pump((chunk) => chunks.push(chunk));
      const bytes = Buffer.concat(chunks);
      room.bytes -= bytes.length;
      const type = sniffImage(bytes);
      if (type === undefined) throw invalidMember('messages', 'The address has no PNG, JPEG, GIF or WebP picture');
      return { type: 'image_url', image_url: { url: `data:${type};base64,${bytes.toString('base64')}` } };
    } finally {
      body.destroy();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError && ['invalid_request', 'blocked_destination'].includes(error.code)) throw error;
    throw invalidMember('messages', "A picture's address can't be read, or has more than 20 MiB");
  }
}
