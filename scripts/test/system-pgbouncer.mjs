import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../contracts/test/free-port.ts';
import { giveTo } from '../../server/src/db/embedded/cluster.ts';
import { chooseRunAs, commandLine } from '../../server/src/db/embedded/programs.ts';

/** The distribution's PgBouncer; undefined if there is none. */
export function findPgBouncer() {
  const folders = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`.split(':').filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
}

/**
 * Starts PgBouncer in transaction mode in front of the server at `url` (it needs access to its socket), for every
 * database by name. Returns `{url, stop}`.
 */
export async function startPgBouncer(program, url, poolSize = 8) {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-pgbouncer-'));
  // PgBouncer, like PostgreSQL, does not run as root.
  const programs = { packageRoot: folder, initdb: program, postgres: program };
  const as = await chooseRunAs({ programs, clusterDir: join(folder, 'none'), unshare: 'unshare' });
  const server = new URL(url);
  const host = server.searchParams.get('host') ?? server.hostname;
  const port = await freePort();
  const user = decodeURIComponent(server.username);
  const database = ['host', host, 'user', user, ...(server.port === '' ? [] : ['port', server.port])];
  const pairs = database.flatMap((word, index) => (index % 2 === 0 ? [`${word}=${database[index + 1]}`] : []));
  const lines = [
    `[databases]\n* = ${pairs.join(' ')}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
    `auth_type = any\npool_mode = transaction\ndefault_pool_size = ${poolSize}\nmax_client_conn = 2000\nmax_db_connections = 0`,
  ];
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o644 });
  await giveTo(as, folder);
  const line = commandLine(as, program, [file]);
  const child = spawn(line.command, line.args, { ...line.options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  process.on('exit', () => child.kill('SIGKILL'));
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url: `postgres://${user}@127.0.0.1:${port}/postgres`,
    output: () => output,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
