/** The last `maxBytes` bytes of what was pushed, starting at a whole character if cut. */
export class OutputRing {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    // Compacted only now and then, so that each byte is copied about once.
    if (this.#bytes > 2 * this.#maxBytes) this.#compact();
  }

  read(): Buffer {
    this.#compact();
    const [all = Buffer.alloc(0)] = this.#chunks;
    return this.#isCut ? all.subarray(firstCharacter(all)) : all;
  }

  #compact(): void {
    const all = Buffer.concat(this.#chunks);
    this.#isCut ||= all.length > this.#maxBytes;
    // A copy, so that the larger buffer can be freed.
    const kept = this.#isCut ? Buffer.from(all.subarray(-this.#maxBytes)) : all;
    this.#chunks = [kept];
    this.#bytes = kept.length;
  }
}

/** Offset of the first whole UTF-8 character. */
function firstCharacter(bytes: Buffer): number {
  const at = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(0, at);
}
