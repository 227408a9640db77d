import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { giveTo } from '../../server/src/db/embedded/cluster.ts';
import { chooseRunAs, commandLine } from '../../server/src/db/embedded/programs.ts';
import { throwAwayFolder, throwAwaySettings } from '../../server/test/postgres.ts';

const run = promisify(execFile);
const installed = '/usr/lib/postgresql';

/** The newest PostgreSQL of the distribution, as `{version, bin}`; undefined if there is none. */
export function findSystemPostgres() {
  const versions = list(installed)
    .filter((name) => /^\d+$/.test(name) && list(join(installed, name, 'bin')).includes('initdb'))
    .sort((a, b) => Number(b) - Number(a));
  return versions[0] === undefined ? undefined : { version: versions[0], bin: join(installed, versions[0], 'bin') };
}

/** Starts PostgreSQL on a new cluster in a temporary folder, without durability. Returns `{url, stop}`. */
export async function startSystemPostgres({ bin }) {
  const folder = mkdtempSync(join(throwAwayFolder(), 'homeport-system-pg-'));
  const cluster = join(folder, 'postgres');
  const programs = { packageRoot: bin, initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  const as = await chooseRunAs({ programs, clusterDir: cluster, unshare: 'unshare' });
  await giveTo(as, folder);
  if (as.uid === undefined) chmodSync(folder, 0o700);
  const command = async (program, args) => {
    const line = commandLine(as, join(bin, program), args);
    await run(line.command, line.args, { ...line.options, timeout: 60_000 });
  };
  await command('initdb', [
    '-D',
    cluster,
    '-U',
    'homeport',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  ]);
  const chosen = { ...throwAwaySettings, listen_addresses: '', unix_socket_directories: folder };
  const settings = Object.entries(chosen)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
  await command('pg_ctl', ['start', '-w', '-D', cluster, '-o', settings, '-l', join(folder, 'log')]);
  return {
    url: `postgres://homeport@localhost/postgres?host=${encodeURIComponent(folder)}`,
    async stop() {
      await command('pg_ctl', ['stop', '-w', '-m', 'immediate', '-D', cluster]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function list(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
