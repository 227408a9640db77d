import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { type DaemonHealth, daemonProtocol } from '@homeport/contracts/workspace/daemon';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { manualDate } from '../fakes/manual-clock.ts';
import { ScriptedRuntime } from '../fakes/scripted-runtime.ts';
import { quiet, workspacesOf } from './workspace-makers.ts';

/** Workspaces whose daemon belongs to another release: drained, then replaced. */

const runtime = new ScriptedRuntime();
const clock = manualDate();
const ticking = setInterval(() => clock.advance(5), 5);
let app: TestApp;
let user: SignedIn;
before(async () => {
  app = await startTestApp({ workspaceRuntime: runtime, workspaceTimings: quiet, clock });
});
beforeEach(async () => {
  user = await app.signIn();
});
afterEach(() => {
  runtime.onHealth = undefined;
});
after(async () => {
  clearInterval(ticking);
  await app.stop();
  await runtime.destroy();
});

const status = async () => (await user.call('GET /api/workspace/status')).body;

/**
 * Starts the user's workspace, whose daemon then turns out to be of another release; later ones are of this release.
 */
async function startOther(otherHealth: (health: DaemonHealth) => unknown): Promise<void> {
  await runtimeStart();
  runtime.onHealth = ({ id, generation }, health) =>
    id === user.id && generation === 1 ? otherHealth(health) : undefined;
}

/** As a process that ran before this one did: no request here has read this daemon's version. */
async function runtimeStart(): Promise<void> {
  const other = await startTestApp({
    workspaceRuntime: runtime,
    workspaceTimings: quiet,
    clock,
    database: app.database,
  });
  await workspacesOf(other).start(user.id);
  await other.stop();
}

const others: Record<string, (health: DaemonHealth) => unknown> = {
  'an older version': (health) => ({ ...health, protocol: daemonProtocol - 1 }),
  'a newer version with another shape': ({ active, ...health }) => ({
    ...health,
    protocol: daemonProtocol + 1,
    active: { commands: active.processes },
    usage: undefined,
  }),
  'no version': ({ protocol: _, ...health }) => health,
  'no version and another shape': () => ({ ok: true, version: '0.0.9' }),
  'this version and another shape': ({ usage: _, ...health }) => health,
  'a version that is text': (health) => ({ ...health, protocol: 'v2' }),
};

for (const [name, health] of Object.entries(others)) {
  test(`replaces a workspace whose daemon reports ${name} when it is needed`, async () => {
    await startOther(health);
    const hold = await pass(workspacesOf(app).hold(user.id, 'turn'));
    assert.equal((await hold.daemon.health()).generation, 2);
    assert.deepEqual(runtime.generationsOf(user.id), [1, 2]);
    assert.equal((await status()).ready, true);
    await hold.release();
  });
}

/** Advances the time while a caller waits for the end of a drain. */
async function pass<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => clock.advance(100), 2);
  return work.finally(() => clearInterval(timer));
}

test('a running command keeps an older daemon for a bounded time and gets a notice, and new work waits meanwhile', async () => {
  await startOther((health) => ({ ...health, protocol: daemonProtocol - 1 }));
  runtime.setProcesses(user.id, 1);
  const sweeping = workspacesOf(app).sweep();
  const notice = () => runtime.requests.find(({ id, route }) => id === user.id && route === 'POST /v1/drain');
  await until('the notice', () => notice() !== undefined);
  await sweeping;
  assert.match(JSON.parse(notice()?.body ?? '').message, /restarts in 30 seconds/);
  let isHeld = false;
  const holding = workspacesOf(app)
    .hold(user.id, 'turn')
    .finally(() => {
      isHeld = true;
    });
  clock.advance(28_000);
  const reported = await status();
  assert.equal(reported.ready, false);
  assert.match(reported.message, /another release of Homeport.*restarts/);
  assert.deepEqual([isHeld, runtime.isRunning(user.id)], [false, true]);
  const hold = await pass(holding);
  assert.deepEqual(runtime.generationsOf(user.id), [1, 2]);
  await hold.release();
});

test('the drain ends as soon as nothing runs, and a workspace in use is started again', async () => {
  await startOther((health) => ({ ...health, protocol: daemonProtocol + 7 }));
  runtime.setProcesses(user.id, 1);
  await workspacesOf(app).sweep();
  await until('the notice', () => runtime.requests.some(({ id }) => id === user.id));
  runtime.setProcesses(user.id, 0);
  const before = clock.now();
  await until('the replacement', async () => {
    clock.advance(50);
    return (await status()).ready;
  });
  assert.ok(clock.now() - before < 20_000);
  assert.deepEqual(runtime.generationsOf(user.id), [1, 2]);
});

test('stops an unused workspace of another release with the reason, and the next use starts it', async () => {
  await startOther(({ protocol: _, ...health }) => health);
  await workspacesOf(app).sweep();
  await until('it is stopped', async () => (await status()).phase === 'stopped');
  assert.match((await status()).message, /another release/);
  assert.equal((await user.call('POST /api/workspace/status')).body.ready, true);
});

test('a requested start replaces a workspace of another release as well', async () => {
  await startOther(() => ({ ok: true }));
  const answer = await pass(user.call('POST /api/workspace/status'));
  assert.deepEqual([answer.status, answer.body.ready], [200, true]);
});

test('requests that start nothing do not reach a daemon of another release', async () => {
  await startOther(({ protocol: _, ...health }) => health);
  assert.equal(await workspacesOf(app).ask(user.id, async () => 'asked'), undefined);
});

test('an image with the daemon of another release fails its start immediately, with advice', async () => {
  runtime.onHealth = ({ id }, health) => (id === user.id ? { ...health, protocol: daemonProtocol - 1 } : undefined);
  const refused = await user.call('POST /api/workspace/status');
  assert.equal(refused.status, 503);
  assert.match(refused.body.error.message, /another release.*image/i);
  assert.equal((await status()).phase, 'stopped');
});
