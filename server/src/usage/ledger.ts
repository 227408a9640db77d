import type { Prices } from '@homeport/contracts/catalogue/model-facts';
import type { Usage } from '@homeport/contracts/chat/frames';
import { type RawBuilder, sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';

/**
 * The ledger: one row for each call of a model, added to the sums of its day in the same statement. Only this file
 * writes `usage_calls`, `usage_days` and `usage_totals`.
 */

export type CallKind = 'answer' | 'title' | 'summary' | 'delegate' | 'program';

/** The model of a call, as it was called then. */
export type CalledModel = {
  providerName: string;
  providerModelId: string;
  prices: Prices | null;
  /** The prices are those of the model's maker, though another server answered. */
  pricesEstimated?: boolean;
};

/** A call that has ended, however it ended. */
export type ModelCall = {
  kind: CallKind;
  model: CalledModel;
  usage: Usage & { cost: number | null };
  /** The provider told no count. */
  estimated: boolean;
};

/** With its place: a call is counted once, however often it is written. */
export type LedgerRow = ModelCall & { ownerId: string; responseId: string; generation: number; step: number };

/** Rows of `usage_totals` for one day. */
const shards = 16;

/** The statements that count these calls, as common table expressions for the statement that stores what they made. */
export function countingCalls(rows: readonly LedgerRow[]): RawBuilder<unknown> {
  // The days come before the totals, so that two statements never wait for each other.
  return sql`
    called as (
      insert into usage_calls (response_id, kind, generation, step, owner_id, provider_name, provider_model_id, input_tokens,
        cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, prices, cost, estimated, price_estimated)
      select * from json_to_recordset(${JSON.stringify(rows.map(stored))}::json) as x (
        response_id text, kind text, generation int, step int, owner_id text, provider_name text, provider_model_id text,
        input_tokens bigint, cached_input_tokens bigint, cache_write_tokens bigint, output_tokens bigint,
        reasoning_tokens bigint, prices jsonb, cost bigint, estimated boolean,
        price_estimated boolean)
      on conflict do nothing returning *, (at at time zone 'utc')::date as day
    ), called_days as (
      insert into usage_days as d (owner_id, day, provider_name, provider_model_id, calls, unpriced_calls, input_tokens,
        cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, estimated_price_calls)
      select owner_id, day, provider_name, provider_model_id, count(*), count(*) filter (where cost is null), sum(input_tokens),
        sum(cached_input_tokens), sum(cache_write_tokens), sum(output_tokens), sum(reasoning_tokens), coalesce(sum(cost), 0),
        count(*) filter (where price_estimated)
      from called group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (owner_id, day, provider_name, provider_model_id) do update set calls = d.calls + excluded.calls,
        unpriced_calls = d.unpriced_calls + excluded.unpriced_calls, input_tokens = d.input_tokens + excluded.input_tokens,
        cached_input_tokens = d.cached_input_tokens + excluded.cached_input_tokens,
        cache_write_tokens = d.cache_write_tokens + excluded.cache_write_tokens,
        output_tokens = d.output_tokens + excluded.output_tokens,
        reasoning_tokens = d.reasoning_tokens + excluded.reasoning_tokens, cost = d.cost + excluded.cost,
        estimated_price_calls = d.estimated_price_calls + excluded.estimated_price_calls
      returning d.day
    ), called_totals as (
      insert into usage_totals as t (day, shard, tokens, cost)
      select c.day, hashtext(c.owner_id) & ${sql.lit(shards - 1)}, sum(c.input_tokens + c.output_tokens), coalesce(sum(c.cost), 0)
      from called c where c.day in (select day from called_days) group by 1, 2 order by 1, 2
      on conflict (day, shard) do update set tokens = t.tokens + excluded.tokens, cost = t.cost + excluded.cost
    )`;
}

/** Counts calls by themselves, when nothing else is stored with them. */
export async function countCalls(db: Queryable, rows: readonly LedgerRow[]): Promise<void> {
  if (rows.length > 0) await sql`with ${countingCalls(rows)} select 1`.execute(db);
}

function stored({ kind, model, usage, estimated, ownerId, responseId, generation, step }: LedgerRow) {
  return {
    response_id: responseId,
    kind,
    generation,
    step,
    owner_id: ownerId,
    provider_name: model.providerName,
    provider_model_id: model.providerModelId,
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens ?? 0,
    prices: model.prices,
    cost: usage.cost,
    estimated,
    price_estimated: model.pricesEstimated === true && usage.cost !== null,
  };
}
