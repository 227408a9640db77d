import { randomBytes } from 'node:crypto';
import { constants, openSync, unlinkSync } from 'node:fs';
import { at, close } from './descriptors.ts';
import { findPlace, type Home, makeFolders } from './walk.ts';

/** The daemon's own folder in the home: what is not finished, or not removed yet. Emptied when the daemon starts. */
const stagingFolder = ['.workspace', 'tmp'];

/** Holds the folder; whoever gets it closes it. */
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

/** A file that has no place yet. */
export type Staged = { folder: number; name: string; descriptor: number };

/** Makes a new, empty file in the home's file system. Whoever gets it ends with `dropStaged`, whatever became of it. */
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

/** Removes the file unless it got its place; `descriptor` is whoever's it was given to. */
export function dropStaged({ folder, name }: Staged): void {
  try {
    unlinkSync(at(folder, name));
  } catch {
    // It was published, or somebody removed it.
  }
  close(folder);
}
