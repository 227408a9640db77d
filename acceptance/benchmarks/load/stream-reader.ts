import { monotonicMs, sinceStamp, stampLength } from './monotonic.ts';

/** Called for every token with the milliseconds from sending to arrival. */
export type TokenListener = (latencyMs: number) => void;

const markers = { product: Buffer.from('"delta":"'), plain: Buffer.from('"content":"') };
const done = Buffer.from('[DONE]');
const quote = 0x22;
const space = 0x20;

/** Finds the stamped tokens in a stream of either form, however it is split. */
export class StreamReader {
  readonly #marker: Buffer;
  readonly #onToken: TokenListener;
  #chunks: ChunkedBody | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #begun = false;
  status = 0;
  tokens = 0;
  isDone = false;
  head = '';

  constructor(form: 'product' | 'plain', onToken: TokenListener) {
    this.#marker = markers[form];
    this.#onToken = onToken;
  }

  read(piece: Buffer): void {
    if (this.#begun) {
      this.#readBody(piece);
      return;
    }
    const data = Buffer.concat([this.#rest, piece]);
    const bodyAt = data.indexOf('\r\n\r\n');
    if (bodyAt < 0) {
      this.#rest = data;
      return;
    }
    this.#begun = true;
    this.#rest = Buffer.alloc(0);
    this.head = data.toString('latin1', 0, bodyAt);
    this.status = Number(this.head.slice(9, 12));
    if (/^transfer-encoding: *chunked$/im.test(this.head)) this.#chunks = new ChunkedBody();
    this.#readBody(data.subarray(bodyAt + 4));
  }

  #readBody(piece: Buffer): void {
    const body = this.#chunks === undefined ? piece : this.#chunks.read(piece);
    this.#rest = this.#scan(this.#rest.length === 0 ? body : Buffer.concat([this.#rest, body]));
  }

  /** Returns the end of the text, which has to be checked again with the next piece. */
  #scan(data: Buffer): Buffer {
    const now = monotonicMs();
    const marker = this.#marker;
    let at = 0;
    while (true) {
      const found = data.indexOf(marker, at);
      if (found < 0) break;
      const start = found + marker.length;
      const end = data.indexOf(quote, start);
      if (end < 0) return data.subarray(found);
      for (let word = start; word + stampLength < end; word += stampLength + 1) {
        if (data[word] !== space) break;
        this.tokens++;
        this.#onToken(sinceStamp(data, word + 1, now));
      }
      at = end;
    }
    if (data.indexOf(done, at) >= 0) this.isDone = true;
    return data.subarray(Math.max(at, data.length - marker.length + 1));
  }
}

/** Takes the framing out of a chunked body: a chunk may end in the middle of an event. */
class ChunkedBody {
  #left = 0;
  #line = '';

  read(piece: Buffer): Buffer {
    const parts: Buffer[] = [];
    for (let at = 0; at < piece.length; ) {
      if (this.#left > 0) {
        const part = piece.subarray(at, at + this.#left);
        parts.push(part);
        this.#left -= part.length;
        at += part.length;
        continue;
      }
      const lineEnd = piece.indexOf(0x0a, at);
      this.#line += piece.toString('latin1', at, lineEnd < 0 ? piece.length : lineEnd);
      if (lineEnd < 0) break;
      at = lineEnd + 1;
      // The line between two chunks is empty.
      if (this.#line.trim() !== '') this.#left = Number.parseInt(this.#line, 16);
      this.#line = '';
    }
    const [first = Buffer.alloc(0), ...more] = parts;
    return more.length === 0 ? first : Buffer.concat(parts);
  }
}
