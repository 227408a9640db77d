import { type FileHandle, open } from 'node:fs/promises';
import { RuntimeFailure } from '../../runtime.ts';

// Linux only; Node has no constant for it. A handle on the file itself that cannot be read or written.
const oPath = 0o10000000;
const oNofollow = 0o400000;

/**
 * The socket that a daemon created in a folder its workspace can write to, held by its inode: nothing that replaces it
 * later, such as a link to another workspace's socket, is ever used.
 */
export type DaemonSocket = { socketPath: string; close(): Promise<void> };

/** Undefined while there is none. Throws RuntimeFailure if something else is there. */
export async function holdSocket(path: string): Promise<DaemonSocket | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, oPath | oNofollow);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  // If the last part is a link, this is the link itself.
  if ((await handle.stat()).isSocket())
    return { socketPath: `/proc/self/fd/${handle.fd}`, close: () => handle.close() };
  await handle.close();
  throw new RuntimeFailure("the workspace has something other than a socket where its daemon's socket should be");
}
