import { setImmediate } from 'node:timers/promises';

/** Characters of JSON text that are made, encoded or decoded in one turn of the event loop. */
const pieceLength = 256 * 1024;

/** True if the value's texts are longer than `most` characters together; stops counting there. */
export function isLargeJson(value: unknown, most = pieceLength): boolean {
  return measure(value, most) < 0;
}

function measure(value: unknown, left: number): number {
  if (typeof value === 'string') return left - value.length;
  if (typeof value !== 'object' || value === null) return left - 4;
  let rest = left;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    rest = measure(inner, rest - 4);
    if (rest < 0) break;
  }
  return rest;
}

/** The bytes of `JSON.stringify(value)`, made in pieces with other work between them. */
export async function encodeJson(value: unknown): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let gathered = '';
  for (const piece of jsonPieces(value)) {
    gathered += piece;
    if (gathered.length < pieceLength) continue;
    chunks.push(Buffer.from(gathered));
    gathered = '';
    await setImmediate();
  }
  chunks.push(Buffer.from(gathered));
  return chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
}

/** JSON text of data (no `toJSON` but that of dates), a long text in several pieces. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (typeof value === 'string') yield* textPieces(value);
  else if (Array.isArray(value)) {
    yield '[';
    for (const [index, inner] of value.entries()) {
      if (index > 0) yield ',';
      yield* jsonPieces(inner === undefined ? null : inner);
    }
    yield ']';
  } else if (typeof value !== 'object' || value === null || 'toJSON' in value) yield JSON.stringify(value);
  else {
    let isFirst = true;
    yield '{';
    for (const [name, inner] of Object.entries(value)) {
      if (inner === undefined) continue;
      yield `${isFirst ? '' : ','}${JSON.stringify(name)}:`;
      yield* jsonPieces(inner);
      isFirst = false;
    }
    yield '}';
  }
}

function* textPieces(text: string): Generator<string> {
  if (text.length <= pieceLength) {
    yield JSON.stringify(text);
    return;
  }
  yield '"';
  for (const piece of cut(text)) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}

/** Both halves of a surrogate pair stay in one piece. */
function* cut(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + pieceLength);
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to += 1;
    yield text.slice(from, to);
    from = to;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The text in UTF-8, encoded in pieces with other work between them. */
export async function encodeUtf8(text: string): Promise<Buffer> {
  if (text.length <= pieceLength) return Buffer.from(text);
  const chunks: Buffer[] = [];
  for (const piece of cut(text)) {
    chunks.push(Buffer.from(piece));
    await setImmediate();
  }
  return Buffer.concat(chunks);
}

/** Decodes UTF-8 in pieces with other work between them. Throws a TypeError if the bytes are something else. */
export async function decodeUtf8(bytes: Uint8Array): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  for (let from = 0; from < bytes.length; from += pieceLength) {
    if (from > 0) await setImmediate();
    text += decoder.decode(bytes.subarray(from, from + pieceLength), { stream: true });
  }
  return text + decoder.decode();
}

/** Calls `take` with the bytes piece by piece, with other work between them. */
export async function inPieces(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<void> {
  const length = 4 * pieceLength;
  for (let from = 0; from < bytes.length; from += length) {
    if (from > 0) await setImmediate();
    take(bytes.subarray(from, from + length));
  }
}
