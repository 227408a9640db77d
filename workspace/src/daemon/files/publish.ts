import { constants, linkSync, lstatSync, mkdirSync, openSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { DaemonError } from '../daemon-error.ts';
import { errnoOf } from '../file-system/system-errors.ts';
import { at, close } from './descriptors.ts';
import { type Name, shownName } from './names.ts';

export type OnConflict = 'rename' | 'replace' | 'fail';

const namesTried = 1000;
const nameBytesMax = 255;

/** Something in an open folder. */
export type Named = { folder: number; name: Name };

/**
 * Gives a file its final name in one step; returns that name. If something has the name already, this fails (`fail`:
 * `path_taken`), picks "name (2)" (`rename`), or replaces it if it is a file (`replace`).
 */
export function publishFile(from: Named, to: Named, onConflict: OnConflict): Name {
  if (onConflict === 'replace') return replaceFile(from, to);
  return onConflict === 'fail' ? moveFile(from, to) : moveBeside(from, to);
}

/** Moves a file or link to a free name. Throws EEXIST and never overwrites. */
export function moveFile(from: Named, to: Named): Name {
  const target = at(to.folder, to.name);
  try {
    linkSync(at(from.folder, from.name), target);
    unlinkSync(at(from.folder, from.name));
  } catch (error) {
    // Not everything can have two names: other people's files, or any file on some file systems.
    if (!['EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errnoOf(error))) throw error;
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    close(openSync(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
    renameOnto(from, target, () => unlinkSync(target));
  }
  return to.name;
}

/** Moves a folder to a free name: an empty folder takes the name first, and only an empty one is replaced. */
export function moveFolder(from: Named, to: Named): Name {
  const target = at(to.folder, to.name);
  mkdirSync(target, 0o700);
  renameOnto(from, target, () => rmdirSync(target));
  return to.name;
}

function renameOnto(from: Named, target: string | Buffer, undo: () => void): void {
  try {
    renameSync(at(from.folder, from.name), target);
  } catch (error) {
    try {
      undo();
    } catch {
      // Another process has used the name in the meantime and keeps it.
    }
    throw error;
  }
}

/** A link is never replaced by a file, even though it would not be followed: its creator intended another target. */
function replaceFile(from: Named, to: Named): Name {
  const target = at(to.folder, to.name);
  const taken = lstatSync(target, { throwIfNoEntry: false });
  if (taken !== undefined && !taken.isFile()) {
    throw new DaemonError('path_taken', 'Something else has this name, and only files can be replaced');
  }
  renameSync(at(from.folder, from.name), target);
  return to.name;
}

function moveBeside(from: Named, to: Named): Name {
  for (let number = 1; number <= namesTried; number += 1) {
    try {
      return moveFile(from, { folder: to.folder, name: numbered(shownName(to.name), number) });
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
  }
  throw new DaemonError('path_taken', 'Too many files have this name');
}

/** `report.pdf`, `report (2).pdf`, …; the name is shortened if the whole would be too long. */
export function numbered(name: string, number: number): string {
  if (number === 1) return name;
  const [, stem = name, extension = ''] = /^(.+?)((?:\.tar)?\.[^.]{1,16})$/su.exec(name) ?? [];
  const end = ` (${number})${extension}`;
  let kept = stem;
  while (Buffer.byteLength(kept + end) > nameBytesMax) kept = [...kept].slice(0, -1).join('');
  return kept + end;
}
