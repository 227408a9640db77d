import { once } from 'node:events';
import { connect as connectTo, createServer, type Socket } from 'node:net';

export type CuttingProxy = {
  url: string;
  cuts(): number;
  /** Breaks every open connection. */
  cutAll(): void;
  close(): void;
};

/**
 * TCP proxy that forwards every request completely and, if `chooses` returns so, cuts the connection before the first
 * byte of the response or in its middle. It also cuts while `targetPort` is down.
 */
export async function startCuttingProxy(
  targetPort: number,
  chooses: () => 'pass' | 'drop' | 'tear',
): Promise<CuttingProxy> {
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connectTo(targetPort, '127.0.0.1');
    let awaitsAnswer = true;
    const cut = (): void => {
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
    client.on('data', (data) => {
      awaitsAnswer = true;
      target.write(data);
    });
    target.on('data', (data) => {
      const choice = awaitsAnswer ? chooses() : 'pass';
      awaitsAnswer = false;
      if (choice === 'pass') {
        client.write(data);
        return;
      }
      cuts += 1;
      if (choice === 'drop') cut();
      else client.write(data.subarray(0, data.length >> 1), cut);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    cuts: () => cuts,
    cutAll() {
      for (const socket of sockets) socket.destroy();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
