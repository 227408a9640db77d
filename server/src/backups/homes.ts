import { isUtf8 } from 'node:buffer';
import { constants, createReadStream } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, opendir, readlink, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Member } from './archive-reader.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { damaged } from './backup-error.ts';

/**
 * Homes of workspaces in mode `local`, as members `workspaces/<id>/home/…`. Programs in them can be running: a file is
 * copied up to its size at opening, and an open folder is read even if another one takes its name meanwhile.
 */

type Counts = { homes: number; files: number; skipped: number };
type Folder = { handle: FileHandle; name: string; depth: number };

const readBytes = 256 * 1024;
/** With this, a name fits below the data folder of the place that it is restored into. */
const nameBytesMax = 3_000;
/** Each folder that is being read takes two descriptors, of which the service has few. */
const depthMax = 200;

export async function writeHomes(
  { dataDir }: Pick<Config, 'dataDir'>,
  writer: ArchiveWriter,
  signal: AbortSignal,
): Promise<Counts> {
  const counts: Counts = { homes: 0, files: 0, skipped: 0 };
  const root = join(dataDir, 'workspaces');
  for await (const id of namesIn(root)) {
    const handle = id === undefined ? undefined : await openFolder(join(root, id, 'home'));
    if (handle === undefined) continue;
    counts.homes += 1;
    await writeFolder(writer, { handle, name: `workspaces/${id}/home`, depth: 0 }, counts, signal);
  }
  return counts;
}

/** Undefined for what is no folder, or one that must not be read. */
function openFolder(path: string): Promise<FileHandle | undefined> {
  return open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(() => undefined);
}

async function writeFolder(
  writer: ArchiveWriter,
  { handle, name: folder, depth }: Folder,
  counts: Counts,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { mode } = await handle.stat();
    await writer.stream({ name: folder, size: 0, kind: 'folder', mode: mode & 0o777 }, []);
    const inside = `/proc/self/fd/${handle.fd}`;
    for await (const entry of namesIn(inside)) {
      signal.throwIfAborted();
      const [path, name] = [`${inside}/${entry}`, `${folder}/${entry}`];
      const fits = entry !== undefined && Buffer.byteLength(name) <= nameBytesMax;
      const facts = fits ? await lstat(path).catch(() => undefined) : undefined;
      if (facts?.isDirectory() === true) {
        const child = depth < depthMax ? await openFolder(path) : undefined;
        if (child === undefined) counts.skipped += 1;
        else await writeFolder(writer, { handle: child, name, depth: depth + 1 }, counts, signal);
      } else if (facts?.isSymbolicLink() === true) await writeLink(writer, path, name);
      else if (facts?.isFile() === true && (await writeFile(writer, path, name))) counts.files += 1;
      else counts.skipped += 1;
    }
  } finally {
    await handle.close();
  }
}

async function writeLink(writer: ArchiveWriter, path: string, name: string): Promise<void> {
  const target = await readlink(path).catch(() => undefined);
  if (target !== undefined) await writer.stream({ name, size: 0, kind: 'link', target }, []);
}

async function writeFile(writer: ArchiveWriter, path: string, name: string): Promise<boolean> {
  // A link laid there meanwhile is not followed, and a pipe does not block.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (handle === undefined) return false;
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) return false;
    const { size, mode } = facts;
    await writer.stream({ name, size, mode: mode & 0o777 }, exactly(path, handle.fd, size));
    return true;
  } finally {
    await handle.close();
  }
}

/** So many bytes of an open file; zeros for what was cut off meanwhile. */
async function* exactly(path: string, fd: number, size: number): AsyncGenerator<Buffer, void, undefined> {
  let left = size;
  if (size > 0) {
    const stream = createReadStream(path, { fd, autoClose: false, start: 0, end: size - 1, highWaterMark: readBytes });
    for await (const chunk of stream) {
      left -= chunk.length;
      yield chunk;
    }
  }
  for (; left > 0; left -= Math.min(left, readBytes)) yield Buffer.alloc(Math.min(left, readBytes));
}

/** Names in a folder; undefined for one that is no text. */
async function* namesIn(folder: string): AsyncGenerator<string | undefined, void, undefined> {
  const entries = await opendir(folder, { encoding: 'latin1' }).catch(() => undefined);
  if (entries === undefined) return;
  for await (const entry of entries) {
    const bytes = Buffer.from(entry.name, 'latin1');
    yield isUtf8(bytes) ? bytes.toString() : undefined;
  }
}

/** Puts a member `workspaces/…` back below the data folder, never outside it and never through a link. */
export async function restoreHome(dataDir: string, member: Member): Promise<void> {
  const parts = member.name.split('/');
  if (parts.length < 3 || parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))) {
    throw damaged(`the name ${JSON.stringify(member.name)} is not one of a workspace`);
  }
  const root = await realpath(dataDir);
  const path = resolve(root, member.name);
  // Folders come before their entries, so only the folder of a whole workspace can be missing.
  if (parts.length === 3) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if ((await realpath(dirname(path)).catch(() => undefined)) !== dirname(path)) {
    throw damaged(`${member.name} is in no folder of its own`);
  }
  const found = await lstat(path).catch(() => undefined);
  // A name that was recreated while its folder was read can come twice.
  if (found !== undefined && !(found.isDirectory() && member.kind === 'folder')) await rm(path, { recursive: true });
  if (member.kind === 'link') return symlink(member.target ?? '', path);
  if (member.kind === 'folder') {
    if (found?.isDirectory() !== true) await mkdir(path, { mode: 0o700 });
    // Files have to be put into it, whatever its mode says.
    return chmod(path, (member.mode & 0o777) | 0o700);
  }
  const handle = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of member.content) await handle.appendFile(chunk);
    await handle.chmod(member.mode & 0o777);
  } finally {
    await handle.close();
  }
}
