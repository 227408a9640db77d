import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { usageCsv } from '../../src/usage/csv.ts';
import { costOf } from '../../src/usage/price.ts';
import { forgetOldCalls } from '../../src/usage/retention.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { seed } from '../database.ts';

let app: TestApp;
let admin: SignedIn;
let user: SignedIn;
before(async () => {
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin', name: '=HYPERLINK("https://example.org"), "me"' });
  user = await app.signIn({ name: 'Ada' });
  await app.database.database.pool.query(
    `insert into usage_days select owner, day::date, 'Provider', model, 2, case model when 'free' then 2 else 0 end, 100, 40, 0, 10, 3,
      case model when 'free' then 0 else 700 end
    from unnest($1::text[]) owner, unnest(array['free', '@priced']) model, unnest(array['2025-02-28', '2025-03-01', '2025-03-31']) day`,
    [[user.id, admin.id, 'a deleted account']],
  );
});
after(() => app.stop());

const march = { from: '2025-03-01', to: '2025-03-31' };

async function usage(caller: SignedIn, place: 'me' | 'admin', query: Record<string, string>): Promise<Json> {
  const { status, body, text } = await caller.call(`GET /api/${place}/usage`, undefined, { query });
  assert.equal(status, 200, text);
  return body.usage;
}

test('sums by day, model and user, and shows users only their own', async () => {
  const own = await usage(user, 'me', march);
  const total = {
    calls: 8,
    inputTokens: 400,
    cachedInputTokens: 160,
    cacheWriteTokens: 0,
    outputTokens: 40,
    reasoningTokens: 12,
    cost: 1400,
    unpricedCalls: 4,
    estimatedPriceCalls: 0,
  };
  assert.deepEqual(own.total, total);
  assert.deepEqual([own.from, own.to, own.by, own.isCut], ['2025-03-01', '2025-03-31', 'day', false]);
  assert.deepEqual(
    own.rows.map(({ day, calls, cost }: Json) => [day, calls, cost]),
    [
      ['2025-03-01', 4, 700],
      ['2025-03-31', 4, 700],
    ],
  );
  const models = await usage(user, 'me', { ...march, by: 'model' });
  assert.deepEqual(
    models.rows.map(({ providerModelId, calls, cost }: Json) => [providerModelId, calls, cost]),
    [
      ['@priced', 4, 1400],
      ['free', 4, null],
    ],
  );
  const people = await usage(admin, 'admin', { ...march, by: 'person' });
  const byId = new Map<string, Json>(people.rows.map((row: Json) => [row.userId, row]));
  assert.equal(byId.get(user.id)?.name, 'Ada');
  assert.deepEqual([byId.get('a deleted account')?.name, byId.get('a deleted account')?.calls], [null, 8]);
  assert.equal(people.total.calls, 24);
  // Times count by their day in UTC; a user never sees others by grouping by user.
  assert.equal((await usage(user, 'me', { from: '2025-03-01T01:00:00+02:00', to: '2025-03-01' })).from, '2025-02-28');
  assert.deepEqual(
    (await usage(user, 'me', { ...march, by: 'person' })).rows.map(({ userId }: Json) => userId),
    [user.id],
  );
  const nothing = await usage(user, 'me', {});
  assert.deepEqual([nothing.rows, nothing.total.calls, nothing.total.cost], [[], 0, 0]);
  assert.match(nothing.from, /^\d{4}-\d\d-01$/);
});

test('escapes names that look like formulas in CSV', async () => {
  const response = await admin.fetch('/api/admin/usage?from=2025-03-01&to=2025-03-31&by=person&format=csv');
  assert.match(response.headers.get('content-type') ?? '', /^text\/csv/);
  assert.match(
    response.headers.get('content-disposition') ?? '',
    /^attachment; filename="usage-by-person-2025-03-01-2025-03-31\.csv"/,
  );
  const lines = (await response.text()).split('\r\n');
  assert.equal(
    lines[0],
    'user_id,name,email,calls,input_tokens,cached_input_tokens,cache_write_tokens,output_tokens,reasoning_tokens,cost_micros,unpriced_calls,period_start,period_end',
  );
  const own = lines.find((line) => line.startsWith(admin.id));
  assert.equal(
    own,
    `${admin.id},"'=HYPERLINK(""https://example.org""), ""me""",${admin.email},8,400,160,0,40,12,1400,4,2025-03-01,2025-03-31`,
  );
  const models = await (await user.fetch('/api/me/usage?from=2025-03-01&to=2025-03-31&by=model&format=csv')).text();
  assert.match(models, /^Provider,'@priced,4,/m);
  assert.match(models, /^Provider,free,4,200,80,0,20,6,,4,/m);
});

test('a large CSV yields to other work while it is written', async () => {
  const zero = {
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    unpricedCalls: 0,
    estimatedPriceCalls: 0,
  };
  const row = {
    userId: 'u',
    name: 'A "name"',
    email: 'a@example.org',
    calls: 1,
    inputTokens: 1,
    outputTokens: 1,
    ...zero,
  };
  const rows = Array.from({ length: 20_000 }, () => ({ ...row, cost: 1 }));
  let turns = 0;
  let isDone = false;
  const countTurns = () => {
    turns += 1;
    if (!isDone) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const { from, to } = march;
  const text = await usageCsv({ from, to, by: 'person', rows, isCut: false, total: { ...row, cost: 1 } });
  isDone = true;
  assert.equal(text.split('\r\n').length, 20_002);
  assert.ok(turns >= 40, `${turns} turns`);
});

test('rejects days out of order or too many', async () => {
  const refused: Record<string, string>[] = [
    { from: '2025-03-02', to: '2025-03-01' },
    { from: '2024-01-01', to: '2025-12-31' },
    { from: '2000-01-01' },
    { from: '2025-02-30' },
    { from: 'yesterday' },
    { by: 'text' },
    { format: 'xlsx' },
  ];
  for (const query of refused) {
    const { status, body } = await admin.call('GET /api/admin/usage', undefined, { query });
    assert.deepEqual([status, body.error.code], [400, 'invalid_request'], JSON.stringify(query));
  }
});

test('reads a year of a busy installation from the daily sums, by the index of one user or of the days', async () => {
  const { database } = app.database;
  await seed(
    database,
    `insert into usage_days select 'p' || p, date '2024-01-01' + d, 'Provider', 'm', 5, 0, 100, 0, 0, 10, 0, 700
      from generate_series(1, 200) p, generate_series(0, 364) d;
    analyze usage_days`,
  );
  const plan = async (where: string) => {
    const { rows } = await database.pool.query(`explain select sum(calls) from usage_days where ${where}`);
    return JSON.stringify(rows);
  };
  assert.match(await plan(`owner_id = 'p7' and day between '2024-03-01' and '2024-03-31'`), /Index Cond/);
  assert.match(await plan(`day between '2024-03-01' and '2024-03-02'`), /Index Cond/);
  const year = await usage(admin, 'admin', { from: '2024-01-01', to: '2024-12-30', by: 'person' });
  assert.equal(year.total.calls, 200 * 365 * 5);
});

test('deletes calls after 400 days, a bounded number at a time, and keeps reports and budgets', async () => {
  const { pool, kysely } = app.database.database;
  const old = await app.signIn();
  const values = [old.id];
  await pool.query(
    `insert into usage_calls (response_id, kind, generation, step, at, owner_id, provider_name, provider_model_id, input_tokens,
      cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, estimated)
    select 'old-' || n, 'answer', 1, 1, now() - case when n <= 2500 then interval '401 days' else interval '399 days' end, $1, 'P', 'm',
      1, 0, 0, 1, 0, false from generate_series(1, 2502) n`,
    values,
  );
  await pool.query(
    `insert into usage_days select $1, (now() at time zone 'utc')::date - d, 'P', 'm', 1, 0, 1, 0, 0, 1, 0, 0 from unnest(array[0, 399, 401]) d`,
    values,
  );
  const limit = { scope: 'person', userId: old.id, unit: 'tokens', period: 'month', limit: 100 };
  assert.equal((await admin.call('PUT /api/admin/budgets', { budgets: [limit] })).status, 200);
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const sums = async () => ({
    usage: await usage(old, 'me', { from: day(402), to: day(10) }),
    month: (await old.call('GET /api/me/usage')).body,
  });
  const before = await sums();
  assert.equal(before.usage.total.calls, 2);
  assert.equal(before.month.budgets[0].spent, 2);

  const left = async () => (await pool.query('select 1 from usage_calls where owner_id = $1', values)).rowCount;
  assert.equal(await forgetOldCalls({ db: { kysely } }, AbortSignal.abort()), 0, 'a stop ends it');
  const removed = await Promise.all([1, 2].map(() => forgetOldCalls({ db: { kysely } }, new AbortController().signal)));
  assert.deepEqual([removed.reduce((sum, each) => sum + each, 0), await left()], [2500, 2], 'two replicas at once');
  assert.deepEqual(await sums(), before);
  const { rows } = await pool.query('explain select 1 from usage_calls where at < now() order by at limit 1');
  assert.match(JSON.stringify(rows), /usage_calls_by_time/);
});

test('a cost is exact, in whole millionths, and an unknown price in it makes it unknown', () => {
  const prices = { input: 3_000_000, output: 15_000_000, cachedInput: 300_000, cacheWrite: 3_750_000 };
  const usage = { inputTokens: 1_000, outputTokens: 200, cachedInputTokens: 600, cacheWriteTokens: 100 };
  assert.equal(costOf(usage, prices), 300 * 3 + 60 * 3 + 375 + 3_000);
  assert.equal(costOf(usage, { ...prices, cachedInput: null, cacheWrite: null }), 6_000);
  assert.equal(costOf(usage, { ...prices, output: null }), null);
  assert.equal(costOf({ inputTokens: 5, outputTokens: 0 }, { ...prices, output: null }), 15);
  assert.equal(costOf({ inputTokens: 1, outputTokens: 0 }, { ...prices, input: 499_999 }), 0);
  assert.equal(costOf({ inputTokens: 1, outputTokens: 0 }, { ...prices, input: 500_000 }), 1);
  assert.equal(costOf({ inputTokens: 1e9, outputTokens: 1e9 }, { ...prices, input: 1e12, output: 1e12 }), 2e15);
  assert.equal(costOf(usage, null), null);
  // As reported by the provider itself.
  assert.equal(costOf({ ...usage, cost: 12 }, prices), 12);
});
