import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { readStart } from '../file-system/read-start.ts';
import { ancestorsOf, isKept, isSame, parseEntry, type SkipReason, type State } from './entry.ts';

/** `isMixed`: another writer can have changed it at the same time. */
export type Change = { before: State; after: State; isMixed: boolean };
/** Changes of one turn. `isOpen` while it can change more; `left` lists the paths that could not be scanned. */
export type TurnRecord = { id: string; isOpen: boolean; files: Map<string, Change>; left: Map<string, SkipReason> };

const recordsMax = 200;
const leftMax = 20;
const bytesMax = 64 * 1024 * 1024;
const idPattern = /^[A-Za-z0-9_-]{1,128}$/;

export function isTurnId(value: unknown): value is string {
  return typeof value === 'string' && idPattern.test(value);
}

/** Stored records of turns, one file each. */
export class Records {
  readonly #folder: string;
  /** By age, the oldest first. */
  readonly #ids: Set<string>;
  readonly #open = new Map<string, TurnRecord>();

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    const aged = names.map((name) => ({ id: name.slice(0, -5), at: ageOf(join(folder, name)) }));
    this.#ids = new Set(
      aged
        .sort((a, b) => a.at - b.at)
        .map(({ id }) => id)
        .filter(isTurnId),
    );
  }

  ids(): string[] {
    return [...this.#ids];
  }

  read(id: string): TurnRecord | undefined {
    const known = this.#open.get(id);
    if (known !== undefined || !this.#ids.has(id)) return known;
    try {
      return parseRecord(id, JSON.parse(readStart(this.#pathOf(id), bytesMax).toString('utf8')));
    } catch {
      return undefined;
    }
  }

  /** The turn's record, to be written to. */
  open(id: string): TurnRecord {
    const record = this.read(id) ?? { id, isOpen: true, files: new Map(), left: new Map() };
    record.isOpen = true;
    this.#open.set(id, record);
    return record;
  }

  /** One after the other, the newest first. */
  async *newestFirst(): AsyncGenerator<TurnRecord> {
    for (const id of this.ids().reverse()) {
      await setImmediate();
      const record = this.read(id);
      if (record !== undefined) yield record;
    }
  }

  /** Ids of turns that were running when the daemon ended. */
  async interrupted(): Promise<string[]> {
    const ids: string[] = [];
    for await (const { id, isOpen } of this.newestFirst()) if (isOpen && !this.#open.has(id)) ids.push(id);
    return ids;
  }

  close(record: TurnRecord): void {
    this.#open.delete(record.id);
    record.isOpen = false;
    if (record.files.size === 0 && record.left.size === 0) this.remove(record.id);
    else this.save(record);
  }

  save(record: TurnRecord): void {
    const { id, isOpen, files, left } = record;
    const place = this.#pathOf(id);
    writeFileSync(`${place}.next`, JSON.stringify({ isOpen, files: [...files], left: [...left] }), { mode: 0o600 });
    renameSync(`${place}.next`, place);
    if (!this.#ids.has(id)) while (this.#ids.size >= recordsMax && this.#removeOldest()) {}
    this.#ids.add(id);
  }

  remove(id: string): void {
    this.#open.delete(id);
    this.#ids.delete(id);
    rmSync(this.#pathOf(id), { force: true });
  }

  /** Records of turns that can change more. */
  written(): TurnRecord[] {
    return [...this.#open.values()];
  }

  isWrittenTo(id: string): boolean {
    return this.#open.has(id);
  }

  #removeOldest(): boolean {
    const oldest = this.ids().find((id) => !this.#open.has(id));
    if (oldest !== undefined) this.remove(oldest);
    return oldest !== undefined;
  }

  #pathOf(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}

/** Adds what a turn has just changed at one path. Adding the same once more changes nothing. */
export function addChange({ files }: TurnRecord, path: string, before: State, after: State, isMixed: boolean): void {
  const known = files.get(path);
  if (known === undefined) {
    files.set(path, { before, after, isMixed });
    return;
  }
  if (isSame(known.after, after)) return;
  // Another writer changed it between two writes of this turn.
  known.isMixed ||= isMixed || !isSame(known.after, before);
  known.after = after;
  if (isSame(known.before, after) && !known.isMixed) files.delete(path);
}

export function addLeft({ left }: TurnRecord, path: string, reason: SkipReason): void {
  if (left.size < leftMax) left.set(path, reason);
}

/** The contents that a turn's changes name. */
export function contentsOf({ files }: TurnRecord): string[] {
  return [...files.values()].flatMap(({ before, after }) => [...contentOf(before), ...contentOf(after)]);
}

export function contentOf(state: State): string[] {
  return state?.type === 'file' && isKept(state.content) ? [state.content] : [];
}

function ageOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function parseRecord(id: string, value: unknown): TurnRecord {
  const { isOpen, files, left } = value as { isOpen?: unknown; files?: unknown; left?: unknown };
  const pairs = (given: unknown): [unknown, unknown][] =>
    Array.isArray(given) ? given.flatMap((pair) => (Array.isArray(pair) ? [[pair[0], pair[1]]] : [])) : [];
  const record: TurnRecord = { id, isOpen: isOpen === true, files: new Map(), left: new Map() };
  for (const [path, change] of pairs(files)) {
    const { before, after, isMixed } = (change ?? {}) as { before?: unknown; after?: unknown; isMixed?: unknown };
    const [from, to] = [parseState(before), parseState(after)];
    if (!isSafePath(path) || from === undefined || to === undefined) continue;
    record.files.set(path, { before: from, after: to, isMixed: isMixed === true });
  }
  for (const [path, reason] of pairs(left))
    if (path === '' || isSafePath(path)) addLeft(record, path, parseLeft(reason));
  return record;
}

function parseLeft(reason: unknown): SkipReason {
  return reason === 'too_many' || reason === 'time' ? reason : 'unreadable';
}

/** Undefined for what is no state. */
function parseState(value: unknown): State | undefined {
  if (value === null) return null;
  const entry = parseEntry(value);
  return entry === undefined || entry.type === 'skipped' ? undefined : entry;
}

function isSafePath(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > 4096 || value.includes('\0')) return false;
  return value.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

/** A path that the turn did not change, nor anything below it or above it. */
export function strangeOf({ files }: TurnRecord, paths: readonly string[]): string | undefined {
  const leading = new Set([...files.keys()].flatMap(ancestorsOf));
  return paths.find(
    (path) => path !== '' && !leading.has(path) && ![path, ...ancestorsOf(path)].some((known) => files.has(known)),
  );
}
