import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { inTransaction, type Queryable } from '../../db/pool.ts';
import type { Platform } from '../../platform.ts';
import { indexTitle } from '../chat-titles.ts';
import { indexMessage } from '../messages.ts';

/** Records of one step, and milliseconds between two steps: a hundred records a second beside everything else. */
const stepSize = 20;
const restMs = 200;
const idleMs = 60_000;

/**
 * Rebuilds search texts that an older version wrote, until all are done. Progress is kept in `search_walks`,
 * which this file alone writes: a restart resumes there, and replicas alternate.
 */
export function startSearchWalks(deps: Pick<Platform, 'db' | 'clock' | 'log'>): { stop(): void; done: Promise<void> } {
  const stopping = new AbortController();
  const walk = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const hasMore = await step(deps).catch((error) => {
        deps.log.warn({ cause: error }, 'failed to index older messages for search; trying again in a minute');
        return undefined;
      });
      if (hasMore === false) return;
      await deps.clock.sleep(hasMore === undefined ? idleMs : restMs, stopping.signal);
    }
  };
  return { stop: () => stopping.abort(), done: walk().catch(() => undefined) };
}

/** False when nothing is left. */
async function step({ db }: Pick<Platform, 'db'>): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ what: 'messages' | 'chats'; after_id: string }>`
      select what, after_id from search_walks order by what limit 1 for update`.execute(trx);
    const [walk] = rows;
    if (walk === undefined) return false;
    const last =
      walk.what === 'messages' ? await walkMessages(trx, walk.after_id) : await walkTitles(trx, walk.after_id);
    if (last === undefined) await sql`delete from search_walks where what = ${walk.what}`.execute(trx);
    else await sql`update search_walks set after_id = ${last} where what = ${walk.what}`.execute(trx);
    return true;
  });
}

/** Resolves with the last id of the step; undefined at the end. */
async function walkMessages(trx: Queryable, after: string): Promise<string | undefined> {
  const query = trx.selectFrom('messages').select(['id', 'parts']).where('id', '>', after);
  const rows = await query.orderBy('id').limit(stepSize).execute();
  for (const { id, parts } of rows) {
    await indexMessage(trx, id, parts);
    // Long texts one after the other would hold up everybody else.
    await setImmediate();
  }
  return rows.at(-1)?.id;
}

async function walkTitles(trx: Queryable, after: string): Promise<string | undefined> {
  const query = trx.selectFrom('chats').select(['id', 'title']).where('id', '>', after);
  const rows = await query.orderBy('id').limit(stepSize).execute();
  for (const { id, title } of rows) await indexTitle(trx, id, title);
  return rows.at(-1)?.id;
}
