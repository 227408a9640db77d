import { createServer, type Server } from 'node:net';
import { daemonRequest } from '../../egress/daemon-request.ts';
import { RuntimeFailure } from '../runtime.ts';
import { listenAt, openSocketFolder } from './local/sockets.ts';

/**
 * One process serves the workspaces of a DATA_DIR: a socket in the folder answers while it lives, or until it is
 * closed. Throws RuntimeFailure if another process has it.
 */
export async function lockFolder(root: string): Promise<Server> {
  const folder = await openSocketFolder(root);
  const path = folder.pathOf('.lock');
  const isHeld = await daemonRequest({ socketPath: path }, '/', { headersTimeoutMs: 1_000 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT',
  );
  if (isHeld) {
    await folder.close();
    throw new RuntimeFailure('another Homeport serves the workspaces of this DATA_DIR.');
  }
  const lock = createServer((socket) => socket.destroy());
  lock.unref();
  await listenAt(lock, path, 0o600);
  lock.once('close', () => void folder.close());
  return lock;
}
