import { type ImageType, sniffImage } from '@homeport/contracts/files/image-bytes';
import { isRecord } from './storable-text.ts';

/** A picture that a model made; the type is that of its bytes. */
export type AnswerPicture = { mediaType: ImageType; bytes: Buffer };

/** Pictures of one answer, and bytes of one of them. */
export const pictureBounds = { count: 8, bytes: 10 * 1024 * 1024 } as const;

/** More characters than the largest picture has in base64 with line breaks. */
const maxLength = Math.ceil(pictureBounds.bytes * 1.4);
/** Characters by which a picture counts in the length of its answer: its bytes are stored as a file. */
const countedLength = 256;

type Sink = { picture?(picture: AnswerPicture): void };

/**
 * Reads pictures in the shapes of the protocols, each once. `before` is called before one is passed on. Addresses are
 * never fetched; data whose bytes are no picture is left out.
 */
export function createPictureReader(sink: Sink, before: (length: number) => void) {
  const seen = new Set<string>();

  function add(text: string): void {
    if (sink.picture === undefined || seen.size >= pictureBounds.count) return;
    const bytes = decodePicture(text);
    const mediaType = bytes === undefined ? undefined : sniffImage(bytes);
    if (bytes === undefined || mediaType === undefined) return;
    // Servers repeat a picture in the event that ends its item, or the answer.
    const key = `${bytes.length} ${bytes.subarray(-64).toString('base64')}`;
    if (seen.has(key)) return;
    seen.add(key);
    before(countedLength);
    sink.picture({ mediaType, bytes });
  }

  return {
    /** One entry: base64 or a `data:` URL, in whichever member a server writes it. */
    entry(value: unknown): void {
      const text = typeof value === 'string' ? value : isRecord(value) ? textOf(value) : undefined;
      if (text !== undefined) add(text);
    },
  };
}

function textOf(value: Record<string, unknown>): string | undefined {
  const { image_url: address, source } = value;
  const inner = isRecord(address) ? address.url : address;
  const found = [
    inner,
    value.result,
    value.b64_json,
    value.data,
    value.url,
    isRecord(source) ? source.data : undefined,
  ];
  return found.find((each) => typeof each === 'string');
}

/** Base64 with or without line breaks, padding and the head of a `data:` URL; undefined for other addresses. */
export function decodePicture(text: string): Buffer | undefined {
  if (text.length > maxLength) return undefined;
  const head = /^\s*data:[^,]{0,200},/i.exec(text.slice(0, 256))?.[0];
  if (head === undefined && /^\s*[a-z][a-z0-9+.-]{1,20}:/i.test(text.slice(0, 32))) return undefined;
  const bytes = Buffer.from(head === undefined ? text : text.slice(head.length), 'base64');
  return bytes.length > pictureBounds.bytes ? undefined : bytes;
}
