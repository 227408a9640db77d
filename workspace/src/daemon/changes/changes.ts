import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { clock } from '../../clock.ts';
import { DaemonError } from '../daemon-error.ts';
import type { Daemon } from '../state.ts';
import { type Applied, applyChanges, type Direction } from './apply.ts';
import { Blobs } from './blobs.ts';
import { type Entry, isOnTheWay, isSame, isUnknown, type SkipReason, type State } from './entry.ts';
import { evictTurns } from './evict-turns.ts';
import { Journal } from './journal.ts';
import { addChange, addLeft, contentOf, Records, strangeOf, type TurnRecord } from './records.ts';
import { isReal, type Look, type Scanned, scanHome, scanPath, stateAt } from './scan.ts';

/** How many files are looked at between two turns of the event loop. */
const pathsAtOnce = 50;

/** How much is looked at and kept. */
export type ChangeBounds = { entries: number; milliseconds: number; bytes: number };
const changeBounds: ChangeBounds = { entries: 20_000, milliseconds: 10_000, bytes: 512 * 1024 * 1024 };

/** Result of a write, with the paths that were not known before. */
export type Wrote<T> = { value: T; paths?: readonly string[] };
/** A time in which a turn may write. Ending it more than once does nothing. */
export type Window = { end(): Promise<void> };
/** A file of a turn as it was, as the turn left it, and as it is. */
export type ListedChange = { path: string; before: State; after: State; isMixed: boolean; now: State };

type Store = { blobs: Blobs; journal: Journal; records: Records };
type Open = { turn: string; isBackground: boolean };

/**
 * Records the changes of each turn in the home: the home is scanned before a turn's first write and after each of its
 * commands; the differences belong to the turn. The previous contents are kept for undo. All data is below
 * `~/.workspace/.homeport-changes`.
 */
export class Changes {
  readonly #daemon: Daemon;
  readonly #bounds: ChangeBounds;
  #store: Store | undefined;
  /** Entries of the last scan. */
  #entries = new Map<string, Scanned>();
  /** Whether the home can have changed since the last scan. */
  #isStale = true;
  /** Number of possible writes by the person, and that number when the last scan began. */
  #typed = 0;
  #typedBefore = 0;
  /** Running commands that belong to no turn. */
  readonly #unknown = new Set<Window>();
  /** Paths written by the person's requests, until a scan of these paths has recorded them. */
  readonly #theirs = new Set<Set<string>>();
  readonly #windows = new Set<Open>();
  /** Turns that can have written since the last scan: those in `#windows`, and those that have left it. */
  readonly #writers = new Set<Open>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(daemon: Daemon, bounds = changeBounds) {
    this.#daemon = daemon;
    this.#bounds = bounds;
  }

  /** Attributes changes to the turn until the window ends. Never throws: on failure the turn's work is not recorded. */
  async begin(turn: string, isBackground = false): Promise<Window> {
    const open = await this.#open(turn, isBackground);
    return { end: () => this.#quietly(() => this.#end(open)) };
  }

  /** The same for commands that belong to no turn. */
  async beginUnknown(isBackground: boolean): Promise<Window> {
    const end = async (): Promise<void> => {
      this.#unknown.delete(window);
      this.typed();
    };
    const window = { end };
    if (!isBackground) this.#unknown.add(window);
    this.typed();
    return window;
  }

  async #open(turn: string, isBackground: boolean): Promise<Open> {
    const open = { turn, isBackground };
    await this.#quietly(async () => {
      const { records } = await this.#load();
      await this.#lookIfStale();
      records.save(records.open(turn));
      this.#windows.add(open);
      this.#writers.add(open);
    });
    return open;
  }

  /** Runs the writing of one path: the turn's or, without one, the person's. */
  async around<T>(turn: string | undefined, work: () => Promise<Wrote<T>> | Wrote<T>, paths: string[]): Promise<T> {
    if (turn === undefined) return this.#aroundTheirs(work, paths);
    const open = await this.#open(turn, false);
    const written = new Set(paths);
    try {
      const { value, paths: more = [] } = await work();
      for (const path of more) written.add(path);
      return value;
    } finally {
      await this.#quietly(() => this.#end(open, [...written]));
    }
  }

  async #aroundTheirs<T>(work: () => Promise<Wrote<T>> | Wrote<T>, paths: string[]): Promise<T> {
    if (this.#windows.size === 0) this.#isStale = true;
    else await this.#quietly(() => this.#lookAt(paths, true));
    const written = new Set(paths);
    this.#theirs.add(written);
    try {
      const { value, paths: more = [] } = await work();
      for (const path of more) written.add(path);
      return value;
    } finally {
      await this.#quietly(() => this.#lookAtTheirs(written));
    }
  }

  /** The person may have written something, such as in a terminal. */
  typed(): void {
    this.#typed += 1;
    this.#isStale = true;
  }

  /** Undefined if nothing is known of the turn. */
  list(turn: string): Promise<{ files: ListedChange[]; left: Map<string, SkipReason> } | undefined> {
    return this.#alone(async () => {
      const { records } = await this.#load();
      if (this.#writers.size > 0) await this.#look();
      const record = records.read(turn);
      return record === undefined ? undefined : this.#listed(record);
    });
  }

  /** Puts files back, or forth again; see applyChanges. Undefined if nothing is known of the turn. */
  apply(turn: string, direction: Direction, paths: readonly string[] | undefined, force: boolean) {
    return this.#alone(async (): Promise<Applied | undefined> => {
      const { records, blobs } = await this.#load();
      await this.#look();
      const record = records.read(turn);
      if (record === undefined) return undefined;
      const { home } = this.#daemon.config;
      const strange = paths === undefined ? undefined : strangeOf(record, paths);
      if (strange !== undefined) throw new DaemonError('not_found', `The answer did not change ~/${strange}`);
      const look = this.#lookNow();
      const stateOf = (path: string): Promise<State> => stateAt(look, path);
      const save = (): void => records.save(record);
      const applied = await applyChanges({ home, blobs, record, stateOf, save }, { direction, paths, force });
      if (applied.conflicts.length > 0) return applied;
      records.save(record);
      // The undo's own writes belong to no turn.
      this.#writers.clear();
      await this.#look();
      return applied;
    });
  }

  /** The file that holds the bytes of one side; undefined if they are not kept. */
  contentOf(turn: string, path: string, side: 'before' | 'after'): Promise<string | undefined> {
    return this.#alone(async () => {
      const { records } = await this.#load();
      const state = records.read(turn)?.files.get(path)?.[side] ?? null;
      const [content] = contentOf(state);
      return content === undefined ? undefined : this.keptAt(content);
    });
  }

  /** The file that holds bytes by their name; undefined if they are not kept. */
  keptAt(content: string): string | undefined {
    const blobs = this.#store?.blobs;
    return blobs?.has(content) ? blobs.pathOf(content) : undefined;
  }

  turns(): Promise<string[]> {
    return this.#alone(async () => (await this.#load()).records.ids());
  }

  forget(turns: readonly string[]): Promise<void> {
    return this.#alone(async () => {
      const { records } = await this.#load();
      const inUse = new Set([...this.#windows].map(({ turn }) => turn));
      for (const turn of turns) if (!inUse.has(turn)) records.remove(turn);
      await this.#evictTurns(0);
    });
  }

  /** With `paths` nothing else was written by the turn itself. */
  async #end(open: Open, paths?: readonly string[]): Promise<void> {
    if (!this.#windows.delete(open)) return;
    await this.#load();
    const isAlone = this.#windows.size === 0 && this.#writers.size === 1 && !this.#isStale;
    if (paths !== undefined && isAlone && paths.every((path) => isPlain(this.#daemon.config.home, path)))
      await this.#lookAt(paths, true);
    else await this.#look();
    this.#writers.delete(open);
    if (this.#isWriting(open.turn)) return;
    const { records } = await this.#load();
    records.close(records.open(open.turn));
  }

  #isWriting(turn: string): boolean {
    return [...this.#windows].some((open) => open.turn === turn);
  }

  async #load(): Promise<Store> {
    if (this.#store?.blobs.isThere()) return this.#store;
    // After the store was removed, the existing files belong to no turn.
    this.#writers.clear();
    this.#isStale = true;
    const folder = join(this.#daemon.config.home, '.workspace/.homeport-changes');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const journal = new Journal(join(folder, 'journal'));
    const records = new Records(join(folder, 'turns'));
    this.#store = { blobs: await Blobs.open(folder, this.#bounds.bytes), journal, records };
    const entries = await journal.read();
    this.#entries = entries ?? new Map();
    for (const id of await records.interrupted()) {
      if (entries !== undefined) this.#writers.add({ turn: id, isBackground: false });
      else {
        const record = records.open(id);
        addLeft(record, '', 'unreadable');
        records.close(record);
      }
    }
    if (this.#writers.size > 0) await this.#look();
    return this.#store;
  }

  async #lookIfStale(): Promise<void> {
    const { terminals, processes } = this.#daemon.activity.snapshot().active;
    if (this.#isStale || terminals > 0 || processes > 0 || this.#writers.size > 0) await this.#look();
  }

  /** Looks at the whole home, and notes what has changed since the last time. */
  async #look(): Promise<void> {
    await this.#load();
    const typed = this.#typed;
    const found = await scanHome(this.#lookNow(), this.#bounds.entries);
    await this.#settle(this.#entries, found, found, true);
    // Input typed during the scan can take effect after it.
    this.#typedBefore = typed;
    this.#isStale = this.#windows.size > 0 || this.#hasTyped;
    this.#writers.clear();
    for (const open of this.#windows) this.#writers.add(open);
  }

  /** Waits in the queue even if no window is open: one can be opening and scanning. */
  async #lookAtTheirs(written: Set<string>): Promise<void> {
    try {
      if (this.#windows.size > 0) await this.#lookAt([...written], false);
      else this.#isStale = true;
    } finally {
      this.#theirs.delete(written);
    }
  }

  async #lookAt(paths: readonly string[], isWriters: boolean): Promise<void> {
    for (const path of paths) {
      if (path === '') continue;
      const found = await scanPath(this.#lookNow(), path, this.#bounds.entries);
      const old = new Map([...this.#entries].filter(([known]) => isOnTheWay(known, path)));
      const all = new Map([...[...this.#entries].filter(([known]) => !old.has(known)), ...found]);
      await this.#settle(old, found, all, isWriters);
    }
  }

  /** Notes the difference between two looks at a part of the home; `all` is what is known of the whole of it then. */
  async #settle(
    old: ReadonlyMap<string, Scanned>,
    found: ReadonlyMap<string, Scanned>,
    all: Map<string, Scanned>,
    isWriters: boolean,
  ): Promise<void> {
    const { records, journal, blobs } = await this.#load();
    const [were, are] = [entriesOf(this.#entries), entriesOf(all)];
    const { turns, isMixed } = isWriters ? this.#whoWrote() : { turns: [], isMixed: false };
    const touched = turns.map((turn) => records.open(turn));
    const lines: [string, Scanned | null][] = [];
    for (const path of new Set([...old.keys(), ...found.keys()])) {
      const [before, after] = [old.get(path), found.get(path)];
      if (before === undefined || after === undefined || !isAlike(before, after)) lines.push([path, after ?? null]);
      if (path === '' || isSameContent(before, after)) continue;
      if (isUnknown(were, path) || isUnknown(are, path)) continue;
      const [from, to] = [stateOf(before), stateOf(after)];
      for (const record of touched) addChange(record, path, from, to, isMixed || this.#isTheirs(path));
    }
    for (const record of touched) {
      for (const [path, entry] of are) {
        if (entry.type === 'skipped' && entry.reason !== 'ignored') addLeft(record, path, entry.reason);
      }
      records.save(record);
      if (!this.#isWriting(record.id) && record.isOpen) records.close(record);
    }
    // After the records: the next scan finds changes again that a crash in between lost.
    await journal.write(lines, all);
    this.#entries = all;
    blobs.noted();
  }

  get #hasTyped(): boolean {
    return this.#unknown.size > 0 || this.#typed > this.#typedBefore;
  }

  #isTheirs(path: string): boolean {
    return [...this.#theirs].some((written) => [...written].some((other) => isOnTheWay(path, other)));
  }

  /** Commands in the foreground before those in the background, which write now and then. */
  #whoWrote(): { turns: string[]; isMixed: boolean } {
    const writers = [...this.#writers];
    const named = (isBackground: boolean): string[] => [
      ...new Set(writers.filter((open) => open.isBackground === isBackground).map(({ turn }) => turn)),
    ];
    const turns = named(false);
    if (turns.length > 0) return { turns, isMixed: turns.length > 1 || this.#hasTyped };
    const background = this.#hasTyped ? [] : named(true);
    return { turns: background, isMixed: background.length > 1 };
  }

  async #listed(record: TurnRecord): Promise<{ files: ListedChange[]; left: Map<string, SkipReason> }> {
    const files: ListedChange[] = [];
    const look = this.#lookNow();
    for (const [path, { before, after, isMixed }] of record.files) {
      files.push({ path, before, after, isMixed, now: await stateAt(look, path) });
      if (files.length % pathsAtOnce === 0) await setImmediate();
    }
    return { files, left: record.left };
  }

  #lookNow(): Look {
    const { home } = this.#daemon.config;
    const blobs = this.#store?.blobs;
    if (blobs === undefined) throw new Error('the store is not open');
    let isTried = false;
    const evictTurns = async (bytes: number): Promise<void> => {
      if (!isTried) await this.#evictTurns(bytes);
      isTried = true;
    };
    return { home, blobs, known: this.#entries, evictTurns, until: clock.elapsed() + this.#bounds.milliseconds };
  }

  async #evictTurns(bytes: number): Promise<void> {
    const inHome = [...this.#entries.values()].flatMap(({ entry }) => (entry.type === 'file' ? [entry.content] : []));
    if (this.#store !== undefined) await evictTurns(bytes, this.#store, inHome);
  }

  /** One after the other. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #quietly(work: () => Promise<void>): Promise<void> {
    await this.#alone(work).catch((error) => this.#daemon.log('changes could not be noted', error));
  }
}

/** The changes of a daemon's home, made at first use. */
export function changesOf(daemon: Daemon): Changes {
  const known = made.get(daemon);
  if (known !== undefined) return known;
  const changes = new Changes(daemon);
  made.set(daemon, changes);
  return changes;
}
const made = new WeakMap<Daemon, Changes>();

/** Whether writing this path changes nothing else: neither what is left out nor what a link leads to. */
function isPlain(home: string, path: string): boolean {
  return !/(?:^|\/)\.gitignore$/.test(path) && isReal(home, path);
}

function entriesOf(scanned: ReadonlyMap<string, Scanned>): Map<string, Entry> {
  return new Map([...scanned].map(([path, { entry }]) => [path, entry]));
}

function stateOf(scanned: Scanned | undefined): State {
  return scanned === undefined || scanned.entry.type === 'skipped' ? null : scanned.entry;
}

function isAlike(a: Scanned, b: Scanned): boolean {
  return a.stamp === b.stamp && isSame(a.entry, b.entry) && isClosed(a.entry) === isClosed(b.entry);
}

function isClosed(entry: Entry): boolean {
  return entry.type === 'directory' && entry.closed === true;
}

/** Also for a file that the store had no room for the time before. */
function isSameContent(before: Scanned | undefined, after: Scanned | undefined): boolean {
  if (isSame(before?.entry, after?.entry)) return true;
  if (before?.entry.type !== 'file' || after?.entry.type !== 'file') return false;
  return before.entry.mode === after.entry.mode && before.entry.content === after.unkept;
}
