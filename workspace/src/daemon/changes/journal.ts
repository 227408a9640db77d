import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { parseEntry } from './entry.ts';
import type { Scanned } from './scan.ts';

type Line = readonly [path: string, scanned: Scanned | null];

const linesAtOnce = 500;
/** A file with many more lines than entries is written anew. */
const linesSpare = 2_000;
const bytesMax = 64 * 1024 * 1024;

/** What the last scan saw, in a file that only grows until it is written anew; a torn last line is left out. */
export class Journal {
  readonly #path: string;
  #lines = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<Map<string, Scanned>> {
    const entries = new Map<string, Scanned>();
    try {
      await using file = await open(this.#path);
      if ((await file.stat()).size > bytesMax) return entries;
      for await (const text of file.readLines()) {
        this.#lines += 1;
        const line = parseLine(text);
        if (line === undefined) continue;
        const [path, scanned] = line;
        if (scanned === null) entries.delete(path);
        else entries.set(path, scanned);
      }
    } catch {
      // There is none yet, or it cannot be read: everything is looked at again.
    }
    return entries;
  }

  /** Notes what has changed; `entries` is all there is now. */
  async write(changed: readonly Line[], entries: ReadonlyMap<string, Scanned>): Promise<void> {
    if (changed.length === 0) return;
    if (this.#lines + changed.length > 2 * entries.size + linesSpare) return this.#writeAnew(entries);
    await this.#append(this.#path, changed);
    this.#lines += changed.length;
  }

  async #writeAnew(entries: ReadonlyMap<string, Scanned>): Promise<void> {
    const next = `${this.#path}.next`;
    rmSync(next, { force: true });
    writeFileSync(next, '', { mode: 0o600 });
    await this.#append(next, [...entries]);
    renameSync(next, this.#path);
    this.#lines = entries.size;
  }

  async #append(path: string, lines: readonly Line[]): Promise<void> {
    for (let at = 0; at < lines.length; at += linesAtOnce) {
      const texts = lines.slice(at, at + linesAtOnce).map((line) => `${JSON.stringify(line)}\n`);
      // A line that a crash has torn ends here.
      appendFileSync(path, at === 0 ? `\n${texts.join('')}` : texts.join(''), { mode: 0o600 });
      await setImmediate();
    }
  }
}

function parseLine(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
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
