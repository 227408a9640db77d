import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestDatabase } from '../database.ts';

/**
 * A proxy between the service and its database: `cut` breaks every connection and refuses new ones, `stall` keeps them
 * and forwards nothing, `pass` forwards again.
 */
export type DatabaseProxy = {
  /** The address of the database behind the proxy. */
  database: TestDatabase;
  set(mode: Mode): void;
  close(): void;
};
type Mode = 'pass' | 'cut' | 'stall';
type Way = { url: string; set(mode: Mode): void; close(): void };

/** In front of every address of a database, so in front of its pooler as well. */
export async function startDatabaseProxy(database: TestDatabase): Promise<DatabaseProxy> {
  const { connection, direct } = database.address;
  const way = await startWay(connection);
  const directWay = direct === undefined ? undefined : await startWay(direct);
  const ways = directWay === undefined ? [way] : [way, directWay];
  const address = { connection: way.url, ...(directWay === undefined ? {} : { direct: directWay.url }) };
  return {
    database: { ...database, url: (directWay ?? way).url, address },
    set: (mode) => {
      for (const each of ways) each.set(mode);
    },
    close: () => {
      for (const each of ways) each.close();
    },
  };
}

/** A TCP proxy in front of the server that a postgres URL names, on a port or on a socket in the file system. */
async function startWay(databaseUrl: string): Promise<Way> {
  const target = new URL(databaseUrl);
  const socketFolder = target.searchParams.get('host');
  const port = Number(target.port === '' ? 5432 : target.port);
  const open = (): Socket =>
    socketFolder?.startsWith('/') === true
      ? connect(`${socketFolder}/.s.PGSQL.${port}`)
      : connect(port, target.hostname);
  const sockets = new Set<Socket>();
  let mode: Mode = 'pass';

  const server = createServer((client) => {
    if (mode === 'cut') {
      client.destroy();
      return;
    }
    const database = open();
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from);
      if (mode === 'stall') from.pause();
      from.on('data', (data) => to.write(data));
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');
  const url = new URL(databaseUrl);
  url.searchParams.delete('host');
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href,
    set(next) {
      mode = next;
      for (const socket of sockets) {
        if (next === 'cut') socket.destroy();
        else if (next === 'stall') socket.pause();
        else socket.resume();
      }
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
