import { randomBytes } from 'node:crypto';
import { constants, openSync, unlinkSync } from 'node:fs';
import { at, close } from './descriptors.ts';
import { findPlace, type Home, makeFolders } from './walk.ts';

/** The daemon's own folder in the home, for what is unfinished or not yet removed. Emptied when the daemon starts. */
const stagingFolder = ['.workspace', 'tmp'];

/** Holds the folder; the caller closes it. */
export function openStaging(home: Home): number {
  const place = findPlace(home, { segments: [...stagingFolder, 'x'], isFolder: false });
  try {
    return makeFolders(home, place);
  } catch (error) {
    close(place.folder);
    throw error;
  }
}

export function unusedName(): string {
  return randomBytes(12).toString('hex');
}

/** A file without a final name yet. */
export type Staged = { folder: number; name: string; descriptor: number };

/** Creates a new, empty file in the home's file system. The caller must always end with `dropStaged`. */
export function stageFile(home: Home, mode = 0o644): Staged {
  const folder = openStaging(home);
  const name = unusedName();
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  try {
    return { folder, name, descriptor: openSync(at(folder, name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode) };
  } catch (error) {
    close(folder);
    throw error;
  }
}

/** Removes the file unless it has been published; `descriptor` belongs to its receiver. */
export function dropStaged({ folder, name }: Staged): void {
  try {
    unlinkSync(at(folder, name));
  } catch {
    // It was published or removed.
  }
  close(folder);
}
