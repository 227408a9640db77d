import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

/** Every file of a folder with its content, mode and time; the daemon's own folder left out. */
export function picture(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below)).flatMap((name) => {
    const path = join(below, name);
    if (path === '.workspace') return [];
    const stats = lstatSync(join(folder, path));
    const line = `${path} ${stats.mode} ${stats.mtimeMs} ${stats.nlink} ${stats.uid} ${stats.gid}`;
    if (stats.isDirectory()) return [line, ...picture(folder, path)];
    return [stats.isFile() ? `${line} ${readFileSync(join(folder, path)).toString('base64')}` : line];
  });
}

/** A TCP and UDP port at loopback, a unix socket and a process, and how often they were reached. */
export async function openTargets(socket: string) {
  let reached = 0;
  const servers: Server[] = [];
  const listen = async (where: object): Promise<Server> => {
    const server = createServer((connection) => {
      reached += 1;
      connection.on('error', () => undefined);
      connection.destroy();
    });
    server.listen(where);
    await once(server, 'listening');
    servers.push(server);
    return server;
  };
  const tcp = await listen({ port: 0, host: '127.0.0.1' });
  await listen({ path: socket });
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket('udp4', () => {
    reached += 1;
  });
  udp.bind(port, '127.0.0.1');
  await once(udp, 'listening');
  let victim: ChildProcess = spawn('sleep', ['86399']);
  return {
    port,
    socket,
    get victim(): number {
      return victim.pid ?? 0;
    },
    /** How many were reached since the last call; a killed process is replaced. */
    take(): number {
      const before = reached;
      reached = 0;
      if (victim.exitCode === null && victim.signalCode === null) return before;
      victim = spawn('sleep', ['86399']);
      return before + 1;
    },
    close(): void {
      victim.kill('SIGKILL');
      udp.close();
      for (const server of servers) server.close();
    },
  };
}
