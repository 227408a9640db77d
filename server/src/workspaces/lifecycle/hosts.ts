import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { ConfigError } from '../../config/config.ts';
import type { RowDeps } from './rows.ts';

/**
 * The only writer of `workspace_hosts`: workspaces of `local` and `docker` run on the one machine that has their homes
 * and sockets.
 */

/** A machine that has not reported for this long is considered gone. */
const silentSeconds = 60;
const idPattern = /^[0-9a-f-]{36}$/;

/** Identifies this DATA_DIR, and so the machine it is on. Created once. */
export async function readHostId(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'workspaces');
  const file = join(folder, 'host-id');
  await mkdir(folder, { recursive: true, mode: 0o711 });
  try {
    await writeFile(file, `${randomUUID()}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const id = (await readFile(file, 'utf8')).trim();
  if (!idPattern.test(id)) throw new ConfigError([`${file} does not contain the id that was written to it`]);
  return id;
}

/**
 * Reports that this machine has the local workspaces. Returns undefined, or the name of another machine that reports
 * the same.
 */
export async function showHost(deps: RowDeps, host: string): Promise<string | undefined> {
  const { rows } = await sql<{ host: string }>`
    insert into workspace_hosts (runtime, host, name) values ('local', ${host}, ${hostname()})
    on conflict (runtime) do update set host = excluded.host, name = excluded.name, seen_at = now()
    where workspace_hosts.host = excluded.host
      or workspace_hosts.seen_at < now() - ${silentSeconds} * interval '1 second'
    returning host`.execute(deps.db.kysely);
  if (rows.length > 0) return undefined;
  const row = await deps.db.kysely.selectFrom('workspace_hosts').select('name').executeTakeFirst();
  return row?.name ?? 'another machine';
}

/** Throws ConfigError if another machine has this database's local workspaces. */
export async function claimHost(deps: RowDeps, host: string): Promise<void> {
  const other = await showHost(deps, host);
  if (other === undefined) return;
  throw new ConfigError([
    `WORKSPACE_MODE is local or docker, which is for one machine, and ${other} runs the workspaces of this database ` +
      '(or did until less than a minute ago); use kubernetes for several machines, or disabled here',
  ]);
}
