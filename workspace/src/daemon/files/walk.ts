import { type BigIntStats, constants, lstatSync, mkdirSync, openSync, readlinkSync } from 'node:fs';
import { DaemonError } from '../daemon-error.ts';
import { depthMax, type HomePath, invalid, relativeToHome, splitSegments, tooDeep } from '../file-system/home-path.ts';
import { errnoOf, refusalOf } from '../file-system/system-errors.ts';
import { at, close, itself, look, lookFlags, statOf } from './descriptors.ts';
import { findResembling, type Name } from './names.ts';

/** The home folder, kept open as long as the daemon runs. */
export type Home = { path: string; descriptor: number; device: bigint };
/** Something below the home, held by an O_PATH descriptor; the caller closes it. */
export type Found = { descriptor: number; stats: BigIntStats };

const linksMax = 40;

export function openHome(path: string): Home {
  const descriptor = openSync(path, lookFlags | constants.O_DIRECTORY);
  return { path, descriptor, device: statOf(descriptor).dev };
}

/**
 * Finds a path's target, for reading. Links are resolved here, name by name, never by the kernel: those that stay in
 * the home are followed, others are `invalid_path`. File systems mounted below the home count as outside. Throws
 * `not_found`, `invalid_path`, `invalid_request` (permissions).
 */
export function find(home: Home, path: HomePath): Found {
  try {
    const found = new Walk(home).find(path.segments);
    if (!path.isFolder || found.stats.isDirectory()) return found;
    close(found.descriptor);
  } catch (error) {
    throw refusalOf(error);
  }
  throw new DaemonError('not_found', 'Folder not found');
}

/**
 * The path that a write to `path` means: links on the way are followed as `find` does, and the last name can be
 * missing. The place can change before it is used; `findPlace` follows no link.
 */
export function resolveLinks(home: Home, path: HomePath): HomePath {
  let segments = [...path.segments];
  for (let left = linksMax; ; left -= 1) {
    const next = resolveFirstLink(home, segments);
    if (next === undefined) return { segments, isFolder: path.isFolder };
    if (left === 0) throw invalid('The path goes through too many links');
    segments = next;
  }
}

/** The segments with the first link on the way replaced by its target; undefined if there is none. */
function resolveFirstLink(home: Home, segments: readonly string[]): string[] | undefined {
  const held: number[] = [];
  try {
    for (const [index, name] of segments.entries()) {
      const folder = held.at(-1) ?? home.descriptor;
      const found = lookOrMiss(home, folder, name);
      if (found === undefined) return undefined;
      held.push(found.descriptor);
      if (found.stats.isSymbolicLink()) {
        const target = readlinkSync(at(folder, name));
        return [...joinTarget(home, segments.slice(0, index), target), ...segments.slice(index + 1)];
      }
      if (!found.stats.isDirectory()) return undefined;
    }
    return undefined;
  } catch (error) {
    throw refusalOf(error);
  } finally {
    close(...held);
  }
}

function lookOrMiss(home: Home, folder: number, name: string): Found | undefined {
  try {
    return lookAt(home, folder, name);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function joinTarget(home: Home, folders: readonly string[], target: string): string[] {
  const below = target.startsWith('/') ? relativeToHome(target, home.path) : target;
  if (below === undefined) throw leavesHome();
  const joined = target.startsWith('/') ? [] : [...folders];
  for (const name of splitSegments(below)) {
    if (name !== '..') joined.push(name);
    else if (joined.pop() === undefined) throw leavesHome();
  }
  if (joined.length > depthMax) throw tooDeep();
  return joined;
}

function leavesHome(): DaemonError {
  return invalid('The path goes through a link that leaves the home folder');
}

/** One walk down from the home. It holds every folder on the way, because `..` in a link goes back up the same way. */
class Walk {
  readonly #home: Home;
  readonly #held: number[] = [];
  #linksLeft = linksMax;

  constructor(home: Home) {
    this.#home = home;
  }

  find(segments: readonly string[]): Found {
    try {
      return this.#descend([...segments]);
    } finally {
      close(...this.#held);
    }
  }

  get #top(): number {
    return this.#held.at(-1) ?? this.#home.descriptor;
  }

  #descend(todo: string[]): Found {
    while (true) {
      const name = todo.shift();
      if (name === undefined) return this.#reopenTop();
      if (name === '..') {
        this.#goUp();
        continue;
      }
      const found = this.#enter(name);
      if (found.stats.isSymbolicLink()) {
        close(found.descriptor);
        todo.unshift(...this.#readLink(name));
      } else if (todo.length === 0) return found;
      else if (found.stats.isDirectory()) this.#held.push(found.descriptor);
      else {
        close(found.descriptor);
        throw new DaemonError('not_found', 'File or folder not found');
      }
    }
  }

  #enter(name: string): Found {
    if (this.#held.length >= depthMax) throw tooDeep();
    return lookAt(this.#home, this.#top, name);
  }

  #goUp(): void {
    const left = this.#held.pop();
    if (left === undefined) throw leavesHome();
    close(left);
  }

  /** The name can refer to another entry by now; every part of the target is checked again. */
  #readLink(name: string): string[] {
    this.#linksLeft -= 1;
    if (this.#linksLeft < 0) throw invalid('The path goes through too many links');
    const target = readlinkSync(at(this.#top, name));
    if (!target.startsWith('/')) return splitSegments(target);
    const below = relativeToHome(target, this.#home.path);
    if (below === undefined) throw leavesHome();
    close(...this.#held.splice(0));
    return splitSegments(below);
  }

  #reopenTop(): Found {
    const descriptor = openSync(itself(this.#top), lookFlags & ~constants.O_NOFOLLOW);
    return { descriptor, stats: statOf(descriptor) };
  }
}

/** Holds one thing in an open folder; throws `invalid_path` if it is on another file system. */
export function lookAt(home: Home, folder: number, name: Name): Found {
  const descriptor = lookResembling(folder, name);
  const stats = statOf(descriptor);
  if (stats.dev === home.device) return { descriptor, stats };
  close(descriptor);
  throw invalid('The path leaves the home folder');
}

/** A name that is missing can be there in another spelling. */
function lookResembling(folder: number, name: Name): number {
  try {
    return look(folder, name);
  } catch (error) {
    const other = typeof name === 'string' && errnoOf(error) === 'ENOENT' ? findResembling(folder, name) : undefined;
    if (other === undefined) throw error;
    return look(folder, other);
  }
}

/** A writable place below the home, reached only through real folders. The caller closes it. */
export type Place = {
  folder: number;
  /** Missing folders between `folder` and the name. */
  missing: string[];
  name: Name;
};

/**
 * Finds where a path would be written, without creating anything. Follows no link. Throws `invalid_path`, also for the
 * home itself; `path_taken` if a file is where a folder must be.
 */
export function findPlace(home: Home, path: HomePath): Place {
  const name = path.segments.at(-1);
  if (name === undefined) throw invalid('The home folder itself cannot be changed');
  const folders = path.segments.slice(0, -1);
  let folder = openSync(itself(home.descriptor), lookFlags & ~constants.O_NOFOLLOW);
  try {
    while (true) {
      const [next] = folders;
      if (next === undefined) break;
      const below = findFolder(home, folder, next);
      if (below === undefined) break;
      close(folder);
      folder = below;
      folders.shift();
    }
    return { folder, missing: folders, name: folders.length > 0 ? name : existingName(folder, name) };
  } catch (error) {
    close(folder);
    throw error;
  }
}

function existingName(folder: number, name: string): Name {
  const isThere = lstatSync(at(folder, name), { throwIfNoEntry: false }) !== undefined;
  return isThere ? name : (findResembling(folder, name) ?? name);
}

/** The same for something that must exist: throws `not_found` if a folder on the way is missing. */
export function findExistingPlace(home: Home, path: HomePath): Place {
  const place = findPlace(home, path);
  if (place.missing.length === 0) return place;
  close(place.folder);
  throw new DaemonError('not_found', 'File or folder not found');
}

/** Creates the missing folders of a place and returns its own folder, which the place then holds. */
export function makeFolders(home: Home, place: Place): number {
  while (true) {
    const [next] = place.missing;
    if (next === undefined) return place.folder;
    makeFolder(place.folder, next);
    const below = findFolder(home, place.folder, next);
    if (below === undefined) throw new DaemonError('not_found', 'The folder was removed in the meantime');
    close(place.folder);
    place.folder = below;
    place.missing.shift();
  }
}

function makeFolder(folder: number, name: string): void {
  try {
    mkdirSync(at(folder, name), 0o755);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

/** A folder in an open folder; undefined if nothing has its name. */
function findFolder(home: Home, folder: number, name: string): number | undefined {
  let found: Found;
  try {
    found = lookAt(home, folder, name);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (found.stats.isDirectory()) return found.descriptor;
  close(found.descriptor);
  if (found.stats.isSymbolicLink()) throw invalid('The path goes through a link, and nothing is written through links');
  throw new DaemonError('path_taken', 'The path goes through a file, not a folder');
}
