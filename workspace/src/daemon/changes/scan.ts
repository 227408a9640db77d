import { type BigIntStats, chmodSync, lstatSync, opendirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { clock } from '../../clock.ts';
import { errnoOf } from '../file-system/system-errors.ts';
import type { Blobs, MakeRoom } from './blobs.ts';
import { ancestorsOf, type Entry, type SkipReason, type State } from './entry.ts';
import { isIgnored, type Rules, rulesIn } from './ignored.ts';

/**
 * An entry of a scan. The stamp changes with the file: a file with the same stamp is not read again. `unkept` is the
 * content's name in case the store has no room for it.
 */
export type Scanned = { entry: Entry; stamp: string; unkept?: string };

export type Look = {
  home: string;
  blobs: Blobs;
  /** Entries of the previous scan. */
  known: ReadonlyMap<string, Scanned>;
  evictTurns: MakeRoom;
  /** Until when contents are kept, on the monotonic clock. */
  until: number;
};

/** A slice of work between two turns of the event loop. */
const sliceMs = 15;
/** File systems note times by the tick of their clock: a file changed this recently may change again unseen. */
const freshMs = 30;
const pathCharsMax = 4000;
/** Limit on the characters of all paths, per entry of the limit on entries. */
const charsPerEntry = 400;

/** Scans the home, except ignored paths, and stores the contents. Entries beyond the bounds are `skipped`. */
export async function scanHome(look: Look, entries: number): Promise<Map<string, Scanned>> {
  const found = new Map<string, Scanned>();
  await scanFolders(look, [{ folder: '', outer: [] }], found, entries);
  return found;
}

/** The same for one path, its parent folders and everything below it. */
export async function scanPath(look: Look, path: string, entries: number): Promise<Map<string, Scanned>> {
  const found = new Map<string, Scanned>();
  let rules: Rules = rulesIn(look.home, '', []);
  for (const folder of ancestorsOf(path)) {
    const seen = await scanOne(look, folder, rules);
    if (seen === undefined) return found;
    found.set(folder, seen);
    if (seen.entry.type !== 'directory') return found;
    rules = rulesIn(look.home, folder, rules);
  }
  const seen = await scanOne(look, path, rules);
  if (seen === undefined) return found;
  found.set(path, seen);
  if (seen.entry.type === 'directory') await scanFolders(look, [{ folder: path, outer: rules }], found, entries);
  return found;
}

/** Current state of a path, ignored or not; a folder's content is not scanned. */
export async function stateAt(look: Look, path: string): Promise<State> {
  const stats = realStatsOf(look.home, path);
  const entry = stats === undefined ? undefined : (await readEntry(look, path, stats))?.entry;
  return entry === undefined || entry.type === 'skipped' ? null : entry;
}

/** Tells one version of what is at a path from another; empty if nothing is. Another hard link makes no new version. */
export function versionAt(home: string, path: string): string {
  const stats = realStatsOf(home, path);
  if (stats === undefined || stats.isDirectory()) return stats === undefined ? '' : 'folder';
  return `${stats.ino}:${stats.mode}:${stats.size}:${stats.mtimeNs}`;
}

/** Whether no link leads to a path. */
export function isReal(home: string, path: string): boolean {
  const isLink = statsOf(join(home, path))?.isSymbolicLink() === true;
  return !isLink && ancestorsOf(path).every((folder) => isFolder(join(home, folder)));
}

async function scanFolders(
  look: Look,
  queue: { folder: string; outer: Rules }[],
  found: Map<string, Scanned>,
  entries: number,
): Promise<void> {
  let sliceEnd = clock.elapsed() + sliceMs;
  let chars = 0;
  for (let at = 0; at < queue.length; at += 1) {
    const { folder, outer } = queue[at] ?? { folder: '', outer: [] };
    const isLate = clock.elapsed() > look.until;
    const isFull = chars > entries * charsPerEntry;
    const names = isLate || isFull ? 'too_many' : namesIn(look.home, folder, entries - found.size);
    if (names === undefined) {
      closeFolder(found, folder);
      continue;
    }
    if (names === 'too_many') {
      found.set(folder, skipped(isLate ? 'time' : 'too_many'));
      continue;
    }
    const rules = rulesIn(look.home, folder, outer);
    for (const name of names) {
      if (clock.elapsed() > sliceEnd) {
        await setImmediate();
        sliceEnd = clock.elapsed() + sliceMs;
      }
      const path = folder === '' ? name : `${folder}/${name}`;
      const seen = path.length > pathCharsMax ? undefined : await scanOne(look, path, rules);
      if (seen === undefined) continue;
      found.set(path, seen);
      chars += path.length;
      if (seen.entry.type === 'directory') queue.push({ folder: path, outer: rules });
    }
  }
}

async function scanOne(look: Look, path: string, rules: Rules): Promise<Scanned | undefined> {
  const stats = statsOf(join(look.home, path));
  if (stats === undefined) return undefined;
  if (isIgnored(path, stats.isDirectory(), rules)) return skipped('ignored');
  return readEntry(look, path, stats);
}

async function readEntry(look: Look, path: string, stats: BigIntStats): Promise<Scanned | undefined> {
  const mode = Number(stats.mode & 0o7777n);
  if (stats.isDirectory()) return { entry: { type: 'directory', mode }, stamp: '' };
  const place = join(look.home, path);
  if (stats.isSymbolicLink()) return readLink(place);
  // Devices, sockets and pipes are of a moment.
  if (!stats.isFile()) return undefined;
  const stamp = stampOf(stats);
  const known = look.known.get(path);
  if (stamp !== '' && known?.stamp === stamp && known.entry.type === 'file' && look.blobs.has(known.entry.content))
    return known;
  const unkept = `?${stats.ino}:${stats.mtimeNs}:${stats.size}`;
  const content = await keepFile(look, place, stats, unkept);
  if (content === undefined) return undefined;
  return { entry: { type: 'file', mode, size: Number(stats.size), content }, stamp, unkept };
}

function readLink(place: string): Scanned | undefined {
  try {
    return { entry: { type: 'symlink', target: readlinkSync(place) }, stamp: '' };
  } catch {
    return undefined;
  }
}

/** The name of a file's bytes; undefined if it is gone. */
async function keepFile(look: Look, place: string, stats: BigIntStats, unkept: string): Promise<string | undefined> {
  const size = Number(stats.size);
  if (clock.elapsed() > look.until) return unkept;
  try {
    return (await look.blobs.keep(place, size, look.evictTurns)) ?? unkept;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    if (errnoOf(error) !== 'EACCES') return unkept;
  }
  // It belongs to the workspace's user, who may read it after all.
  const mode = Number(stats.mode & 0o7777n);
  try {
    chmodSync(place, mode | 0o400);
    return (await look.blobs.keep(place, size, look.evictTurns).finally(() => chmodSync(place, mode))) ?? unkept;
  } catch {
    return unkept;
  }
}

/** Empty for a file that may have changed since it was looked at, within the same tick. */
function stampOf({ ino, size, mode, mtimeNs, ctimeNs }: BigIntStats): string {
  if (Number(ctimeNs / 1_000_000n) > clock.now() - freshMs) return '';
  return `${ino}:${size}:${mode}:${mtimeNs}:${ctimeNs}`;
}

/** Undefined also if something else than folders leads to the path. */
function realStatsOf(home: string, path: string): BigIntStats | undefined {
  if (ancestorsOf(path).some((folder) => !isFolder(join(home, folder)))) return undefined;
  return statsOf(join(home, path));
}

function statsOf(place: string): BigIntStats | undefined {
  try {
    return lstatSync(place, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isFolder(place: string): boolean {
  return statsOf(place)?.isDirectory() === true;
}

/** In their order; undefined if the folder cannot be read. */
function namesIn(home: string, folder: string, most: number): string[] | 'too_many' | undefined {
  try {
    const listing = opendirSync(join(home, folder), { bufferSize: 512 });
    try {
      const names: string[] = [];
      for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
        if (names.length === most) return 'too_many';
        // Names that are not UTF-8 cannot be represented, and are left out.
        if (!entry.name.includes('\ufffd')) names.push(entry.name);
      }
      return names.sort();
    } finally {
      listing.closeSync();
    }
  } catch {
    return undefined;
  }
}

function closeFolder(found: Map<string, Scanned>, folder: string): void {
  const seen = found.get(folder);
  if (folder === '') found.set('', skipped('unreadable'));
  if (seen?.entry.type === 'directory') found.set(folder, { entry: { ...seen.entry, closed: true }, stamp: '' });
}

function skipped(reason: SkipReason): Scanned {
  return { entry: { type: 'skipped', reason }, stamp: '' };
}
