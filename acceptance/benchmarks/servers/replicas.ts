import { execFileSync } from 'node:child_process';
import { Client } from 'pg';
import { findSystemPostgres, startSystemPostgres } from '../../../scripts/test/system-postgres.mjs';
import { cores, type Pinned } from './processes.ts';
import { callApi, launchProduct, scratchFolder, setUp } from './product.ts';

/** Several replicas of the product on a PostgreSQL of their own, all on the subject's core. */
export type Replicas = {
  ports: number[];
  pids: number[];
  cookie: string;
  postmaster: number;
  database: Client;
  takeChat(): Promise<string>;
  stop(): Promise<void>;
};

const secret = 'bench-secret-of-thirty-two-bytes-and-more';

export async function startReplicas(dist: string, count: number, providerPort: number): Promise<Replicas> {
  const installed = findSystemPostgres();
  if (installed === undefined) throw new Error('This part needs the PostgreSQL of the distribution.');
  const server = await startSystemPostgres(installed);
  const database = new Client({ connectionString: server.url });
  await database.connect();
  const postmaster = await postmasterOf(database);
  execFileSync('taskset', ['-a', '-p', '-c', String(cores.subject), String(postmaster)], { stdio: 'ignore' });
  const dataDir = scratchFolder();
  const env = { DATABASE_URL: server.url, AUTH_SECRET: secret, SETTINGS_ENCRYPTION_KEY: secret };
  const launched: { process: Pinned; port: number }[] = [];
  // The first one makes the schema.
  for (let index = 0; index < count; index++) {
    launched.push(await launchProduct(dist, dataDir, { ...env, ARTIFACT_STORE: `${dataDir}/files` }));
  }
  const ports = launched.map(({ port }) => port);
  const { cookie } = await setUp(ports[0] ?? 0, { providerPort });
  return {
    ports,
    cookie,
    postmaster,
    database,
    pids: launched.map(({ process }) => process.pid),
    async takeChat() {
      const made = (await callApi(ports[0] ?? 0, cookie, 'POST', '/api/chats', { title: 'Bench' })) as {
        chat: { id: string };
      };
      return made.chat.id;
    },
    async stop() {
      for (const { process } of launched) await process.stop();
      await database.end();
      await server.stop();
    },
  };
}

/** The parent of a process that the server keeps all the time. */
async function postmasterOf(database: Client): Promise<number> {
  const { rows } = await database.query(`select pid from pg_stat_activity where backend_type = 'checkpointer'`);
  const parent = execFileSync('ps', ['-o', 'ppid=', '-p', String(rows[0]?.pid)], { encoding: 'utf8' });
  return Number(parent);
}
