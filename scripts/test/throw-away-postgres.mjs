// A PostgreSQL for one test process, without durability: the distribution's if there is one, otherwise the embedded
// one. Prints its URL and ends on SIGTERM or when its parent process ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer } from '../../server/test/postgres.ts';
import { findSystemPostgres, startSystemPostgres } from './system-postgres.mjs';

const system = findSystemPostgres();
const server = system === undefined ? await startEmbedded() : await startSystemPostgres(system);

async function startEmbedded() {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-throw-away-'));
  const log = { debug() {}, info() {}, warn() {}, error: console.error };
  const { url, stop } = await startTestServer({ folder, log });
  return {
    url,
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const ending = new AbortController();
ending.signal.addEventListener('abort', () => server.stop().finally(() => process.exit(0)));
process.on('SIGTERM', () => ending.abort());
const parent = process.ppid;
setInterval(() => process.ppid !== parent && ending.abort(), 500);
console.log(server.url);
