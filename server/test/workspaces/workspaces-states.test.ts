import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, afterEach, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { RuntimeFailure } from '../../src/workspaces/runtime.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { manualDate } from '../fakes/manual-clock.ts';
import { ScriptedRuntime } from '../fakes/scripted-runtime.ts';
import { aborted, quiet, workspacesOf } from './workspace-makers.ts';

/** Starts and stops, on two replicas with one runtime and one database. */

const runtime = new ScriptedRuntime();
const clock = manualDate();
/** Time also passes on its own: a caller that checks just before a start is done sleeps before it checks again. */
const ticking = setInterval(() => clock.advance(5), 5);
let one: TestApp;
let other: TestApp;
before(async () => {
  const options = { workspaceRuntime: runtime, workspaceTimings: quiet, clock };
  one = await startTestApp(options);
  other = await startTestApp({ ...options, database: one.database });
});
afterEach(() => {
  runtime.onStart = undefined;
  runtime.onStop = undefined;
});
after(async () => {
  clearInterval(ticking);
  await other.stop();
  await one.stop();
  await runtime.destroy();
});

const query = (text: string, values: unknown[]) => one.database.database.pool.query(text, values);

/** The same user at the other replica. */
function at(app: TestApp, user: SignedIn, route: string) {
  const [method = '', path = ''] = route.split(' ');
  return fetch(app.url + path, { method, headers: { cookie: user.cookie ?? '' } }).then(async (answer) => ({
    status: answer.status,
    body: JSON.parse(await answer.text()),
  }));
}
const start = 'POST /api/workspace/status';
const stop = 'DELETE /api/workspace/status';
const status = 'GET /api/workspace/status';
/** Advances the time while a caller waits for the other replica; never so far that a slow start is given up. */
async function whileTimePasses<T>(work: Promise<T>): Promise<T> {
  let left = 40_000;
  const timer = setInterval(() => {
    if (left <= 0) return;
    left -= 20;
    clock.advance(20);
  }, 2);
  return work.finally(() => clearInterval(timer));
}

test('fifty concurrent starts on two replicas start one workspace', async () => {
  for (let round = 0; round < 10; round += 1) {
    const user = await one.signIn();
    const asked = Array.from({ length: 50 }, (_, index) => at(index % 2 === 0 ? one : other, user, start));
    const answers = await whileTimePasses(Promise.all(asked));
    assert.deepEqual([...new Set(answers.map(({ status, body }) => `${status} ${body.phase}`))], ['200 running']);
    await until('it is ready, once not all ask for its health', async () => (await at(one, user, status)).body.ready);
    assert.equal(runtime.asked.filter((id) => id === user.id).length, 1);
    assert.deepEqual(runtime.generationsOf(user.id), [1]);
  }
});

test('a slow start reports its progress, and after 90 seconds it is given up with its reason', async () => {
  const user = await one.signIn();
  let given: AbortSignal | undefined;
  const begun = Promise.withResolvers<void>();
  runtime.details.set(user.id, 'Pulling the image…');
  const before = clock.now();
  runtime.onStart = (_workspace, signal) => {
    given = signal;
    begun.resolve();
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const waiting = at(one, user, start);
  await begun.promise;
  const elsewhere = at(other, user, start);
  await until('the message', async () => (await at(other, user, status)).body.message === 'Pulling the image…');
  assert.deepEqual((await at(other, user, status)).body, {
    phase: 'starting',
    ready: false,
    mode: 'docker',
    message: 'Pulling the image…',
  });
  // Counted from before the start: the clock has advanced since.
  clock.advance(before + 89_000 - clock.now());
  assert.equal(given?.aborted, false);
  clock.advance(1_000);
  const refused = await waiting;
  assert.equal(refused.status, 503);
  assert.equal(refused.body.error.code, 'workspace_start_timeout');
  assert.match(refused.body.error.message, /not ready within 90 seconds: Pulling the image/);
  assert.equal(given?.aborted, true, 'the runtime was told to end it');
  assert.equal((await whileTimePasses(elsewhere)).body.error.code, 'workspace_start_timeout');
  const after = await at(other, user, status);
  assert.equal(after.body.phase, 'stopped');
  assert.match(after.body.message, /not ready within 90 seconds: Pulling the image/);
  runtime.onStart = undefined;
  assert.equal((await at(one, user, start)).body.ready, true);
  assert.equal((await at(one, user, status)).body.message, undefined, 'an old reason is forgotten');
});

test('a start that cannot succeed fails immediately, with the reason', async () => {
  const user = await one.signIn();
  runtime.onStart = async () => {
    throw new RuntimeFailure('The image cannot be pulled');
  };
  const refused = await at(one, user, start);
  assert.equal(refused.status, 503);
  assert.match(refused.body.error.message, /The image cannot be pulled/);
  runtime.onStart = async () => {
    throw new Error('secret internals');
  };
  assert.doesNotMatch(JSON.stringify((await at(one, user, start)).body), /internals/);
  runtime.onStart = async (workspace, _signal, launch) => {
    await launch();
    await runtime.die(workspace.id, 'Exit code 137: out of memory');
  };
  assert.match((await at(one, user, start)).body.error.message, /out of memory/);
  const reported = await at(one, user, status);
  assert.equal(reported.body.phase, 'stopped');
  assert.match(reported.body.message, /out of memory/);
});

test('a workspace that is stopped during its start stays stopped, whichever replica stops it', async () => {
  for (const app of [one, other]) {
    const user = await one.signIn();
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    runtime.onStart = (_workspace, signal) => {
      begun.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          ended.resolve();
          reject(signal.reason);
        }),
      );
    };
    const waiting = at(one, user, start);
    await begun.promise;
    assert.equal((await at(app, user, stop)).body.phase, 'stopped');
    await ended.promise;
    const refused = await waiting;
    assert.equal(refused.status, 503, JSON.stringify(refused.body));
    runtime.onStart = undefined;
    const again = await whileTimePasses(at(app, user, start));
    assert.equal(again.body.ready, true, JSON.stringify(again.body));
  }
});

test('a stop answers immediately, and a start meanwhile waits until it is done', async () => {
  const user = await one.signIn();
  await at(one, user, start);
  const going = Promise.withResolvers<void>();
  runtime.onStop = () => going.promise;
  assert.deepEqual((await at(one, user, stop)).body, { phase: 'stopped', ready: false, mode: 'docker' });
  assert.equal(runtime.isRunning(user.id), true, 'it is still on its way');
  const again = at(other, user, start);
  await until('the second replica waits', async () => {
    const { rows } = await query('select phase from workspaces where user_id = $1', [user.id]);
    return rows[0]?.phase === 'stopping';
  });
  assert.deepEqual(runtime.generationsOf(user.id), [1]);
  going.resolve();
  assert.equal((await whileTimePasses(again)).body.ready, true);
  assert.deepEqual(runtime.generationsOf(user.id), [1, 2]);
});

test('an abandoned start is adopted if its workspace runs, and otherwise ended and started again', async () => {
  for (const came of ['running', 'nothing', 'a stranger'] as const) {
    const user = await one.signIn();
    await at(one, user, start);
    const workspace = runtime.started.findLast(({ id }) => id === user.id);
    assert.ok(workspace);
    if (came !== 'running') await runtime.die(user.id, 'The machine restarted');
    if (came === 'a stranger') await runtime.launch({ ...workspace, daemonTokenHash: 'f'.repeat(64) });
    await query(
      `update workspaces set phase = 'starting', op_owner = 'gone', op_until = now() - interval '1 second' where user_id = $1`,
      [user.id],
    );
    if (came === 'running') {
      await workspacesOf(other).sweep();
      assert.equal((await at(one, user, status)).body.ready, true);
      assert.deepEqual(runtime.generationsOf(user.id), [1], 'adopted, not started');
      continue;
    }
    const [first, second] = await whileTimePasses(Promise.all([at(one, user, start), at(other, user, start)]));
    assert.equal(first.body.ready, true, JSON.stringify(first.body));
    assert.equal(second.body.ready, true, JSON.stringify(second.body));
    assert.equal(runtime.generationsOf(user.id).at(-1), 2);
  }
});

test('another replica ends an abandoned stop', async () => {
  const user = await one.signIn();
  await at(one, user, start);
  await query(
    `update workspaces set phase = 'stopping', op_owner = 'gone', op_until = now() - interval '1 second' where user_id = $1`,
    [user.id],
  );
  await workspacesOf(other).sweep();
  assert.equal(runtime.isRunning(user.id), false);
  const { rows } = await query('select phase, op_owner from workspaces where user_id = $1', [user.id]);
  assert.deepEqual(rows, [{ phase: 'stopped', op_owner: null }]);
});

test('ends workspaces without a matching row, and marks rows without a workspace as stopped, with the reason', async () => {
  const [lost, orphan] = [await one.signIn(), await one.signIn()];
  const launched = { generation: 1, slot: 1, daemonTokenHash: '', workspaceToken: '' };
  await runtime.launch({ ...launched, id: 'nobody-we-know' });
  await at(one, orphan, start);
  await at(one, orphan, stop);
  await until('the stop', () => !runtime.isRunning(orphan.id));
  await until('the row', async () => {
    const { rows } = await query('select phase from workspaces where user_id = $1', [orphan.id]);
    return rows[0]?.phase === 'stopped';
  });
  await runtime.launch({ ...launched, id: orphan.id });
  await at(one, lost, start);
  await runtime.die(lost.id, 'It ran out of memory');
  await Promise.all([workspacesOf(one).sweep(), workspacesOf(other).sweep()]);
  await until('the orphans are gone', () => !runtime.isRunning('nobody-we-know') && !runtime.isRunning(orphan.id));
  const reported = await at(one, lost, status);
  assert.equal(reported.body.phase, 'stopped');
  assert.match(reported.body.message, /It ran out of memory/);
});

test('the status reports a dead workspace immediately, and the next use starts it again', async () => {
  const user = await one.signIn();
  await at(one, user, start);
  await runtime.die(user.id, 'Gone');
  assert.match((await at(other, user, status)).body.message, /Gone/);
  const hold = await workspacesOf(one).hold(user.id, 'turn');
  assert.equal(runtime.generationsOf(user.id).length, 2);
  await hold.release();
});

test('limits concurrent starts, and queues the others', async () => {
  const users = await Promise.all(Array.from({ length: 12 }, () => one.signIn()));
  const ids = users.map(({ id }) => id);
  for (const id of ids) runtime.details.set(id, 'Told');
  const going = Promise.withResolvers<void>();
  let starting = 0;
  let most = 0;
  runtime.onStart = async (_workspace, _signal, launch) => {
    starting += 1;
    most = Math.max(most, starting);
    await going.promise;
    await launch();
    starting -= 1;
  };
  const asked = Promise.all(users.map((user) => at(one, user, start)));
  // A queued start reports only its place in the queue.
  await until('all are in line', async () => {
    return (await query("select from workspaces where user_id = any($1) and message = 'Told'", [ids])).rowCount === 12;
  });
  const atFirst = starting;
  going.resolve();
  assert.ok((await asked).every(({ body }) => body.ready));
  const expected = Math.min(12, 2 * availableParallelism());
  assert.deepEqual([atFirst, most], [expected, expected]);
});

test('an aborted wait ends nothing', async () => {
  const user = await one.signIn();
  const going = Promise.withResolvers<void>();
  runtime.onStart = async (_workspace, _signal, launch) => {
    await going.promise;
    await launch();
  };
  const leaving = new AbortController();
  const left = workspacesOf(one).hold(user.id, 'turn', leaving.signal);
  const stays = workspacesOf(one).hold(user.id, 'turn');
  leaving.abort(new Error('left'));
  await assert.rejects(left, { message: 'left' });
  going.resolve();
  const hold = await stays;
  assert.equal(hold.signal.aborted, false);
  await hold.release();
});

test('a hold ends when its workspace is stopped, replaced or lost, even by another replica', async () => {
  for (const end of ['here', 'elsewhere', 'lost'] as const) {
    const user = await one.signIn();
    const hold = await workspacesOf(one).hold(user.id, 'turn');
    if (end === 'here') await at(one, user, stop);
    if (end === 'elsewhere') await at(other, user, stop);
    if (end === 'lost') {
      await runtime.die(user.id, 'Gone');
      await workspacesOf(other).sweep();
    }
    await aborted(hold.signal);
    assert.equal(hold.signal.reason.code, 'workspace_request_failed');
    await hold.release();
    const { rows } = await query('select id from workspace_leases where user_id = $1', [user.id]);
    assert.deepEqual(rows, [], end);
  }
});
