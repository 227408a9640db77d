/**
 * The reason why a JSON text is too expensive to parse, found without parsing it. `reason` completes a sentence that
 * names the text.
 */
export type JsonExcess = { message: string; reason: string };

/**
 * `values` counts members of arrays and objects, with arrays and objects themselves counted again; `names` counts only
 * members of objects, since distinct names cost a parser most.
 */
export type JsonBounds = { depth: number; values: number; names: number };

/** Bounds for outside JSON that is parsed where requests are answered: within them, 10 MiB take less than 100 ms. */
export const jsonBounds: JsonBounds = { depth: 64, values: 100_000, names: 10_000 };

/** The same for other servers' responses: catalogues and definitions have very many names, most of them alike. */
export const foreignJsonBounds: JsonBounds = { depth: 72, values: 100_000, names: 30_000 };

/** Number of characters that are always cheap to parse. */
const shortText = 4096;

const tooMany = 'of too many values';

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Reads the UTF-8 bytes of one JSON text as they arrive. Invalid JSON may pass; the parser refuses it. */
export class JsonScan {
  readonly #bounds: JsonBounds;
  #depth = 0;
  #values = 1;
  #names = 0;
  #isInText = false;
  #isEscaped = false;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** The bound that these bytes exceed, if any; stop reading then. */
  push(bytes: Uint8Array): JsonExcess | undefined {
    const { length } = bytes;
    let index = 0;
    while (index < length) {
      if (this.#isInText) index = this.#readText(bytes, index);
      else {
        const excess = this.#readToken(bytes[index] ?? 0);
        if (excess !== undefined) return excess;
        index += 1;
      }
    }
    return undefined;
  }

  /** A line of an event stream ends here; no JSON text continues on the next one. */
  endLine(): void {
    this.#isInText = false;
    this.#isEscaped = false;
  }

  /** Up to the quote that ends the text, and past it. */
  #readText(bytes: Uint8Array, from: number): number {
    let index = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      index += 1;
    }
    while (index < bytes.length) {
      const byte = bytes[index];
      index += 1;
      if (byte === quote) {
        this.#isInText = false;
        return index;
      }
      if (byte !== backslash) continue;
      if (index === bytes.length) this.#isEscaped = true;
      index += 1;
    }
    return index;
  }

  #readToken(byte: number): JsonExcess | undefined {
    if (byte === quote) this.#isInText = true;
    else if (byte === comma) this.#values += 1;
    else if (byte === colon) this.#names += 1;
    else if (byte === openBracket || byte === openBrace) {
      this.#depth += 1;
      this.#values += 1;
    } else if (byte === closeBracket || byte === closeBrace) this.#depth -= 1;
    else return undefined;
    return this.#excess();
  }

  #excess(): JsonExcess | undefined {
    const { depth, values, names } = this.#bounds;
    if (this.#depth > depth) return { message: `Nested deeper than ${depth} levels`, reason: 'nested too deeply' };
    if (this.#values > values) return { message: `Contains more than ${values} values`, reason: tooMany };
    if (this.#names > names) return { message: `Contains more than ${names} named members`, reason: tooMany };
    return undefined;
  }
}

/** Parses JSON from another server. Throws a SyntaxError if it is invalid or too expensive to parse here. */
export function parseForeignJson(text: string): unknown {
  const excess = text.length <= shortText ? undefined : findJsonExcess(Buffer.from(text), foreignJsonBounds);
  if (excess !== undefined) throw new SyntaxError(excess.message);
  return JSON.parse(text);
}

/** The bound that a whole text exceeds. */
export function findJsonExcess(bytes: Uint8Array, bounds: JsonBounds): JsonExcess | undefined {
  return new JsonScan(bounds).push(bytes);
}
