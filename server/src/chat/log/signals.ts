import { type RawBuilder, sql } from 'kysely';
import type { Client } from 'pg';
import type { Database, DatabaseLog, Queryable } from '../../db/pool.ts';
import type { Clock } from '../../platform/clock.ts';

/** Signals between replicas. The database is authoritative; a lost signal costs a second, never content. */
export type Signal =
  | { kind: 'frames'; ids: readonly string[] }
  | { kind: 'ended'; ids: readonly string[] }
  | { kind: 'stop'; ids: readonly string[] }
  | { kind: 'input'; ids: readonly string[] }
  | { kind: 'approval'; ids: readonly string[] }
  /** The owner, then the conversation. */
  | { kind: 'activity'; ids: readonly string[] };

type SignalKind = Signal['kind'];
const kinds: readonly SignalKind[] = ['frames', 'ended', 'stop', 'input', 'approval', 'activity'];
export const signalChannel = 'homeport';
/** NOTIFY takes less than 8,000 bytes; ids are at most 128 characters. */
export const idsPerSignal = 50;
const reconnectMs = 1_000;

/** SQL text and value that send a signal; within a transaction it goes out at commit. */
function notifyPayloads(kind: SignalKind, ids: readonly string[]): string[] {
  const payloads: string[] = [];
  for (let start = 0; start < ids.length; start += idsPerSignal) {
    payloads.push(`${kind}:${ids.slice(start, start + idsPerSignal).join(',')}`);
  }
  return payloads;
}

/** SQL expression that notifies other replicas about a response, if there can be any. */
export function notifying(db: Pick<Database, 'alone'>, kind: SignalKind, id: string): RawBuilder<unknown> {
  return db.alone ? sql`null` : sql`pg_notify(${signalChannel}, ${`${kind}:${id}`})`;
}

export async function notify(db: Queryable, kind: SignalKind, ids: readonly string[]): Promise<void> {
  for (const payload of notifyPayloads(kind, ids))
    await sql`select pg_notify(${signalChannel}, ${payload})`.execute(db);
}

/** Listens on one connection of its own and comes back by itself when that is lost. */
export class SignalListener {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: DatabaseLog;
  readonly #listeners = new Set<(signal: Signal) => void>();
  readonly #stopping = new AbortController();
  #client: Client | undefined;
  #loop: Promise<void> | undefined;

  constructor(options: { db: Database; clock: Clock; log: DatabaseLog }) {
    this.#db = options.db;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Registers a listener; returns how to remove it. */
  on(listener: (signal: Signal) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies the listeners in this process. */
  notify(signal: Signal): void {
    for (const listener of this.#listeners) listener(signal);
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#client?.end().catch(() => undefined);
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#listen();
      } catch (error) {
        this.#log.debug({ error: String(error) }, 'failed to listen for notifications from other replicas');
      }
      await this.#clock.sleep(reconnectMs, this.#stopping.signal).catch(() => undefined);
    }
  }

  async #listen(): Promise<void> {
    const client = await this.#db.openClient();
    this.#client = client;
    const closed = new Promise<void>((resolve) => client.once('end', resolve));
    client.on('notification', (message) => {
      const signal = parseSignal(message.payload ?? '');
      if (signal !== undefined) this.notify(signal);
    });
    await client.query(`listen ${signalChannel}`);
    if (this.#stopping.signal.aborted) await client.end();
    await closed;
  }
}

function parseSignal(payload: string): Signal | undefined {
  const [name, list] = payload.split(':', 2);
  const kind = kinds.find((candidate) => candidate === name);
  return kind === undefined || list === undefined ? undefined : { kind, ids: list.split(',') };
}
