import type { Json, SignedIn, TestApp } from '../app.ts';

/** Helpers of usage tests. */

const cheap = { input: 1_000_000, output: 2_000_000, cachedInput: null, cacheWrite: null };

/** Gives all models of a user this price. */
export async function setPrices(user: SignedIn, prices: Json = cheap): Promise<void> {
  const { body } = await user.call('GET /api/providers');
  for (const { models } of body.providers) {
    for (const { id } of models) await user.call('PATCH /api/models', { id, prices });
  }
}

export type Call = {
  response_id: string;
  kind: string;
  step: number;
  provider_model_id: string;
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
  estimated: boolean;
};

/** A user's calls, in the order counted. */
export async function callsOf(app: TestApp, ownerId: string): Promise<Call[]> {
  const { rows } = await app.database.database.pool.query(
    'select * from usage_calls where owner_id = $1 order by at, generation, step, kind',
    [ownerId],
  );
  return rows;
}

/** Whether the sums of days and totals equal those of the calls. */
export async function sumsDiffer(app: TestApp): Promise<Json[]> {
  const { rows } = await app.database.database.pool.query(`
    with calls as (select owner_id, (at at time zone 'utc')::date as day, provider_name, provider_model_id, count(*) as calls,
        count(*) filter (where cost is null) as unpriced, count(*) filter (where price_estimated) as guessed, sum(input_tokens) as input, sum(output_tokens) as output, coalesce(sum(cost), 0) as cost
      from usage_calls group by 1, 2, 3, 4),
    days as (select owner_id, day, provider_name, provider_model_id, calls, unpriced_calls, estimated_price_calls, input_tokens, output_tokens, cost from usage_days),
    differing as ((table calls except table days) union all (table days except table calls)),
    totals as (select (select coalesce(sum(input + output), 0) from calls) - (select coalesce(sum(tokens), 0) from usage_totals) as tokens,
      (select coalesce(sum(cost), 0) from calls) - (select coalesce(sum(cost), 0) from usage_totals) as cost)
    select to_jsonb(d) as row from differing d union all select to_jsonb(t) from totals t where tokens <> 0 or cost <> 0`);
  return rows;
}
