import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { manualDate } from '../fakes/manual-clock.ts';
import { ScriptedRuntime } from '../fakes/scripted-runtime.ts';
import { aborted, quiet, workspacesOf } from './workspace-makers.ts';

/** Leases that keep a workspace running, and the end of an unused one. */

const runtime = new ScriptedRuntime();
const clock = manualDate();
/** Time also passes on its own: a caller that checks just before a start is done sleeps before it checks again. */
const ticking = setInterval(() => clock.advance(5), 5);
let one: TestApp;
let other: TestApp;
let user: SignedIn;
before(async () => {
  // Nor are leases renewed in the background: a lease that a test lets expire would be held again.
  const options = { workspaceRuntime: runtime, workspaceTimings: { ...quiet, renewMs: 1_000_000_000 }, clock };
  one = await startTestApp(options);
  other = await startTestApp({ ...options, database: one.database });
});
beforeEach(async () => {
  user = await one.signIn();
  await workspacesOf(one).start(user.id);
});
after(async () => {
  clearInterval(ticking);
  await other.stop();
  await one.stop();
  await runtime.destroy();
});

const query = (text: string) => one.database.database.pool.query(text, [user.id]);
const age = (interval: string) =>
  query(`update workspaces set last_activity_at = now() - interval '${interval}' where user_id = $1`);
const status = async () => (await user.call('GET /api/workspace/usage')).body;
const sweep = () => workspacesOf(other).sweep();

/** As a tool, a file, a terminal or a preview does. */
async function use(): Promise<void> {
  await (await workspacesOf(one).hold(user.id, 'transfer')).release();
}

test('a workspace that only messages started is stopped after two minutes with the reason', async () => {
  await age('119 seconds');
  await sweep();
  const running = await status();
  assert.equal(running.phase, 'running');
  const left = Date.parse(running.idleStopAt) - Date.now();
  assert.ok(left > -1_000 && left < 2_000, String(left));
  await workspacesOf(one).start(user.id);
  await sweep();
  assert.equal((await status()).phase, 'running', 'the next message gives it two more');
  await age('121 seconds');
  await sweep();
  const stopped = await status();
  assert.equal(stopped.phase, 'stopped');
  assert.match(stopped.message, /nothing used it for 2 minutes/);
});

test('one use keeps the whole idle time, until the next start', async () => {
  await use();
  await age('20 minutes');
  await sweep();
  assert.equal((await status()).phase, 'running');
  await user.call('DELETE /api/workspace/status');
  await workspacesOf(one).start(user.id);
  await age('3 minutes');
  await sweep();
  assert.equal((await status()).phase, 'stopped');
});

test('stops a workspace that was unused for half an hour, with the reason', async () => {
  await use();
  await age('29 minutes');
  await sweep();
  const running = await status();
  assert.equal(running.phase, 'running');
  const left = Date.parse(running.idleStopAt) - Date.now();
  assert.ok(left > 0 && left < 61_000, String(left));
  await age('31 minutes');
  await sweep();
  const stopped = await status();
  assert.equal(stopped.phase, 'stopped');
  assert.match(stopped.message, /nothing used it for 30 minutes/);
});

test('a lease keeps a workspace running, and the idle time begins when it is released', async () => {
  const hold = await workspacesOf(one).hold(user.id, 'turn');
  assert.equal((await status()).idleStopAt, undefined);
  await age('5 hours');
  await sweep();
  assert.equal((await status()).phase, 'running');
  await hold.release();
  await sweep();
  assert.equal((await status()).phase, 'running');
  assert.equal(hold.signal.aborted, false, 'a hold that was given back is told nothing');
});

test('a status request counts as use, takes no lease, and starts nothing', async () => {
  const daemons: unknown[] = [];
  const ask = (id: string) =>
    workspacesOf(one).ask(id, async (daemon) => {
      daemons.push((await daemon.health()).generation);
      const { rows } = await query('select id from workspace_leases where user_id = $1');
      return rows.length;
    });
  await age('31 minutes');
  assert.equal(await ask(user.id), 0);
  await sweep();
  assert.equal((await status()).phase, 'running');
  assert.deepEqual(daemons, [1]);
  await workspacesOf(one).stop(user.id);
  assert.deepEqual([await ask(user.id), await ask((await one.signIn()).id)], [undefined, undefined]);
  assert.equal((await status()).phase, 'stopped');
  assert.equal(daemons.length, 1);
});

test('a failing request detects a lost workspace, and otherwise throws its own error', async () => {
  const fail = () => Promise.reject(new Error('no answer'));
  await assert.rejects(workspacesOf(one).ask(user.id, fail), /no answer/);
  assert.equal((await status()).phase, 'running');
  await runtime.die(user.id, 'It ran out of memory');
  assert.equal(await workspacesOf(one).ask(user.id, fail), undefined);
  await until('its end is recorded', async () => (await status()).phase === 'stopped');
  const { rows } = await query('select phase, last_error from workspaces where user_id = $1');
  assert.deepEqual(rows, [{ phase: 'stopped', last_error: 'It ran out of memory' }]);
});

test('the lease of a lost replica counts for a minute', async () => {
  await workspacesOf(one).hold(user.id, 'turn');
  await age('5 hours');
  await query(`update workspace_leases set expires_at = now() - interval '1 second' where user_id = $1`);
  await sweep();
  assert.equal((await status()).phase, 'stopped');
});

test('renewing keeps held leases, even expired ones, and never a workspace of another start', async () => {
  const hold = await workspacesOf(one).hold(user.id, 'exec');
  const { rows } = await query(
    `select l.expires_at >= w.last_activity_at + interval '59 seconds' as full
     from workspace_leases l join workspaces w using (user_id) where user_id = $1`,
  );
  assert.deepEqual(rows, [{ full: true }]);
  await query('delete from workspace_leases where user_id = $1');
  await workspacesOf(one).leases.renew();
  const { rows: renewed } = await query('select kind from workspace_leases where user_id = $1');
  assert.deepEqual(renewed, [{ kind: 'exec' }]);
  await workspacesOf(other).stop(user.id);
  await workspacesOf(other).start(user.id);
  await workspacesOf(one).leases.renew();
  assert.equal(hold.signal.aborted, true);
  assert.deepEqual((await query('select kind from workspace_leases where user_id = $1')).rows, []);
});

for (const kind of ['terminal', 'transfer'] as const) {
  test(`a ${kind} without activity releases its workspace after ten minutes, and holds it again when active`, async () => {
    const hold = await workspacesOf(one).hold(user.id, kind);
    const leases = async () =>
      (await query('select id from workspace_leases where user_id = $1 and expires_at > now()')).rows.length;
    const expire = () =>
      query(`update workspace_leases set expires_at = now() - interval '1 second' where user_id = $1`);
    clock.advance(9 * 60_000);
    await expire();
    await workspacesOf(one).leases.renew();
    assert.equal(await leases(), 1);
    hold.touch();
    clock.advance(9 * 60_000);
    await expire();
    await workspacesOf(one).leases.renew();
    assert.equal(await leases(), 1);
    clock.advance(2 * 60_000);
    await expire();
    await workspacesOf(one).leases.renew();
    assert.equal(await leases(), 0);
    assert.equal(hold.signal.aborted, false, 'it still works while the workspace runs');
    hold.touch();
    await until('the lease is back', async () => (await leases()) === 1);
    await hold.release();
  });
}

test('a turn and a command keep their workspace without activity', async () => {
  const holds = [await workspacesOf(one).hold(user.id, 'turn'), await workspacesOf(one).hold(user.id, 'exec')];
  clock.advance(3 * 3_600_000);
  await query(`update workspace_leases set expires_at = now() - interval '1 second' where user_id = $1`);
  await workspacesOf(one).leases.renew();
  const { rows } = await query('select id from workspace_leases where user_id = $1 and expires_at > now()');
  assert.equal(rows.length, 2);
  for (const hold of holds) await hold.release();
});

test('a command in the background keeps its workspace for two hours after its last use', async () => {
  runtime.setProcesses(user.id, 1);
  await age('119 minutes');
  await sweep();
  assert.equal((await status()).phase, 'running');
  await age('121 minutes');
  await sweep();
  assert.equal((await status()).phase, 'stopped');
});

test('stops a workspace between two uses after a day', async () => {
  runtime.setProcesses(user.id, 1);
  await query(`update workspaces set started_at = now() - interval '25 hours' where user_id = $1`);
  await age('4 minutes');
  await sweep();
  assert.equal((await status()).phase, 'running');
  await age('6 minutes');
  const hold = await workspacesOf(one).hold(user.id, 'turn');
  await age('6 minutes');
  await sweep();
  assert.equal((await status()).phase, 'running');
  await hold.release();
  await age('6 minutes');
  await sweep();
  assert.match((await status()).message, /a day/);
});

test('notifies the holder of a workspace that a wrong clock stopped as unused', async () => {
  const hold = await workspacesOf(one).hold(user.id, 'terminal');
  await age('1 day');
  await query('delete from workspace_leases where user_id = $1');
  await sweep();
  await aborted(hold.signal);
});

/**
 * Users return just when four replicas find their workspaces unused. None can be stopped while it is held. Without the
 * touch of the row in takeLease leases are broken. No time passes by which one is unused, however slow the machine is:
 * its last use is set back in time.
 */
test('four sweepers never stop a workspace under its holder', async () => {
  const database = one.database;
  const shared = new ScriptedRuntime();
  const replicas = await Promise.all(
    Array.from({ length: 4 }, () =>
      startTestApp({ workspaceRuntime: shared, workspaceTimings: { ...quiet, pollMs: 5 }, database }),
    ),
  );
  const users = await Promise.all(Array.from({ length: 40 }, () => one.signIn()));
  const holders = new Map<string, number>();
  const counts = { leases: 0, stops: 0, violations: 0 };
  shared.onStop = (id) => {
    counts.stops += 1;
    if ((holders.get(id) ?? 0) > 0) counts.violations += 1;
  };
  const isContinued = () => counts.violations === 0 && (counts.leases < 600 || counts.stops < 60);
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  // Its health is not checked this long after its last use; the tested moment is between lease and stop.
  const forget = `update workspaces set last_activity_at = now() - interval '3 hours' where user_id = $1`;
  const work = users.map(async ({ id }, index) => {
    const workspaces = workspacesOf(replicas[index % replicas.length] ?? one);
    while (isContinued()) {
      const hold = await workspaces.hold(id, 'exec');
      holders.set(id, 1);
      counts.leases += 1;
      await wait(20 + random() * 40);
      if (hold.signal.aborted) counts.violations += 1;
      holders.set(id, 0);
      await hold.release();
      await wait(random() * 200);
      await database.database.pool.query(forget, [id]);
      await wait(random() * 60);
    }
  });
  const sweeps = replicas.map(async (replica) => {
    while (isContinued()) {
      await workspacesOf(replica).sweep();
      await wait(5);
    }
  });
  await Promise.all([...work, ...sweeps]);
  for (const replica of replicas) await replica.stop();
  await shared.destroy();
  assert.equal(counts.violations, 0, JSON.stringify(counts));
});
