import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { parseEntry } from './entry.ts';
import type { Scanned } from './scan.ts';

type Line = readonly [path: string, scanned: Scanned | null];

const linesAtOnce = 500;
/** Lines beyond the number of entries that cause the file to be rewritten. */
const linesSpare = 2_000;
const bytesMax = 64 * 1024 * 1024;

/**
 * The last scan's entries in an append-only file, rewritten from time to time. The lines of each scan end with the
 * number of entries: a file with another ending or another number is invalid.
 */
export class Journal {
  readonly #path: string;
  #lines = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined if the file is invalid; the next scan then rewrites it. */
  async read(): Promise<Map<string, Scanned> | undefined> {
    const entries = new Map<string, Scanned>();
    let count: number | undefined;
    try {
      await using file = await open(this.#path);
      const isShort = (await file.stat()).size <= bytesMax;
      for await (const text of isShort ? file.readLines() : []) {
        if (text === '') continue;
        this.#lines += 1;
        const line = parseLine(text);
        count = typeof line === 'number' ? line : undefined;
        if (line === undefined || typeof line === 'number') continue;
        const [path, scanned] = line;
        if (scanned === null) entries.delete(path);
        else entries.set(path, scanned);
      }
    } catch {
      count = undefined;
    }
    if (count === entries.size) return entries;
    this.#lines = 0;
    rmSync(this.#path, { recursive: true, force: true });
    return undefined;
  }

  /** Notes what has changed; `entries` is all there is now. */
  async write(changed: readonly Line[], entries: ReadonlyMap<string, Scanned>): Promise<void> {
    if (changed.length === 0 && this.#lines > 0) return;
    if (this.#lines + changed.length > 2 * entries.size + linesSpare) return this.#writeAnew(entries);
    await this.#append(this.#path, changed, entries.size);
    this.#lines += changed.length + 1;
  }

  async #writeAnew(entries: ReadonlyMap<string, Scanned>): Promise<void> {
    const next = `${this.#path}.next`;
    rmSync(next, { force: true });
    writeFileSync(next, '', { mode: 0o600 });
    await this.#append(next, [...entries], entries.size);
    renameSync(next, this.#path);
    this.#lines = entries.size + 1;
  }

  async #append(path: string, lines: readonly Line[], count: number): Promise<void> {
    for (let at = 0; at < lines.length; at += linesAtOnce) {
      const texts = lines.slice(at, at + linesAtOnce).map((line) => `${JSON.stringify(line)}\n`);
      // A line that a crash has torn ends here.
      appendFileSync(path, at === 0 ? `\n${texts.join('')}` : texts.join(''), { mode: 0o600 });
      await setImmediate();
    }
    appendFileSync(path, `\n${count}\n`, { mode: 0o600 });
  }
}

function parseLine(text: string): Line | number | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'number') return value;
    if (!Array.isArray(value)) return undefined;
    const [path, scanned]: unknown[] = value;
    if (typeof path !== 'string' || scanned === undefined) return undefined;
    if (scanned === null) return [path, null];
    const { entry, stamp } = scanned as Record<string, unknown>;
    const parsed = parseEntry(entry);
    return parsed === undefined ? undefined : [path, { entry: parsed, stamp: typeof stamp === 'string' ? stamp : '' }];
  } catch {
    return undefined;
  }
}
