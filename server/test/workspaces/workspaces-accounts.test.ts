import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { ConfigError } from '../../src/config/config.ts';
import { claimHost } from '../../src/workspaces/lifecycle/hosts.ts';
import { beginStop } from '../../src/workspaces/lifecycle/rows.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { manualDate } from '../fakes/manual-clock.ts';
import { ScriptedRuntime } from '../fakes/scripted-runtime.ts';
import { aborted, quiet, workspacesOf } from './workspace-makers.ts';

/** The owners of workspaces, and workspaces that outlive the process that started them. */

const runtime = new ScriptedRuntime();
const options = { workspaceRuntime: runtime, workspaceTimings: quiet };
let one: TestApp;
let other: TestApp;
before(async () => {
  one = await startTestApp(options);
  other = await startTestApp({ ...options, database: one.database });
});
after(async () => {
  await other.stop();
  await one.stop();
  await runtime.destroy();
});

async function inside(app: TestApp, token: string, headers: Record<string, string> = {}) {
  const path = `${app.url}/api/internal/conversations`;
  const answer = await fetch(path, { headers: { authorization: `Bearer ${token}`, ...headers } });
  return [answer.status, answer.ok ? undefined : JSON.parse(await answer.text()).error.code];
}

async function enable(user: SignedIn, enabled: boolean): Promise<void> {
  const administrator = await one.signIn({ role: 'admin' });
  const { status, text } = await administrator.call('PATCH /api/admin/users', { id: user.id, enabled });
  assert.equal(status, 200, text);
}

test('a disabled account loses its workspace, its holds and its token on every replica, and starts again once enabled', async () => {
  const user = await one.signIn();
  const holds = [await workspacesOf(one).hold(user.id, 'turn'), await workspacesOf(other).hold(user.id, 'terminal')];
  const token = runtime.tokenOf(user.id);
  assert.deepEqual(await inside(other, token), [200, undefined]);
  await enable(user, false);
  for (const app of [one, other]) assert.deepEqual(await inside(app, token), [401, 'unauthorized']);
  await Promise.all(holds.map((hold) => aborted(hold.signal)));
  await until('nothing runs', () => !runtime.isRunning(user.id));
  await assert.rejects(workspacesOf(other).hold(user.id, 'turn'), { code: 'account_disabled' });
  assert.equal(runtime.generationsOf(user.id).length, 1);
  await enable(user, true);
  await workspacesOf(other).start(user.id);
  assert.deepEqual(runtime.generationsOf(user.id), [1, 2]);
  assert.deepEqual(await inside(one, token), [401, 'unauthorized']);
  assert.deepEqual(await inside(one, runtime.tokenOf(user.id)), [200, undefined]);
});

test('an account that was enabled again before its workspace was stopped keeps it', async () => {
  const user = await one.signIn();
  await workspacesOf(one).start(user.id);
  const stop = { id: randomUUID(), userId: user.id, reason: 'disabled' } as const;
  assert.equal(await beginStop(one.service.deps, stop, { kind: 'disabled' }), undefined);
  assert.deepEqual(await inside(one, runtime.tokenOf(user.id)), [200, undefined]);
});

test('an account that was disabled in the database loses its workspace as well', async () => {
  const user = await one.signIn();
  await workspacesOf(one).start(user.id);
  const token = runtime.tokenOf(user.id);
  await one.database.database.pool.query('update users set enabled = false where id = $1', [user.id]);
  assert.ok(['account_disabled', 'unauthorized'].includes(String((await inside(one, token))[1])));
  await until('nothing runs', () => !runtime.isRunning(user.id));
  assert.deepEqual(await inside(other, token), [401, 'unauthorized']);
});

test('a token opens only its own endpoints, and a cookie none of them', async () => {
  const user = await one.signIn();
  await workspacesOf(one).start(user.id);
  const token = runtime.tokenOf(user.id);
  const session = await fetch(`${one.url}/api/me`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(session.status, 401);
  const bare = await fetch(`${one.url}/api/internal/conversations`, { headers: { cookie: user.cookie ?? '' } });
  assert.equal(bare.status, 401);
  for (const wrong of [
    '',
    'wst_',
    `${token}x`,
    token.slice(0, -1),
    `wst_${'A'.repeat(43)}`,
    token.replace('wst_', 'xst_'),
  ]) {
    assert.deepEqual(await inside(one, wrong), [401, 'unauthorized'], wrong.slice(0, 8));
  }
  const stored = await one.database.database.pool.query('select * from workspaces where user_id = $1', [user.id]);
  assert.ok(!JSON.stringify(stored.rows).includes(token));
});

test('limits a workspace that floods its control plane, and no other one', async (t) => {
  const [loud, quietUser] = [await one.signIn(), await one.signIn()];
  for (const { id } of [loud, quietUser]) await workspacesOf(one).start(id);
  // Within a second more requests would be allowed, so no time passes here, however slow the machine is.
  const clock = manualDate();
  const still = await startTestApp({ ...options, database: one.database, clock });
  t.after(() => still.stop());
  const statuses: unknown[] = [];
  for (let round = 0; round < 11; round += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => inside(still, runtime.tokenOf(loud.id))));
    statuses.push(...answers.map(([status]) => status));
  }
  assert.deepEqual(statuses.sort(), [...Array(500).fill(200), ...Array(50).fill(429)]);
  assert.deepEqual(await inside(still, runtime.tokenOf(quietUser.id)), [200, undefined]);
  clock.advance(1_000);
  assert.deepEqual(await inside(still, runtime.tokenOf(loud.id)), [200, undefined]);
});

test('a workspace outlives its replica, and the next one continues it, even with a new encryption key', async () => {
  const user = await one.signIn();
  const oldKey = 'an-old-encryption-key-of-more-than-32-bytes';
  const newKey = 'a-new-encryption-key-of-more-than-32-bytes';
  const first = await startTestApp({ ...options, database: one.database, config: { encryptionKey: oldKey } });
  const hold = await workspacesOf(first).hold(user.id, 'turn');
  await first.stop();
  assert.equal(runtime.isRunning(user.id), true);
  const { rows } = await one.database.database.pool.query('select id from workspace_leases where user_id = $1', [
    user.id,
  ]);
  assert.deepEqual(rows, [], 'leases were given back');
  await hold.release();

  const config = { encryptionKey: newKey, previousEncryptionKeys: [oldKey] };
  const second = await startTestApp({ ...options, database: one.database, config });
  const again = await workspacesOf(second).hold(user.id, 'turn');
  assert.equal((await again.daemon.health()).generation, 1);
  await second.stop();

  const third = await startTestApp({ ...options, database: one.database, config: { encryptionKey: newKey } });
  await workspacesOf(third).sweep();
  await until('what can never be opened is ended', () => !runtime.isRunning(user.id));
  const status = await workspacesOf(third).status(user.id);
  assert.match(status.message ?? '', /encryption key/);
  await third.stop();
});

test('local workspaces belong to one machine for as long as it renews its lease', async () => {
  const { database } = one.database;
  const [here, there] = [randomUUID(), randomUUID()];
  await claimHost({ db: database }, here);
  await claimHost({ db: database }, here);
  await assert.rejects(claimHost({ db: database }, there), (error: Error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, /which is for one machine/);
    return true;
  });
  await database.pool.query(`update workspace_hosts set seen_at = now() - interval '61 seconds'`);
  await claimHost({ db: database }, there);
  await assert.rejects(claimHost({ db: database }, here), ConfigError);
});
