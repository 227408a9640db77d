import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../app.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';

/** The status endpoints, on real daemons without a sandbox. */

const runtime = new ProcessRuntime();
let app: TestApp;
before(async () => {
  app = await startTestApp({ workspaceRuntime: runtime });
});
after(async () => {
  await app.stop();
  await runtime.destroy();
});

test('starts a workspace, shows its status and stops it immediately, and its token lives as long as it does', async () => {
  const user = await app.signIn();
  const before = await user.call('GET /api/workspace/status');
  assert.deepEqual(before.body, { phase: 'stopped', ready: false, mode: 'local' });

  const started = await user.call('POST /api/workspace/status');
  assert.equal(started.status, 200, started.text);
  assert.equal(started.body.phase, 'running');
  assert.equal(started.body.ready, true);
  const usage = async () => (await user.call('GET /api/workspace/usage')).body;
  const { startedAt, idleStopAt, usage: used, ...status } = await usage();
  assert.deepEqual(status, started.body);
  const unusedMs = Date.parse(idleStopAt) - Date.parse(startedAt);
  assert.ok(unusedMs >= 2 * 60_000 && unusedMs < 3 * 60_000, 'nothing has used it yet');
  assert.ok(used.memoryBytes > 0);
  assert.equal((await user.call('GET /api/workspace/files')).status, 200);
  assert.ok(Date.parse((await usage()).idleStopAt) > Date.parse(startedAt) + 29 * 60_000);
  const pid = runtime.pidOf(user.id);
  assert.equal((await user.call('POST /api/workspace/status')).status, 200);
  assert.equal(runtime.pidOf(user.id), pid, 'a start of what runs starts nothing');

  const token = await readFile(await runtime.tokenFileOf(user.id), 'utf8');
  const inside = () =>
    app.anonymous.call('GET /api/internal/conversations', undefined, { headers: { authorization: `Bearer ${token}` } });
  assert.equal((await inside()).status, 200);

  const stopped = await user.call('DELETE /api/workspace/status');
  assert.deepEqual(stopped.body, { phase: 'stopped', ready: false, mode: 'local' });
  assert.equal((await inside()).status, 401);
  await user.call('POST /api/workspace/status');
  assert.notEqual(runtime.pidOf(user.id), pid);
  assert.equal((await inside()).status, 401, 'a new start has a new token');
  assert.notEqual(await readFile(await runtime.tokenFileOf(user.id), 'utf8'), token);
});

test('reports disabled workspaces in the status, and starts none', async () => {
  const off = await startTestApp({ database: app.database });
  const user = await off.signIn();
  const status = await user.call('GET /api/workspace/status');
  assert.equal(status.status, 200);
  assert.deepEqual(status.body, { phase: 'disabled', ready: false, mode: 'disabled' });
  for (const method of ['POST', 'DELETE']) {
    const refused = await user.call(`${method} /api/workspace/status`);
    assert.equal(refused.status, 503);
    assert.equal(refused.body.error.code, 'workspace_disabled');
  }
  await off.stop();
});
