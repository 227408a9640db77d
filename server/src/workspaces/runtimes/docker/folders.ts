import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readHostId } from '../../lifecycle/hosts.ts';
import type { StartedWorkspace } from '../../runtime.ts';
import { lockFolder } from '../folder-lock.ts';
import { listenAt, openSocketFolder } from '../local/sockets.ts';
import type { WorkspaceSockets } from '../workspace-sockets.ts';
import { daemonSocketName, type GenerationFolders, secretNames } from './container.ts';

/**
 * Folders shared with containers, in `DATA_DIR/docker`, which only we and root can enter: for each user id and
 * generation, a folder `workspace` with its secrets and the sockets of its ways out, and a folder `daemon`, where its
 * daemon creates a socket.
 */
export type WorkspaceFolders = {
  /** Identifies our containers. */
  installation: string;
  /** Writes the secrets; returns the folders with the engine's paths. */
  make(workspace: StartedWorkspace): Promise<GenerationFolders>;
  listen(doors: WorkspaceSockets, id: string, generation: number): Promise<void>;
  daemonSocket(id: string, generation: number): string;
  /** Removes the folders of every generation. */
  remove(id: string): Promise<void>;
  close(): Promise<void>;
};

export async function openFolders(
  dataDir: string,
  enginePathOf: (folder: string) => Promise<string>,
): Promise<WorkspaceFolders> {
  const root = join(dataDir, 'docker');
  await mkdir(root, { recursive: true, mode: 0o700 });
  await chmod(root, 0o700);
  const engineRoot = await enginePathOf(root);
  const installation = await readHostId(dataDir);
  const lock = await lockFolder(root);
  const sockets = await openSocketFolder(root);
  return {
    installation,
    async make({ id, generation, daemonTokenHash, workspaceToken }) {
      const folder = folderOf(id, generation);
      await rm(join(root, folder), { recursive: true, force: true });
      const workspace = join(root, folder, 'workspace');
      // Entered only through the mounts, by the container's user, who is not ours.
      await mkdirFor(workspace, 0o755);
      await mkdirFor(join(root, folder, 'daemon'), 0o777);
      await writeFor(join(workspace, secretNames.daemonHash), daemonTokenHash);
      await writeFor(join(workspace, secretNames.token), workspaceToken);
      return { workspace: join(engineRoot, folder, 'workspace'), daemon: join(engineRoot, folder, 'daemon') };
    },
    async listen(doors, id, generation) {
      for (const [name, server] of Object.entries(doors)) {
        await listenAt(server, sockets.pathOf(join(folderOf(id, generation), 'workspace', name)));
      }
    },
    daemonSocket: (id, generation) => join(root, folderOf(id, generation), 'daemon', daemonSocketName),
    // A workspace can leave folders that only its own user can empty: ignored, since they are never used again.
    remove: (id) => rm(join(root, safe(id)), { recursive: true, force: true }).catch(() => undefined),
    async close() {
      lock.close();
      await sockets.close();
    },
  };
}

/**
 * Folders as a workspace has them, with a token in them, without touching those of a running service. `remove` deletes
 * them.
 */
export async function makeTrialFolders(
  dataDir: string,
  { id, workspaceToken }: Pick<StartedWorkspace, 'id' | 'workspaceToken'>,
  enginePathOf: (folder: string) => Promise<string>,
): Promise<{ engine: GenerationFolders; daemon: string; remove(): Promise<void> }> {
  const root = join(dataDir, 'docker');
  await mkdirFor(root, 0o700);
  const own = join(root, safe(id));
  const remove = (): Promise<void> => rm(own, { recursive: true, force: true });
  try {
    const engineRoot = await enginePathOf(root);
    await mkdirFor(join(own, 'workspace'), 0o755);
    await mkdirFor(join(own, 'daemon'), 0o777);
    await writeFor(join(own, 'workspace', secretNames.token), workspaceToken);
    const engine = { workspace: join(engineRoot, id, 'workspace'), daemon: join(engineRoot, id, 'daemon') };
    return { engine, daemon: join(own, 'daemon'), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function folderOf(id: string, generation: number): string {
  return join(safe(id), String(generation));
}

/** Throws for what cannot be the name of a folder, a container and a volume. */
function safe(id: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw new RangeError('Not the id of a workspace');
  return id;
}

/** With exactly these permissions, whatever the umask. */
async function mkdirFor(folder: string, mode: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, mode);
}

async function writeFor(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx' });
  await chmod(file, 0o444);
}
