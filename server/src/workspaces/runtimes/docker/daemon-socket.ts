import { type FileHandle, open } from 'node:fs/promises';
import { RuntimeFailure } from '../../runtime.ts';

// Linux; Node has no name for it. A handle on the file itself, which nothing can be read from or written to.
const oPath = 0o10000000;
const oNofollow = 0o400000;

/**
 * The socket that a daemon made in a folder its workspace may write: held by its inode, so that nothing put in its place later, a link to
 * somebody else's socket say, is ever spoken to.
 */
export type DaemonSocket = { socketPath: string; close(): Promise<void> };

/** Undefined while there is none. Throws RuntimeFailure when something else is there. */
export async function holdSocket(path: string): Promise<DaemonSocket | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, oPath | oNofollow);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  // A link itself, where the last part is one.
  if ((await handle.stat()).isSocket())
    return { socketPath: `/proc/self/fd/${handle.fd}`, close: () => handle.close() };
  await handle.close();
  throw new RuntimeFailure("the workspace has something other than a socket where its daemon's socket should be");
}
