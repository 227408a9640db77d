import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { seededBelow } from '../../../contracts/test/seeded-random.ts';
import { readBudgetReset } from '../../src/usage/budget-state.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels, createChat, submission } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/** Budgets before they are saved: the people they would stop, and administrators, who can be exempt. */

let app: TestApp;
let admin: SignedIn;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin', name: 'Root' });
});
beforeEach(async () => {
  await app.database.database.pool.query('delete from usage_days');
  await app.database.database.pool.query('delete from usage_totals');
  await app.database.database.pool.query('delete from budgets');
});
after(async () => {
  await app.stop();
  await provider.close();
});

/** Adds usage of today, to a person's sums and to those of everyone. */
async function use(person: { id: string }, tokens: number, cost = 0, day = "(now() at time zone 'utc')::date") {
  const { pool } = app.database.database;
  await pool.query(
    `insert into usage_days (owner_id, day, provider_name, provider_model_id, calls, unpriced_calls, input_tokens,
       cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost)
     values ($1, ${day}, 'p', 'm', 1, 0, $2, 0, 0, 0, 0, $3)
     on conflict (owner_id, day, provider_name, provider_model_id) do update
       set input_tokens = usage_days.input_tokens + $2, cost = usage_days.cost + $3`,
    [person.id, tokens, cost],
  );
  await pool.query(
    `insert into usage_totals (day, shard, tokens, cost) values (${day}, 0, $1, $2)
     on conflict (day, shard) do update set tokens = usage_totals.tokens + $1, cost = usage_totals.cost + $2`,
    [tokens, cost],
  );
}

const preview = async (...budgets: object[]): Promise<Json> => {
  const { status, body, text } = await admin.call('POST /api/admin/budgets/preview', { budgets });
  assert.equal(status, 200, text);
  return body.preview;
};
const tokensADay = { unit: 'tokens', period: 'day' } as const;
const names = ({ people }: Json): string[] => people.map(({ name }: Json) => name);

test('previews whom new budgets would stop at once, and changes nothing', async () => {
  const ada = await app.signIn({ name: 'Ada' });
  const bob = await app.signIn({ name: 'Bob' });
  await use(ada, 121_885);
  await use(bob, 10);
  assert.deepEqual(await preview(), { count: 0, isCaller: false, people: [] });
  const each = await preview({ scope: 'each', ...tokensADay, limit: 5_000 });
  assert.deepEqual([each.count, names(each), each.isCaller], [1, ['Ada'], false]);
  const midnight = new Date(Math.ceil((Date.now() + 1) / 86_400_000) * 86_400_000).toISOString();
  assert.equal(each.people[0].resetsAt, midnight);
  const own = { scope: 'person', userId: ada.id, ...tokensADay, limit: null };
  assert.equal((await preview({ scope: 'each', ...tokensADay, limit: 5_000 }, own)).count, 0);
  const everyone = await preview({ scope: 'everyone', ...tokensADay, limit: 5_000, stopsAdministrators: false });
  assert.deepEqual([everyone.count, names(everyone)], [2, ['Ada', 'Bob']]);
  assert.deepEqual((await admin.call('GET /api/admin/budgets')).body.budgets, []);
});

test('leaves out people whom the present budgets stop already', async () => {
  const carl = await app.signIn({ name: 'Carl' });
  const dora = await app.signIn({ name: 'Dora' });
  await use(carl, 100);
  await use(dora, 300);
  const strict = { scope: 'person', userId: dora.id, ...tokensADay, limit: 1 };
  await admin.call('PUT /api/admin/budgets', { budgets: [strict] });
  const found = await preview(strict, { scope: 'each', ...tokensADay, limit: 50 });
  assert.deepEqual(names(found), ['Carl']);
});

test('budgets for everyone and for each person let administrators go on where they say so', async () => {
  await addModels(admin, provider, ['echo']);
  await use(admin, 500);
  const chatId = await createChat(admin);
  const send = async () => (await admin.call('POST /api/chat/start', submission(chatId, 'Hello'))).status;
  for (const scope of ['everyone', 'each']) {
    const budget = { scope, ...tokensADay, limit: 1, stopsAdministrators: false };
    assert.equal((await preview(budget)).isCaller, false);
    const saved = await admin.call('PUT /api/admin/budgets', { budgets: [budget] });
    assert.equal(saved.body.budgets[0].stopsAdministrators, false);
    assert.equal(await send(), 201, scope);
    assert.deepEqual((await admin.call('GET /api/me/usage')).body.budgets, []);
    await admin.call('PUT /api/admin/budgets', { budgets: [] });
    const strict = { scope, ...tokensADay, limit: 1 };
    const found = await preview(strict);
    assert.deepEqual([found.isCaller, found.people[0].userId], [true, admin.id]);
    await admin.call('PUT /api/admin/budgets', { budgets: [strict] });
    assert.equal(await send(), 429, scope);
  }
  const own = { scope: 'person', userId: admin.id, ...tokensADay, limit: 1 };
  await admin.call('PUT /api/admin/budgets', { budgets: [] });
  assert.equal((await preview(own)).isCaller, true);
});

test('a preview agrees with the rule that refuses messages, for any budgets and usage', async () => {
  const below = seededBelow(4304);
  const people = [admin];
  for (let index = 0; index < 5; index += 1) people.push(await app.signIn({ name: `Random ${index}` }));
  const { rows: everyone } = await app.database.database.pool.query('select id from users');
  for (let round = 0; round < 25; round += 1) {
    await app.database.database.pool.query('delete from usage_days');
    await app.database.database.pool.query('delete from usage_totals');
    await app.database.database.pool.query('delete from budgets');
    for (const person of people) {
      if (below(3) > 0) await use(person, below(100), below(100));
      await use(person, below(100), below(100), "date_trunc('month', now() at time zone 'utc')::date");
    }
    const budgets = new Map<string, object>();
    for (let index = 0; index < 6; index += 1) {
      const unit = below(2) === 0 ? 'tokens' : 'cost';
      const period = below(2) === 0 ? 'day' : 'month';
      const person = people[below(people.length)];
      const scope = ['everyone', 'each', 'person'][below(3)] ?? 'each';
      const limit = scope === 'person' && below(3) === 0 ? null : below(scope === 'everyone' ? 1_000 : 200);
      const own = scope === 'person' ? { userId: person?.id } : { stopsAdministrators: below(2) === 0 };
      budgets.set(`${scope} ${unit} ${period} ${own.userId}`, { scope, unit, period, limit, ...own });
    }
    const list = [...budgets.values()];
    const found = await preview(...list);
    await admin.call('PUT /api/admin/budgets', { budgets: list });
    const stopped: string[] = [];
    for (const { id } of everyone) {
      if ((await readBudgetReset(app.database.database.kysely, id)) !== null) stopped.push(id);
    }
    assert.equal(found.count, stopped.length, JSON.stringify(list));
    const shown = found.people.map(({ userId }: Json) => userId);
    assert.deepEqual(shown.toSorted(), stopped.toSorted().slice(0, 20), JSON.stringify(list));
  }
});

test('refuses a preview like the budgets themselves, and to others', async () => {
  const person = await app.signIn();
  const call = async (budgets: object[], by = admin) =>
    (await by.call('POST /api/admin/budgets/preview', { budgets })).status;
  const budget = { scope: 'each', ...tokensADay, limit: 5 };
  assert.equal(await call([budget, budget]), 400);
  assert.equal(await call([{ ...budget, limit: -1 }]), 400);
  assert.equal(await call([{ scope: 'person', userId: 'missing', ...tokensADay, limit: 5 }]), 404);
  assert.equal(await call([budget], person), 403);
});
