/** The elements of a JSON array as they arrive, one at a time; an object or other value counts as the only element. */
export type JsonElement =
  | { kind: 'whole'; bytes: Buffer }
  /** Longer than allowed: only its beginning. */
  | { kind: 'too-large'; head: Buffer }
  /** The text ends within an element. */
  | { kind: 'cut' };

const [quote, backslash, comma, space] = [0x22, 0x5c, 0x2c, 0x20];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const headBytes = 8192;

/** Splits a JSON array into its elements without validating them; the parser rejects invalid JSON. */
export async function* jsonElements(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<JsonElement, void> {
  const splitter = new Splitter(maxBytes);
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.finish();
}

class Splitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #size = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isList: boolean | undefined;
  #isOver = false;
  #isFirst = true;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *push(given: Buffer): Generator<JsonElement, void> {
    let chunk = given;
    if (this.#isFirst) {
      this.#isFirst = false;
      if (chunk.subarray(0, 3).equals(byteOrderMark)) chunk = chunk.subarray(3);
    }
    let from = 0;
    for (let at = 0; at < chunk.length && !this.#isOver; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#isInText = false;
        continue;
      }
      if (this.#isList === undefined && byte > space) {
        this.#isList = byte === openBracket;
        if (this.#isList) {
          from = at + 1;
          continue;
        }
      }
      if (byte === quote) this.#isInText = true;
      else if (byte === openBrace || byte === openBracket) this.#depth += 1;
      else if (this.#isList === true && this.#depth === 0 && (byte === comma || byte === closeBracket)) {
        this.#take(chunk.subarray(from, at));
        yield* this.#element();
        from = at + 1;
        this.#isOver = byte === closeBracket;
      } else if (byte === closeBrace || byte === closeBracket) this.#depth -= 1;
    }
    if (!this.#isOver) this.#take(chunk.subarray(from));
  }

  *finish(): Generator<JsonElement, void> {
    if (this.#isOver || this.#isList === undefined) return;
    if (this.#isList || this.#depth > 0 || this.#isInText) yield { kind: 'cut' };
    else yield* this.#element();
  }

  #take(bytes: Buffer): void {
    const kept = this.#size > this.#maxBytes ? 0 : bytes.length;
    this.#size += bytes.length;
    // Node's streams may use the chunk's memory again.
    if (kept > 0) this.#pieces.push(Buffer.from(bytes));
    if (this.#size > this.#maxBytes) this.#pieces = [Buffer.concat(this.#pieces).subarray(0, headBytes)];
  }

  *#element(): Generator<JsonElement, void> {
    const bytes = Buffer.concat(this.#pieces);
    const isTooLarge = this.#size > this.#maxBytes;
    this.#pieces = [];
    this.#size = 0;
    if (isTooLarge) yield { kind: 'too-large', head: bytes };
    else if (bytes.some((byte) => byte > space)) yield { kind: 'whole', bytes };
  }
}
