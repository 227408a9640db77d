import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { circuitOf } from '../../src/catalogue/circuits.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/** The administrators' overview: the state of the installation at a glance. */

let app: TestApp;
let admin: SignedIn;
let provider: FakeProvider;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-overview-'));
  provider = await startFakeProvider();
  app = await startTestApp({ config: { dataDir: folder, backupSchedule: 'daily 03:00' } });
  admin = await app.signIn({ role: 'admin' });
});
after(async () => {
  await app.stop();
  await provider.close();
  await rm(folder, { recursive: true, force: true });
});

const read = async (): Promise<Json> => {
  const { status, body, text } = await admin.call('GET /api/admin/overview');
  assert.equal(status, 200, text);
  return body.overview;
};

test('shows version, disk, schedule and people to administrators only', async () => {
  const disabled = await app.signIn();
  const away = await app.signIn();
  await admin.call('PATCH /api/admin/users', { id: disabled.id, enabled: false });
  await app.database.database.pool.query(
    `update sessions set updated_at = now() - interval '40 days' where user_id in ($1, $2)`,
    [away.id, disabled.id],
  );
  await admin.call('POST /api/invitations', { email: 'guest@example.org' });
  const overview = await read();
  assert.equal(overview.version, app.service.deps.config.version);
  assert.ok(overview.disk.free > 0 && overview.disk.free <= overview.disk.total);
  assert.match(overview.backups.nextAt, /T03:00:00\.000Z$/);
  assert.ok(Date.parse(overview.backups.nextAt) > Date.now());
  assert.deepEqual(overview.people, { total: 3, active: 1, disabled: 1, withoutModel: 2, invited: 1 });
  assert.equal((await away.call('GET /api/admin/overview')).status, 403);
  assert.equal((await app.anonymous.call('GET /api/admin/overview')).status, 401);
});

test('shows a backup as soon as it is made', async () => {
  assert.equal((await read()).backups.lastDone, null);
  const { id } = (await admin.call('POST /api/admin/backups', {})).body.backup;
  await until('the backup is done', async () => (await read()).backups.lastDone?.id === id);
  const { backups } = await read();
  assert.deepEqual([backups.isRunning, backups.lastEnded.id], [false, id]);
});

test('sums this month and the last one, and shows budgets for everyone', async () => {
  const month = `${new Date().toISOString().slice(0, 7)}-01`;
  await app.database.database.pool.query(
    `insert into usage_totals (day, shard, tokens, cost) values ($1::date, 90, 1000, 2500000), ($1::date, 91, 10, 500000),
       ($1::date - 1, 90, 7, 700000), ($1::date - interval '2 months', 90, 9, 900000)`,
    [month],
  );
  await admin.call('PUT /api/admin/budgets', {
    budgets: [
      { scope: 'everyone', unit: 'cost', period: 'month', limit: 4_000_000 },
      { scope: 'each', unit: 'cost', period: 'month', limit: 1 },
    ],
  });
  const { usage, budgets } = await read();
  assert.deepEqual(usage, { month, cost: 3_000_000, tokens: 1010, lastMonthCost: 700_000 });
  assert.deepEqual(
    budgets.map(({ resetsAt, ...rest }: Json) => rest),
    [{ unit: 'cost', period: 'month', limit: 4_000_000, spent: 3_000_000 }],
  );
});

test('shows a provider whose calls fail, and its end', async () => {
  await addModels(admin, provider, ['echo']);
  const [{ id, baseUrl }] = (await admin.call('GET /api/providers')).body.providers;
  assert.deepEqual((await read()).outages, []);
  const circuit = circuitOf({ id, base_url: baseUrl });
  for (let failures = 0; failures < 5; failures += 1) circuit.fail('closed', 'unreachable', Date.now());
  const [found] = (await read()).outages;
  assert.deepEqual([found.providerId, found.owner.id, found.outage.reason], [id, admin.id, 'unreachable']);
  circuit.succeed();
  assert.deepEqual((await read()).outages, []);
});
