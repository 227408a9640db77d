import type { WorkspaceEntry } from '@homeport/contracts/workspace/daemon';
import { DaemonError } from '../daemon-error.ts';
import { type HomePath, invalid } from '../file-system/home-path.ts';
import { close } from './descriptors.ts';
import { type Name, shownName } from './names.ts';
import { moveFile, moveFolder, type Named, type OnConflict, publishFile } from './publish.ts';
import { statIn } from './read.ts';
import { findExistingPlace, findPlace, type Home, lookAt, makeFolders, type Place } from './walk.ts';

/**
 * Moves or renames a file, folder or link (the link itself), creating folders above the new name. Overwrites only with
 * `replace`, and then only a file by a file. Throws `not_found`, `path_taken`, `invalid_path`.
 */
export function movePath(home: Home, from: HomePath, to: HomePath, onConflict: OnConflict): WorkspaceEntry {
  if (isWithin(to, from)) throw invalid('A folder cannot be moved into itself');
  const source = findExistingPlace(home, from);
  let target: Place | undefined;
  try {
    target = findPlace(home, to);
    const kind = lookKind(home, source);
    if ((from.isFolder || to.isFolder) && kind !== 'folder') throw notAFolder();
    const folder = makeFolders(home, target);
    const name = moveTo(source, { folder, name: target.name }, kind, onConflict);
    return statIn(folder, { segments: [...to.segments.slice(0, -1), shownName(name)], isFolder: false }, name);
  } finally {
    close(source.folder, target?.folder);
  }
}

function moveTo(source: Named, target: Named, kind: 'file' | 'folder' | 'other', onConflict: OnConflict): Name {
  if (kind === 'folder') return moveFolder(source, target);
  return kind === 'file' ? publishFile(source, target, onConflict) : moveFile(source, target);
}

function lookKind(home: Home, place: Place): 'file' | 'folder' | 'other' {
  const { descriptor, stats } = lookAt(home, place.folder, place.name);
  close(descriptor);
  if (stats.isDirectory()) return 'folder';
  return stats.isFile() ? 'file' : 'other';
}

function isWithin(path: HomePath, folder: HomePath): boolean {
  return folder.segments.length < path.segments.length && folder.segments.every((name, i) => path.segments[i] === name);
}

function notAFolder(): DaemonError {
  return new DaemonError('not_found', 'Folder not found');
}
