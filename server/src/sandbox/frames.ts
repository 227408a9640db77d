import { JsonScan } from '../platform/json/json-scan.ts';

/**
 * Frames between the service and a child process that parses: plain JSON, with long texts and bytes beside it. Nothing
 * that the child sends is deserialized by anything but JSON.parse, after it was counted.
 *
 *     u32 length of the rest | u32 length of the JSON | JSON [value, lengths of the attachments] | attachments
 */

/** Longer texts are attached instead of escaped. */
const inlineCharacters = 512;
const mark = '\u0001';
/** No frame of either side is longer: the largest file and its own description. */
const frameMax = 160 * 1024 * 1024;
const headBytes = 8;
/** Of the JSON alone, in answers: within them it is parsed in less than 100 ms. */
const answerJsonMax = 8 * 1024 * 1024;
const answerBounds = { depth: 512, values: 600_000, names: 400_000 };
/** Deeper values do not fit a frame. */
const depthMax = 256;

/** The other side sent something that is no frame. */
class FrameFault extends Error {}

/** The buffers of one frame. Throws a RangeError for a value that is nested too deeply or too large. */
export function encodeFrame(value: unknown): Buffer[] {
  const attachments: Buffer[] = [];
  const packed = pack(value, attachments, 0);
  const json = Buffer.from(JSON.stringify([packed ?? null, attachments.map(({ length }) => length)]));
  const head = Buffer.alloc(headBytes);
  const length = attachments.reduce((sum, attachment) => sum + attachment.length, 4 + json.length);
  if (length > frameMax) throw new RangeError('The value is too large for a frame');
  head.writeUInt32LE(length, 0);
  head.writeUInt32LE(json.length, 4);
  return [head, json, ...attachments];
}

function pack(value: unknown, attachments: Buffer[], depth: number): unknown {
  if (typeof value === 'string') {
    if (value.length <= inlineCharacters && !value.startsWith(mark)) return value;
    return attach(attachments, 't', Buffer.from(value));
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth > depthMax) throw new RangeError('The value is nested too deeply for a frame');
  if (value instanceof Uint8Array) {
    return attach(attachments, 'b', Buffer.from(value.buffer, value.byteOffset, value.byteLength));
  }
  if (Array.isArray(value)) return value.map((item) => pack(item, attachments, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, pack(item, attachments, depth + 1)]));
}

/** A text that no other text in a frame looks like. */
function attach(attachments: Buffer[], kind: 't' | 'b', bytes: Buffer): string {
  attachments.push(bytes);
  return `${mark}${kind}${attachments.length - 1}`;
}

/** Puts frames together from chunks of any size. */
export class FrameReader {
  readonly #jsonMax: number;
  readonly #isCounted: boolean;
  #chunks: Buffer[] = [];
  #size = 0;

  /** `from`: the service trusts no child, a child trusts the service. */
  constructor(from: 'child' | 'service') {
    this.#isCounted = from === 'child';
    this.#jsonMax = from === 'child' ? answerJsonMax : frameMax;
  }

  /** The values that are complete with this chunk. Throws FrameFault. */
  *push(chunk: Buffer): Generator<unknown, void> {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    for (let length = this.#frameLength(); length !== undefined && this.#size >= length; length = this.#frameLength()) {
      yield this.#decode(this.#take(length));
    }
  }

  #frameLength(): number | undefined {
    if (this.#size < headBytes) return undefined;
    const [first] = this.#chunks;
    if (first !== undefined && first.length < headBytes) this.#chunks = [Buffer.concat(this.#chunks)];
    const length = 4 + (this.#chunks[0]?.readUInt32LE(0) ?? 0);
    if (length > frameMax || length < headBytes) throw new FrameFault('A frame has an impossible length');
    return length;
  }

  #take(length: number): Buffer {
    const whole = this.#chunks.length === 1 ? (this.#chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks);
    this.#chunks = whole.length > length ? [whole.subarray(length)] : [];
    this.#size = whole.length - length;
    return whole.subarray(0, length);
  }

  #decode(frame: Buffer): unknown {
    const jsonEnd = headBytes + frame.readUInt32LE(4);
    if (jsonEnd > frame.length || jsonEnd - headBytes > this.#jsonMax) throw new FrameFault('A frame is too large');
    const json = frame.subarray(headBytes, jsonEnd);
    if (this.#isCounted && new JsonScan(answerBounds).push(json) !== undefined) {
      throw new FrameFault('A frame has too many values');
    }
    const parsed = parse(json.toString());
    if (!Array.isArray(parsed) || parsed.length !== 2 || !Array.isArray(parsed[1])) throw new FrameFault('No frame');
    const attachments: Buffer[] = [];
    let at = jsonEnd;
    for (const length of parsed[1]) {
      if (!Number.isInteger(length) || length < 0 || at + length > frame.length) throw new FrameFault('No frame');
      attachments.push(frame.subarray(at, at + length));
      at += length;
    }
    return unpack(parsed[0], attachments);
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new FrameFault('A frame is no JSON', { cause: error });
  }
}

function unpack(value: unknown, attachments: readonly Buffer[]): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? attached(value, attachments) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = unpack(value[index], attachments);
    return value;
  }
  const own: Record<string, unknown> = value as Record<string, unknown>;
  for (const [key, item] of Object.entries(own)) {
    const unpacked = unpack(item, attachments);
    // Assigned only when changed: `__proto__` is an own member here, and would not be one after an assignment.
    if (unpacked !== item)
      Object.defineProperty(own, key, { value: unpacked, enumerable: true, writable: true, configurable: true });
  }
  return own;
}

function attached(reference: string, attachments: readonly Buffer[]): unknown {
  const bytes = attachments[Number(reference.slice(2))];
  if (bytes === undefined) throw new FrameFault('An attachment of a frame is missing');
  // A copy, so that a small attachment does not keep its whole frame.
  return reference[1] === 'b' ? Uint8Array.from(bytes) : bytes.toString();
}
