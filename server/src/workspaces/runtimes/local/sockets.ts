import { linkSync, rmSync } from 'node:fs';
import { chmod, open, rename, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

/**
 * A folder as a descriptor: its sockets have short paths however deep it is (the kernel allows 107 bytes), and it stays
 * the same folder whatever happens to the path.
 */
export type SocketFolder = { pathOf(name: string): string; close(): Promise<void> };

export async function openSocketFolder(folder: string): Promise<SocketFolder> {
  const handle = await open(folder, 'r');
  return { pathOf: (name) => join(`/proc/self/fd/${handle.fd}`, name), close: () => handle.close() };
}

/**
 * A socket that listens at `path`, to be passed to a child: `publish` gives it its final name and closes it here.
 * It is invisible before that.
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
      // When it closes, Node removes the name that it listened at.
      linkSync(draft, path);
      listener.close();
    },
    discard: () => void listener.close(),
  };
}

/** Makes a server listen at `path`, replacing what was there. By default every user who can reach it may use it. */
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
