import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StartedWorkspace } from '../../runtime.ts';
import { type HostFolders, secretNames, socketNames } from './container.ts';

/**
 * What containers share with us, below `DATA_DIR/docker`, which nobody but us and root may enter:
 * `control/` the control plane's sockets; `<user id>/<generation>/` `secrets/` and `daemon/`.
 */
export type WorkspaceFolders = {
  /** Random, made once: whose containers are ours. */
  installation: string;
  /** Here the control plane's sockets belong. */
  control: string;
  make(workspace: StartedWorkspace): Promise<HostFolders>;
  daemonSocket(id: string, generation: number): string;
  /** Those of every generation. */
  remove(id: string): Promise<void>;
};

export async function openFolders(
  dataDir: string,
  enginePathOf: (folder: string) => Promise<string>,
): Promise<WorkspaceFolders> {
  const root = join(dataDir, 'docker');
  const control = join(root, 'control');
  await mkdir(root, { recursive: true, mode: 0o700 });
  await mkdirFor(control, 0o755);
  const engineRoot = await enginePathOf(root);
  const folderOf = (id: string, generation: number) => join(id, String(generation));
  return {
    installation: await readInstallation(join(root, 'installation')),
    control,
    async make({ id, generation, daemonTokenHash, workspaceToken }) {
      const folder = folderOf(id, generation);
      await rm(join(root, folder), { recursive: true, force: true });
      const secrets = join(root, folder, 'secrets');
      // Entered by way of the mounts only: the user of a container is another than ours.
      await mkdirFor(secrets, 0o755);
      await mkdirFor(join(root, folder, 'daemon'), 0o777);
      await Promise.all([
        writeFile(join(secrets, secretNames.daemonHash), daemonTokenHash, { mode: 0o444 }),
        writeFile(join(secrets, secretNames.token), workspaceToken, { mode: 0o444 }),
      ]);
      return {
        control: join(engineRoot, 'control'),
        secrets: join(engineRoot, folder, 'secrets'),
        daemon: join(engineRoot, folder, 'daemon'),
      };
    },
    daemonSocket: (id, generation) => join(root, folderOf(id, generation), 'daemon', socketNames.daemon),
    // A workspace may have left folders there that only its own user may empty: nobody will look at them again.
    remove: (id) => rm(join(root, id), { recursive: true, force: true }).catch(() => undefined),
  };
}

/** With exactly these rights, whatever the process takes away from what it makes. */
async function mkdirFor(folder: string, mode: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, mode);
}

async function readInstallation(file: string): Promise<string> {
  const made = randomBytes(12).toString('hex');
  try {
    await writeFile(file, made, { flag: 'wx' });
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await readFile(file, 'utf8')).trim();
  }
}
