import { chmodSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { clock } from '../../clock.ts';
import { DaemonError } from '../daemon-error.ts';
import { type HomePath, invalid } from '../file-system/home-path.ts';
import { errnoOf } from '../file-system/system-errors.ts';
import { at, close, itself, look, statOf } from './descriptors.ts';
import { openStaging, unusedName } from './staging.ts';
import { findExistingPlace, type Home, lookAt, type Place } from './walk.ts';

const depthMax = 64;
const batch = 512;
const roundsMax = 10_000;
/** A large folder disappears at once; removing its content may continue after the response. */
const waitMs = 10_000;

/**
 * Deletes a file or link, or a folder with everything in it, which disappears in one step. Links in it are removed,
 * never followed. Throws `not_found`, and `invalid_path` for the home itself.
 */
export async function removePath(home: Home, path: HomePath): Promise<void> {
  const place = findExistingPlace(home, path);
  try {
    const { descriptor, stats } = lookAt(home, place.folder, place.name);
    try {
      if (stats.isDirectory()) await removeFolder(home, place, descriptor);
      else if (path.isFolder) throw new DaemonError('not_found', 'Folder not found');
      else unlinkSync(at(place.folder, place.name));
    } finally {
      close(descriptor);
    }
  } finally {
    close(place.folder);
  }
}

/** Removes the leftovers of an earlier daemon, without files that this one adds later. Never throws. */
export async function removeLeftovers(home: Home): Promise<void> {
  try {
    const staging = openStaging(home);
    const names = readdirSync(itself(staging));
    await new Removal(home, staging, names).run();
  } catch {
    // Nothing waits for it, and the next start tries again.
  }
}

async function removeFolder(home: Home, place: Place, held: number): Promise<void> {
  const staging = openStaging(home);
  const name = unusedName();
  try {
    makeWritable(held);
    renameSync(at(place.folder, place.name), at(staging, name));
  } catch (error) {
    close(staging);
    // The folder that contains the staging folder cannot be moved into it.
    if (errnoOf(error) !== 'EINVAL') throw error;
    throw invalid('This folder belongs to the workspace itself');
  }
  const removal = new Removal(home, staging, [name]).run();
  removal.catch(() => undefined);
  const late = Promise.withResolvers<void>();
  const timer = clock.after(waitMs, late.resolve);
  await Promise.race([removal, late.promise]).finally(() => timer.stop());
}

/** Removes things from the staging folder with few descriptors, however deep they are; closes the folder. */
class Removal {
  readonly #home: Home;
  readonly #staging: number;
  readonly #names: string[];

  constructor(home: Home, staging: number, names: string[]) {
    this.#home = home;
    this.#staging = staging;
    this.#names = names;
  }

  async run(): Promise<void> {
    try {
      for (let name = this.#names.pop(); name !== undefined; name = this.#names.pop()) {
        await this.#remove(this.#staging, name, 0);
      }
    } finally {
      close(this.#staging);
    }
  }

  async #remove(folder: number, name: string | Buffer, depth: number): Promise<void> {
    if (removeFile(folder, name)) return;
    const held = look(folder, name);
    try {
      const stats = statOf(held);
      if (!stats.isDirectory()) return;
      if (stats.dev !== this.#home.device) throw invalid('Another file system is mounted in this folder');
      makeWritable(held);
      if (depth >= depthMax) return this.#putOff(folder, name);
      await this.#empty(held, depth);
    } finally {
      close(held);
    }
    rmdirSync(at(folder, name));
  }

  /** Moves a folder that is too deep aside; the next round removes it. */
  #putOff(folder: number, name: string | Buffer): void {
    const later = unusedName();
    renameSync(at(folder, name), at(this.#staging, later));
    this.#names.push(later);
  }

  async #empty(held: number, depth: number): Promise<void> {
    for (let round = 0; round < roundsMax; round += 1) {
      const names = await someNames(held);
      if (names.length === 0) return;
      for (const name of names) await this.#remove(held, name, depth + 1);
      await setImmediate();
    }
  }
}

/** False when it is a folder. */
function removeFile(folder: number, name: string | Buffer): boolean {
  try {
    unlinkSync(at(folder, name));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return true;
    if (['EISDIR', 'EPERM'].includes(errnoOf(error))) return false;
    throw error;
  }
}

/** As bytes, because names need not be valid text. */
async function someNames(held: number): Promise<Buffer[]> {
  const names: Buffer[] = [];
  // With this encoding names are bytes, despite the types.
  const opened = await opendir(itself(held), { encoding: 'buffer' as BufferEncoding, bufferSize: batch });
  for await (const entry of opened) {
    names.push(entry.name as unknown as Buffer);
    if (names.length === batch) break;
  }
  return names;
}

/** Owners may delete what is in folders that are read-only for them, such as Go's module cache. */
function makeWritable(folder: number): void {
  if ((Number(statOf(folder).mode) & 0o700) !== 0o700) chmodSync(itself(folder), 0o700);
}
