import { constants, createReadStream, type Stats } from 'node:fs';
import { chmod, lstat, mkdir, open, opendir, readlink, realpath, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import type { Member } from './archive-reader.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { damaged } from './backup-error.ts';

/**
 * Homes of workspaces in mode `local`, as members `workspaces/<id>/home/…`. Workspaces may be running, so files can
 * change or vanish meanwhile: each is copied as long as it was when it was opened.
 */

type Counts = { homes: number; files: number; skipped: number };

const readBytes = 256 * 1024;

export async function writeHomes(
  { dataDir }: Pick<Config, 'dataDir'>,
  writer: ArchiveWriter,
  signal: AbortSignal,
): Promise<Counts> {
  const counts: Counts = { homes: 0, files: 0, skipped: 0 };
  const root = join(dataDir, 'workspaces');
  for await (const id of namesIn(root)) {
    const home = join(root, id, 'home');
    const facts = await lstat(home).catch(() => undefined);
    if (facts?.isDirectory() !== true) continue;
    counts.homes += 1;
    await writeFolder(writer, { path: home, name: `workspaces/${id}/home`, mode: facts.mode }, counts, signal);
  }
  return counts;
}

type Folder = { path: string; name: string; mode: number };

async function writeFolder(writer: ArchiveWriter, folder: Folder, counts: Counts, signal: AbortSignal): Promise<void> {
  await writer.stream({ name: folder.name, size: 0, kind: 'folder', mode: folder.mode & 0o777 }, []);
  for await (const entry of namesIn(folder.path)) {
    signal.throwIfAborted();
    const [path, name] = [join(folder.path, entry), `${folder.name}/${entry}`];
    const facts = await lstat(path).catch(() => undefined);
    if (facts === undefined) continue;
    if (facts.isDirectory()) await writeFolder(writer, { path, name, mode: facts.mode }, counts, signal);
    else if (facts.isSymbolicLink()) await writeLink(writer, path, name);
    else if (facts.isFile() && (await writeFile(writer, path, name, facts))) counts.files += 1;
    else counts.skipped += 1;
  }
}

async function writeLink(writer: ArchiveWriter, path: string, name: string): Promise<void> {
  const target = await readlink(path).catch(() => undefined);
  if (target !== undefined) await writer.stream({ name, size: 0, kind: 'link', target }, []);
}

async function writeFile(writer: ArchiveWriter, path: string, name: string, { mode }: Stats): Promise<boolean> {
  // A link laid there meanwhile is not followed, and a pipe does not block.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (handle === undefined) return false;
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) return false;
    const size = facts.size;
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

async function* namesIn(folder: string): AsyncGenerator<string, void, undefined> {
  const entries = await opendir(folder).catch(() => undefined);
  if (entries === undefined) return;
  for await (const entry of entries) yield entry.name;
}

/** Puts a member `workspaces/…` back below the data folder, never outside it and never through a link. */
export async function restoreHome(dataDir: string, member: Member): Promise<void> {
  const parts = member.name.split('/');
  if (parts.length < 3 || parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))) {
    throw damaged(`the name ${JSON.stringify(member.name)} is not one of a workspace`);
  }
  const root = await realpath(dataDir);
  const path = resolve(root, member.name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if ((await realpath(dirname(path))) !== dirname(path)) throw damaged(`${member.name} lies behind a link`);
  if (member.kind === 'link') return symlink(member.target ?? '', path);
  if (member.kind === 'folder') {
    await mkdir(path, { mode: 0o700 });
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
