import { fchmodSync, fstatSync, fsync, fsyncSync, lstatSync, mkdirSync, write } from 'node:fs';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { WorkspaceEntry } from '@homeport/contracts/workspace/daemon';
import { DaemonError } from '../daemon-error.ts';
import { type HomePath, invalid } from '../file-system/home-path.ts';
import type { Room } from '../space/home-space.ts';
import { at, close, reopen } from './descriptors.ts';
import { shownName } from './names.ts';
import { type OnConflict, publishFile } from './publish.ts';
import { entryOf, neitherFileNorFolder, statIn } from './read.ts';
import { receiveBody } from './receive.ts';
import { dropStaged, type Staged, stageFile } from './staging.ts';
import { findPlace, type Home, makeFolders, type Place } from './walk.ts';

const writeBytes = promisify(write);
const flush = promisify(fsync);

export type Upload = {
  bytes: Readable;
  /** The size that the sender announced; a body of another size is refused. */
  size: number | undefined;
  onConflict: OnConflict;
  /** The new file's permissions, if not the usual ones. */
  mode?: number;
  space: Room;
};

/**
 * Stores a body as a file, with the folders above it, completely or not at all. Throws `path_taken`, `storage_full`,
 * `invalid_path`, and `invalid_request` if the body is cut off or has another size.
 */
export async function writeFile(home: Home, path: HomePath, upload: Upload): Promise<WorkspaceEntry> {
  if (path.isFolder) throw invalid('The path of a file must not end with a slash');
  const place = findPlace(home, path);
  try {
    checkConflict(place, upload.onConflict);
    return await withStagedFile(home, async (staged) => {
      await receiveBody(staged.descriptor, upload.bytes, upload);
      if (upload.mode !== undefined) fchmodSync(staged.descriptor, upload.mode);
      await flush(staged.descriptor);
      return publish(home, path, place, staged, upload.onConflict);
    });
  } finally {
    close(place.folder);
  }
}

/**
 * Replaces a file's content in one step; its permissions stay. `isSame` is asked last whether it is still the file that
 * was read.
 */
export async function replaceContent(
  home: Home,
  path: HomePath,
  content: Buffer,
  { mode, isSame }: { mode: number; isSame: (place: Place) => boolean },
): Promise<WorkspaceEntry> {
  const place = findPlace(home, path);
  try {
    return await withStagedFile(home, async (staged) => {
      fchmodSync(staged.descriptor, mode & 0o777);
      await writeAll(staged.descriptor, content);
      await flush(staged.descriptor);
      if (!isSame(place)) throw new DaemonError('path_taken', 'The file changed while it was being edited');
      return publish(home, path, place, staged, 'replace');
    });
  } finally {
    close(place.folder);
  }
}

/** Creates a folder and those above it; an existing one is fine. Throws `path_taken`, `invalid_path`. */
export function makeFolder(home: Home, path: HomePath): WorkspaceEntry {
  const place = findPlace(home, path);
  try {
    const folder = makeFolders(home, place);
    const taken = lstatSync(at(folder, place.name), { throwIfNoEntry: false });
    if (taken === undefined) mkdirSync(at(folder, place.name), 0o755);
    else if (!taken.isDirectory()) throw new DaemonError('path_taken', 'Something with this name already exists');
    return statIn(folder, path, place.name);
  } finally {
    close(place.folder);
  }
}

async function withStagedFile<T>(home: Home, work: (staged: Staged) => Promise<T>): Promise<T> {
  const staged = stageFile(home);
  try {
    return await work(staged);
  } finally {
    close(staged.descriptor);
    dropStaged(staged);
  }
}

/** Refuses a conflicting write before its bytes are received. */
function checkConflict({ folder, missing, name }: Place, onConflict: OnConflict): void {
  if (missing.length > 0 || onConflict === 'rename') return;
  const taken = lstatSync(at(folder, name), { throwIfNoEntry: false });
  if (taken === undefined || (onConflict === 'replace' && taken.isFile())) return;
  throw new DaemonError('path_taken', 'Something with this name already exists');
}

async function writeAll(descriptor: number, chunk: Buffer): Promise<void> {
  let written = 0;
  while (written < chunk.length) written += (await writeBytes(descriptor, chunk, written)).bytesWritten;
}

function publish(home: Home, path: HomePath, place: Place, staged: Staged, onConflict: OnConflict): WorkspaceEntry {
  const folder = makeFolders(home, place);
  const name = publishFile(staged, { folder, name: place.name }, onConflict);
  flushFolder(folder);
  const renamed = { segments: [...path.segments.slice(0, -1), shownName(name)], isFolder: false };
  const entry = entryOf(renamed, fstatSync(staged.descriptor, { bigint: true }));
  if (entry === undefined) throw neitherFileNorFolder();
  return entry;
}

/** So that the name, too, is on disk before the request is answered. */
function flushFolder(folder: number): void {
  const opened = reopen(folder);
  try {
    fsyncSync(opened);
  } finally {
    close(opened);
  }
}
