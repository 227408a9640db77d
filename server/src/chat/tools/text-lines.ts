/**
 * Cuts text that comes in pieces into lines. A long line is joined once, when it ends, however many pieces it came in.
 */
export class TextLines {
  readonly #maxLength: number;
  #pieces: string[] = [];
  #length = 0;

  /** Of a line that is longer, only so many characters are kept. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Characters of the line that has not ended, those that were not kept included. */
  get openLength(): number {
    return this.#length;
  }

  /** The lines that end in this piece. */
  push(text: string): string[] {
    const [first = '', ...others] = text.split('\n');
    this.#keep(first);
    const last = others.pop();
    if (last === undefined) return [];
    const lines = [this.end(), ...others];
    this.#keep(last);
    return lines;
  }

  /** The line that has not ended, and none from now on. */
  end(): string {
    const line = this.#pieces.join('');
    this.#pieces = [];
    this.#length = 0;
    return line;
  }

  #keep(text: string): void {
    const available = this.#maxLength - this.#length;
    if (available > 0 && text !== '') this.#pieces.push(text.slice(0, available));
    this.#length += text.length;
  }
}
