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
    let data = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    if (!this.#begun) {
      const bodyAt = data.indexOf('\r\n\r\n');
      if (bodyAt < 0) {
        this.#rest = data;
        return;
      }
      this.#begun = true;
      this.head = data.toString('latin1', 0, bodyAt);
      this.status = Number(this.head.slice(9, 12));
      data = data.subarray(bodyAt + 4);
    }
    this.#rest = this.#scan(data);
  }

  /** Returns what has to be checked again with the next piece. */
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
