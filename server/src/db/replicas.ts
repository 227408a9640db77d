import { randomUUIDv7 } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from 'pg';
import { version } from '../config/config.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { executedMigrations, listMigrations, migrate, refuseNewer } from './migrate.ts';
import type { Database, DatabaseLog } from './pool.ts';

/**
 * Keeps replicas of two releases from using one database at the same time: they may read the schema, stored credentials
 * and signals differently. Each replica has a row in `replicas` and renews it; a replica of another release waits until
 * no such row is left before it migrates the database and serves. Only this file writes that table.
 */

/** The version, and the newest migration: two builds with the same version may have different schemas. */
export type Release = { version: string; schema: string };

/** In milliseconds; tests shorten them. */
export type ReplicaTimings = {
  beatMs: number;
  /** A replica that was silent for so long counts as gone. */
  goneMs: number;
  /** How long to wait for another release to go. */
  limitMs: number;
  pollMs: number;
  /** How often a waiting replica logs that it waits. */
  sayMs: number;
};

export const replicaTimings: ReplicaTimings = {
  beatMs: 5_000,
  goneMs: 20_000,
  limitMs: 15 * 60_000,
  pollMs: 250,
  sayMs: 30_000,
};

export type Replica = {
  /** Migrations that this process applied. */
  applied: readonly string[];
  /** True if no other replica served the database at that moment. */
  isFirst: boolean;
  /** Aborts with a DisplacedError once another release uses the database: this one must stop. */
  displaced: AbortSignal;
  /** Removes the row, so that another release need not wait. To be called when the database is no longer used. */
  leave(): Promise<void>;
};

export type Joining = {
  db: Database;
  log: DatabaseLog;
  signal: AbortSignal;
  clock?: Clock;
  /** This release, unless a test plays another one. */
  release?: Release;
  timings?: ReplicaTimings;
};

/** Why a replica stops by itself. */
export class DisplacedError extends Error {
  override readonly name = 'DisplacedError';
}

type Other = { release: string; host: string };
type Joined = { applied: string[]; isFirst: boolean };
type Self = { db: Database; id: string; release: Release; goneMs: number };

// Two numbers, so that it shares no space with the locks of one number that others take.
const gate = [0x686f6d65, 1];

/** This build's version and newest migration. */
export async function ownRelease(): Promise<Release> {
  return { version, schema: (await listMigrations()).at(-1) ?? '' };
}

/**
 * Migrates the database and registers this process as one of its replicas, as soon as none of another release is left.
 * Throws if the database is newer, if the others stay too long, or with the signal's reason.
 */
export async function joinReplicas(options: Joining): Promise<Replica> {
  const { db, log, signal, clock = systemClock, timings = replicaTimings } = options;
  // No other replica can use the embedded database.
  if (db.alone) return alone(await migrate(db));
  const release = options.release ?? (await ownRelease());
  const self: Self = { db, id: randomUUIDv7(), release, goneMs: timings.goneMs };
  const startedAt = clock.elapsed();
  let sayAt = startedAt;
  for (;;) {
    const found = await atTheGate(self, (client) => join(self, client));
    if (found !== undefined && !Array.isArray(found)) return { ...found, ...renewed(self, { log, clock, timings }) };
    const now = clock.elapsed();
    if (found !== undefined && now - startedAt > timings.limitMs) throw new Error(stayed(found));
    if (found !== undefined && now >= sayAt) {
      log.warn({ waitsFor: found }, 'waiting until every replica of another release has stopped (docs/upgrading.md)');
      sayAt = now + timings.sayMs;
    }
    await clock.sleep(timings.pollMs, signal);
  }
}

function alone(applied: string[]): Replica {
  return { applied, isFirst: true, displaced: new AbortController().signal, leave: async () => undefined };
}

/** Runs `work` while no other replica joins or migrates; undefined while one does, since a migration may take any time. */
async function atTheGate<T>({ db }: Self, work: (client: Client) => Promise<T>): Promise<T | undefined> {
  const client = await db.openClient();
  try {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', gate);
    return rows[0]?.locked === true ? await work(client) : undefined;
  } finally {
    await client.end();
  }
}

/** Migrates and registers, or resolves with the replicas of other releases. */
async function join(self: Self, client: Client): Promise<Joined | Other[]> {
  const executed = await executedMigrations(self.db);
  refuseNewer(await listMigrations(), executed);
  const others = executed.length === 0 ? [] : await othersOf(self, client);
  if (others.length > 0) return others;
  const applied = await migrate(self.db);
  return { applied, isFirst: await register(self, client) };
}

/** Live replicas of other releases; those that have been silent for too long are removed. */
async function othersOf({ release, goneMs }: Self, client: Client): Promise<Other[]> {
  const { rows: tables } = await client.query(`select 1 where to_regclass('replicas') is not null`);
  if (tables.length === 0) return unregistered(client);
  await client.query(`delete from replicas where seen_at < now() - $1 * interval '1 millisecond'`, [goneMs]);
  const { rows } = await client.query<Other>(
    'select release, host from replicas where (release, schema) <> ($1, $2) order by id limit 20',
    [release.version, release.schema],
  );
  return rows;
}

/**
 * Replicas of releases before the table `replicas`. Each queries the database every few seconds; a pooler keeps
 * connections of processes that have gone, so only those in use count.
 */
async function unregistered(client: Client): Promise<Other[]> {
  const { rows } = await client.query<Other>(
    `select distinct 'an earlier release' as release, coalesce(host(client_addr), 'local') as host from pg_stat_activity
     where datname = current_database() and application_name = 'homeport'
       and (state <> 'idle' or state_change > now() - interval '15 seconds') limit 20`,
  );
  return rows;
}

/** True if no other replica is registered. */
async function register({ id, release }: Self, client: Client): Promise<boolean> {
  const { rows } = await client.query<{ others: boolean }>(
    `insert into replicas (id, release, schema, host) values ($1, $2, $3, $4)
     returning exists (select from replicas) as others`,
    [id, release.version, release.schema, hostname().slice(0, 255)],
  );
  return rows[0]?.others !== true;
}

/** Renews the row until `leave`. */
function renewed(
  self: Self,
  { log, clock, timings }: { log: DatabaseLog; clock: Clock; timings: ReplicaTimings },
): Pick<Replica, 'displaced' | 'leave'> {
  const displacing = new AbortController();
  const beat = async (): Promise<void> => {
    const reason = await renew(self);
    if (reason === undefined || displacing.signal.aborted) return;
    log.error({ reason }, 'another release uses the database: this replica stops');
    displacing.abort(new DisplacedError(`Homeport stops: ${reason}`));
  };
  let beating = Promise.resolve();
  const timer = clock.every(timings.beatMs, () => {
    beating = beat().catch((error: unknown) =>
      log.debug({ error: String(error) }, 'failed to renew the registration of this replica'),
    );
    return beating;
  });
  return {
    displaced: displacing.signal,
    async leave() {
      timer.stop();
      await beating;
      await self.db.pool
        .query('delete from replicas where id = $1', [self.id])
        .catch((error: unknown) =>
          log.debug({ error: String(error) }, 'failed to remove the registration of this replica'),
        );
    },
  };
}

/** Why this replica must stop, if another release has taken the database over. */
async function renew(self: Self): Promise<string | undefined> {
  const { rows } = await self.db.pool.query<{ newest: string }>(
    `update replicas set seen_at = now() where id = $1
     returning (select max(name collate "C") from kysely_migration) as newest`,
    [self.id],
  );
  const [row] = rows;
  if (row !== undefined) return newerSchema(self, row.newest);
  // Silent for too long, and removed by a replica that joined.
  return atTheGate(self, (client) => rejoin(self, client));
}

async function rejoin(self: Self, client: Client): Promise<string | undefined> {
  const reason = newerSchema(self, (await executedMigrations(self.db)).at(-1) ?? '');
  if (reason !== undefined) return reason;
  const others = await othersOf(self, client);
  if (others.length > 0) return `it was away, and other releases use the database now: ${listed(others)}`;
  await register(self, client);
  return undefined;
}

function newerSchema({ release }: Self, newest: string): string | undefined {
  return newest > release.schema ? `a newer release has migrated the database (to ${newest})` : undefined;
}

function stayed(others: readonly Other[]): string {
  return `replicas of another release still use the database: ${listed(others)}. Stop them, then start this release (docs/upgrading.md).`;
}

function listed(others: readonly Other[]): string {
  return others.map(({ release, host }) => `${release} on ${host}`).join(', ');
}
