import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RuntimeFailure } from '../../runtime.ts';

/**
 * Folders of `local` workspaces, in DATA_DIR/workspaces:
 *
 *   <id>/home     mounted as /home/user; owned by the workspace's user
 *   <id>/inside   mounted as /run/workspace: its token, the hash of the daemon's, its ways to the control plane
 * and to the proxy
 *   <id>/host     what it never sees: state.json, the daemon's socket
 *   .etc          what every workspace sees of /etc besides the machine's certificates
 *   .lock         a socket of the one process that serves them
 */
export type WorkspaceFolders = { home: string; inside: string; host: string };

/** Users of workspaces if we are root: a range that no distribution assigns (systemd's UIDs-GIDS, "unused"). */
const firstWorkspaceUid = 1_900_000_000;
const workspaceUids = 100_000_000;

const isRoot = process.getuid?.() === 0;

/** The user and group id of the workspace's processes outside; undefined: ours. */
export function uidOf(slot: number): number | undefined {
  if (!Number.isSafeInteger(slot) || slot < 0 || slot >= workspaceUids) throw new RangeError('No such slot');
  return isRoot ? firstWorkspaceUid + slot : undefined;
}

/** Throws for what cannot be the name of a folder. */
export function foldersOf(root: string, id: string): WorkspaceFolders {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw new RangeError('Not the id of a workspace');
  const folder = join(root, id);
  return { home: join(folder, 'home'), inside: join(folder, 'inside'), host: join(folder, 'host') };
}

const etcFiles: Record<string, string> = {
  passwd:
    'root:x:0:0:root:/root:/usr/sbin/nologin\nuser:x:1000:1000:user:/home/user:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
  group: 'root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost workspace\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** Creates DATA_DIR/workspaces and what all workspaces share; returns it without symbolic links. */
export async function prepareRoot(dataDir: string): Promise<string> {
  const made = join(dataDir, 'workspaces');
  await mkdir(made, { recursive: true, mode: 0o700 });
  const root = await realpath(made);
  if (root.startsWith('/usr/'))
    throw new RuntimeFailure('DATA_DIR is inside /usr, which workspaces can read: move it.');
  // Users of workspaces can pass through it but not list it.
  await chmod(root, isRoot ? 0o711 : 0o700);
  const etc = join(root, '.etc');
  await mkdir(etc, { recursive: true });
  await chmod(etc, 0o755);
  for (const [name, text] of Object.entries(etcFiles)) await writeFile(join(etc, name), text, { mode: 0o644 });
  return root;
}

/** Creates one workspace's folders, and gives its home to its own user. */
export async function prepareFolders(root: string, id: string, uid: number | undefined): Promise<WorkspaceFolders> {
  const folders = foldersOf(root, id);
  const parent = join(root, id);
  for (const folder of [parent, folders.home, folders.inside, folders.host]) await mkdir(folder, { recursive: true });
  await chmod(folders.host, 0o700);
  if (uid === undefined) {
    await Promise.all([parent, folders.home, folders.inside].map((folder) => chmod(folder, 0o700)));
    return folders;
  }
  await Promise.all([chown(parent, 0, uid), chown(folders.inside, 0, uid), giveHome(folders.home, uid)]);
  await Promise.all([chmod(parent, 0o710), chmod(folders.inside, 0o750), chmod(folders.home, 0o700)]);
  return folders;
}

/**
 * Homes created as another user, before a move or under another account, are handed over as a whole; links are not
 * followed.
 */
async function giveHome(home: string, uid: number): Promise<void> {
  if ((await stat(home)).uid === uid) return;
  await promisify(execFile)('chown', ['-h', '-R', '-P', `${uid}:${uid}`, '--', home]);
}

/** Writes one generation's secrets, readable only by the workspace's own user. */
export async function writeInside(
  inside: string,
  uid: number | undefined,
  files: Record<'token' | 'daemon-hash', string>,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(inside, name);
    await rm(path, { force: true });
    await writeFile(path, text, { mode: 0o400, flag: 'wx' });
    if (uid === undefined) continue;
    await chown(path, 0, uid);
    await chmod(path, 0o440);
  }
}

/** Replaces a file atomically, so that a crash leaves the old or the new one. */
export async function writeState(host: string, state: unknown): Promise<void> {
  const draft = join(host, `state.json.${process.pid}`);
  await writeFile(draft, JSON.stringify(state), { mode: 0o600 });
  await rename(draft, join(host, 'state.json'));
}

/** The text of a small file; undefined if it is missing. */
export async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
    return undefined;
  });
}
