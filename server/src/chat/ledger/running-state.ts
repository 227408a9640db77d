import type { MessagePart } from '@homeport/contracts/chat/frames';
import { sql } from 'kysely';
import { savingParts } from '../../conversations/messages.ts';
import { inTransaction } from '../../db/pool.ts';
import { encodeJson } from '../../platform/json/json-pieces.ts';
import type { Platform } from '../../platform.ts';
import { budgetResetsAt } from '../../usage/budget-rule.ts';
import { countingCalls, type LedgerRow } from '../../usage/ledger.ts';
import { notify } from '../log/signals.ts';
import type { Maker, ResponseRow } from './response-start.ts';

/**
 * State of running responses in the database: leases, parts so far, and stop requests. A replica that lost its lease
 * changes nothing.
 */

/**
 * Stores a running message's complete parts and counts calls; a replica that lost its lease stores no parts. Resolves
 * with until when the owner's budget is used up by what was counted before.
 */
export async function saveCheckpoint(
  deps: Pick<Platform, 'db'>,
  response: Pick<ResponseRow, 'id' | 'generation'>,
  { parts, calls }: { parts: readonly MessagePart[]; calls: readonly LedgerRow[] },
): Promise<{ budgetResetsAt: Date | null }> {
  const message = { id: response.id, generation: response.generation, parts: await encodeJson(parts) };
  const { rows } = await sql<{ budgetResetsAt: Date | null }>`
    with saved as (${savingParts(message)}), ${countingCalls(calls)}
    select ${sql.raw(budgetResetsAt('r.owner_id'))} as "budgetResetsAt" from responses r where r.id = ${response.id}`.execute(
    deps.db.kysely,
  );
  return rows[0] ?? { budgetResetsAt: null };
}

/** Stores what the model wants back of a running response. */
export async function saveReasoningState(
  deps: Pick<Platform, 'db'>,
  response: Pick<ResponseRow, 'id' | 'generation'>,
  reasoningState: string,
): Promise<void> {
  await deps.db.kysely
    .updateTable('responses')
    .set({ echoes: reasoningState })
    .where('id', '=', response.id)
    .where('generation', '=', response.generation)
    .where('state', '=', 'running')
    .execute();
}

/** Renews leases; resolves with the generations that are still held. */
export async function renewLeases(
  deps: Pick<Platform, 'db'>,
  ids: readonly string[],
  maker: Maker,
): Promise<Map<string, number>> {
  const { rows } = await deps.db.pool.query<{ id: string; generation: number }>({
    name: 'renew-leases',
    text: `update responses set lease_until = now() + $3 * interval '1 millisecond'
      where id = any($1) and replica = $2 and state = 'running' returning id, generation`,
    values: [ids, maker.replica, maker.leaseMs],
  });
  return new Map(rows.map((row) => [row.id, row.generation]));
}

/**
 * Which of a replica's responses must stop, with their generations: by request, or because the owner's account was
 * disabled. One whose conversation was deleted has none.
 */
export async function findToStop(
  deps: Pick<Platform, 'db'>,
  replica: string,
  ids: readonly string[],
): Promise<Map<string, number | null>> {
  const { rows } = await deps.db.pool.query<{ id: string; generation: number | null }>({
    name: 'find-to-stop',
    text: `select made.id, r.generation from unnest($2::text[]) made (id)
      left join lateral (select * from responses where responses.id = made.id limit 1) r on true
      left join users u on u.id = r.owner_id
      where r.id is null or r.state = 'running' and r.replica = $1 and (r.stop_requested or not u.enabled)`,
    values: [replica, ids],
  });
  return new Map(rows.map((row) => [row.id, row.generation]));
}

/**
 * Asks the replica that makes the running response to stop; resolves with its id. With `assistantId` it stops no other.
 */
export async function requestStop(
  deps: Pick<Platform, 'db'>,
  chatId: string,
  assistantId: string | undefined,
): Promise<string | undefined> {
  return inTransaction(deps.db, async (trx) => {
    const query = trx
      .updateTable('responses')
      .set({ stop_requested: true })
      .where('chat_id', '=', chatId)
      .where('state', '=', 'running');
    const row = await (assistantId === undefined ? query : query.where('id', '=', assistantId))
      .returning('id')
      .executeTakeFirst();
    if (row === undefined) return undefined;
    await notify(trx, 'stop', [row.id]);
    return row.id;
  });
}
