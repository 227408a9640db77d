import { linkSync, rmSync } from 'node:fs';
import { chmod, open, rename, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

/**
 * A folder as descriptor: its sockets have short names however deep it is (the kernel takes 107 bytes), and it stays the same folder
 * whatever happens to the path.
 */
export type SocketFolder = { pathOf(name: string): string; close(): Promise<void> };

export async function openSocketFolder(folder: string): Promise<SocketFolder> {
  const handle = await open(folder, 'r');
  return { pathOf: (name) => join(`/proc/self/fd/${handle.fd}`, name), close: () => handle.close() };
}

/**
 * A socket that listens at `path`, to be handed on: `publish` gives it its name for good and closes it here. Before that nobody finds it.
 */
export async function bindForChild(path: string): Promise<{ listener: Server; publish(): void; discard(): void }> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  const listener = createServer((stranger) => stranger.destroy());
  await listen(listener, draft);
  return {
    listener,
    publish() {
      rmSync(path, { force: true });
      // Node removes the name that it listened at when it closes.
      linkSync(draft, path);
      listener.close();
    },
    discard: () => void listener.close(),
  };
}

/** Makes an HTTP or other server listen at `path` in place of what was there. By default it is open to every user who can get there. */
export async function listenAt(server: Server, path: string, mode = 0o666): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  await listen(server, draft);
  await chmod(draft, mode);
  await rename(draft, path);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, backlog: 512 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
