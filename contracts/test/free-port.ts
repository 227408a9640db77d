import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ephemeral range, so that no other program gets the port before its use or during a restart.
const lowest = 10_240;
const highest = 32_767;
/** Each process has a range of its own; two processes share one only if their numbers are far apart. */
const perProcess = 16;
const count = highest - lowest + 1;

let taken = 0;

/** A TCP port on which nothing listens, each time another one. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < count; tries += 1) {
    const port = lowest + ((process.pid * perProcess + taken) % count);
    taken += 1;
    if (await isFree(port)) return port;
  }
  throw new Error(`No port from ${lowest} to ${highest} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  // On every address, as some programs listen.
  server.listen(port);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
