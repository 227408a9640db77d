import type { Database } from '../../../db/pool.ts';
import type { Clock } from '../../../platform/clock.ts';
import { forgetTurns, listTurns } from '../../../workspaces/changes.ts';
import type { Daemon } from '../../../workspaces/daemon.ts';

/** How often the workspace of one person is looked through for what no message names any more. */
const sweepMs = 30 * 60_000;
const peopleMax = 10_000;

/** Deletes the recorded changes of answers that no longer exist. */
export class ChangesSweep {
  readonly #deps: { db: Database; clock: Clock };
  readonly #sweptAt = new Map<string, number>();

  constructor(deps: { db: Database; clock: Clock }) {
    this.#deps = deps;
  }

  /** Does nothing if it was done a short while ago. */
  async sweep(ownerId: string, daemon: Daemon, signal: AbortSignal): Promise<void> {
    const now = this.#deps.clock.now();
    if ((this.#sweptAt.get(ownerId) ?? 0) > now - sweepMs) return;
    if (this.#sweptAt.size >= peopleMax) this.#sweptAt.clear();
    this.#sweptAt.set(ownerId, now);
    const turns = await listTurns(daemon, signal);
    if (turns.length === 0) return;
    const { kysely } = this.#deps.db;
    const kept = await kysely.selectFrom('messages').select('id').where('id', 'in', turns).execute();
    const running = await kysely.selectFrom('responses').select('id').where('id', 'in', turns).execute();
    const known = new Set([...kept, ...running].map(({ id }) => id));
    const gone = turns.filter((turn) => !known.has(turn));
    if (gone.length > 0) await forgetTurns(daemon, gone, signal);
  }
}
