import { type BigIntStats, type Dir, lstatSync, readSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import type { WorkspaceEntry, WorkspaceFile, WorkspaceListing } from '@homeport/contracts/workspace/daemon';
import { DaemonError } from '../daemon-error.ts';
import { childOf, type HomePath, invalid, nameOf, pathBytesMax, showPath } from '../file-system/home-path.ts';
import { errnoOf } from '../file-system/system-errors.ts';
import { at, close, itself, reopen } from './descriptors.ts';
import { describe } from './media-type.ts';
import { type Name, nameOfBytes, shownName } from './names.ts';
import { type Found, find, type Home } from './walk.ts';

const previewBytes = 256 * 1024;
const entriesMax = 1_000_000;
/** The control plane reads responses of at most 4 MiB. */
const pageBytesMax = 2 * 1024 * 1024;

/** One file or folder; links are followed. Throws `invalid_path` for devices, sockets and FIFOs. */
export function statPath(home: Home, path: HomePath): WorkspaceEntry {
  const { descriptor, stats } = find(home, path);
  close(descriptor);
  const entry = entryOf(path, stats);
  if (entry === undefined) throw neitherFileNorFolder();
  return entry;
}

/** The entry of a file, folder or link; undefined for anything else. */
export function entryOf(path: HomePath, stats: BigIntStats): WorkspaceEntry | undefined {
  const type = typeOf(stats);
  if (type === undefined) return undefined;
  return {
    name: nameOf(path),
    path: showPath(path),
    type,
    size: type === 'directory' ? 0 : Number(stats.size),
    modifiedAt: timeOf(stats),
  };
}

export function neitherFileNorFolder(): DaemonError {
  return invalid('This is neither a file nor a folder');
}

/** Returns the entry of this name in an open folder, as `path`; links are not followed. */
export function statIn(folder: number, path: HomePath, name: Name): WorkspaceEntry {
  const entry = entryOf(path, lstatSync(at(folder, name), { bigint: true }));
  if (entry === undefined) throw neitherFileNorFolder();
  return entry;
}

/** A page of a folder, or the beginning of a file. */
export async function listOrPreview(
  home: Home,
  path: HomePath,
  page: { limit: number; cursor: string | undefined },
  signal: AbortSignal,
): Promise<WorkspaceListing | WorkspaceFile> {
  const found = find(home, path);
  try {
    if (found.stats.isDirectory()) return await list(found, path, page, signal);
    if (found.stats.isFile()) return preview(found, path);
  } finally {
    close(found.descriptor);
  }
  throw neitherFileNorFolder();
}

/** Opens a regular file for reading; never waits for a FIFO. The caller closes it. */
export function openFile(home: Home, path: HomePath): Found {
  const found = find(home, path);
  try {
    if (found.stats.isDirectory()) throw new DaemonError('invalid_request', 'This is a folder, not a file');
    if (!found.stats.isFile()) throw neitherFileNorFolder();
    return { descriptor: reopen(found.descriptor), stats: found.stats };
  } finally {
    close(found.descriptor);
  }
}

/** Finds a folder; the descriptor is O_PATH. The caller closes it. */
export function findFolder(home: Home, path: HomePath): number {
  const { descriptor, stats } = find(home, path);
  if (stats.isDirectory()) return descriptor;
  close(descriptor);
  throw new DaemonError('invalid_request', 'This is not a folder');
}

/** The first bytes of an open file, at most `count`. */
export function readHead(descriptor: number, count: number): Buffer {
  const buffer = Buffer.allocUnsafe(count);
  let filled = 0;
  while (filled < count) {
    const read = readSync(descriptor, buffer, filled, count - filled, filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

function preview(found: Found, path: HomePath): WorkspaceFile {
  const descriptor = reopen(found.descriptor);
  try {
    const size = Number(found.stats.size);
    const head = readHead(descriptor, previewBytes);
    const truncated = size > head.length;
    const shown = describe(head, nameOf(path), truncated);
    return { path: showPath(path), type: 'file', size, modifiedAt: timeOf(found.stats), ...shown, truncated };
  } finally {
    close(descriptor);
  }
}

/** Sort key of pages and cursors: folders first, then by name ignoring case. */
type Key = { rank: 0 | 1; folded: string; name: string; raw?: Name };

/** Keeps one page in memory, however many names the folder has. */
async function list(
  found: Found,
  path: HomePath,
  { limit, cursor }: { limit: number; cursor: string | undefined },
  signal: AbortSignal,
): Promise<WorkspaceListing> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const keys = await firstKeys(found.descriptor, after, limit + 1, signal);
  const entries: WorkspaceEntry[] = [];
  let bytes = 0;
  let last: Key | undefined;
  for (const key of keys.slice(0, limit)) {
    const entry = entryIn(found.descriptor, path, key.raw ?? key.name);
    bytes += entry === undefined ? 0 : JSON.stringify(entry).length;
    if (bytes > pageBytesMax && last !== undefined) break;
    last = key;
    if (entry !== undefined) entries.push(entry);
  }
  const isAtEnd = keys.length === 0 || last === keys.at(-1);
  return {
    path: showPath(path),
    type: 'directory',
    entries,
    nextCursor: isAtEnd || last === undefined ? null : writeCursor(last),
  };
}

async function firstKeys(folder: number, after: Key | undefined, count: number, signal: AbortSignal): Promise<Key[]> {
  let keys: Key[] = [];
  for await (const { name: raw, isDirectory } of namesIn(folder, signal)) {
    const name = shownName(raw);
    const key: Key = { rank: isDirectory ? 0 : 1, folded: name.toLowerCase(), name, raw };
    if (after !== undefined && compare(key, after) <= 0) continue;
    keys.push(key);
    if (keys.length >= 4 * count + 1000) keys = keys.sort(compare).slice(0, count);
  }
  return keys.sort(compare).slice(0, count);
}

/** The names in an open folder, unordered. Throws `payload_too_large` above a million. */
export async function* namesIn(
  folder: number,
  signal: AbortSignal,
): AsyncGenerator<{ name: Name; isDirectory: boolean; isLink: boolean; isFile: boolean }> {
  const opened: Dir = await opendir(itself(folder), { encoding: 'buffer' as 'utf8', bufferSize: 1024 });
  let count = 0;
  for await (const entry of opened) {
    signal.throwIfAborted();
    count += 1;
    if (count > entriesMax)
      throw new DaemonError('payload_too_large', `The folder has more than ${entriesMax} entries`);
    const isLink = entry.isSymbolicLink();
    yield {
      name: nameOfBytes(Buffer.from(entry.name)),
      isDirectory: entry.isDirectory(),
      isLink,
      isFile: entry.isFile(),
    };
  }
}

/** An entry by its name in an open folder; undefined if it is gone or is not a file, folder or link. */
function entryIn(folder: number, path: HomePath, name: Name): WorkspaceEntry | undefined {
  const child = childOf(path, shownName(name));
  if (Buffer.byteLength(showPath(child)) > pathBytesMax) return undefined;
  try {
    return entryOf(child, lstatSync(at(folder, name), { bigint: true }));
  } catch (error) {
    if (errnoOf(error) === '') throw error;
    return undefined;
  }
}

function compare(one: Key, other: Key): number {
  if (one.rank !== other.rank) return one.rank - other.rank;
  if (one.folded !== other.folded) return one.folded < other.folded ? -1 : 1;
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}

function writeCursor({ rank, name }: Key): string {
  return Buffer.from(rank + name).toString('base64url');
}

function readCursor(text: string): Key {
  const decoded = Buffer.from(text, 'base64url').toString('utf8');
  const [rank] = decoded;
  if (text.length > 2048 || (rank !== '0' && rank !== '1') || decoded.length < 2) {
    throw new DaemonError('invalid_request', 'The cursor is not valid');
  }
  const name = decoded.slice(1);
  return { rank: rank === '0' ? 0 : 1, folded: name.toLowerCase(), name };
}

function typeOf(stats: BigIntStats): WorkspaceEntry['type'] | undefined {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'symlink' : undefined;
}

/** Times that RFC 3339 cannot express are shown as its limits. */
function timeOf({ mtimeMs }: BigIntStats): string {
  const limit = Date.UTC(9999, 11, 31);
  return new Date(Math.min(Math.max(Number(mtimeMs), 0), limit)).toISOString();
}
