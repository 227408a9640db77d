import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { before, test } from 'node:test';
import { type Caller, pause, type Running, scratchFolder, setUp, startProduct } from '../product.ts';

/** The built product with workspaces in a real engine; scripts/test/test-docker.mjs passes its address. */
const engineHost = process.env.HOMEPORT_TEST_DOCKER_HOST ?? '';
const settings = {
  WORKSPACE_MODE: 'docker',
  WORKSPACE_DOCKER_HOST: engineHost,
  WORKSPACE_IMAGE: process.env.HOMEPORT_TEST_DOCKER_IMAGE ?? '',
};

const dataDir = scratchFolder();
let product: Running;
let person: Caller;

before(async () => {
  product = await startProduct(dataDir, settings);
  person = await setUp(product.url);
});
/** The running containers, as the engine reports them. */
function containers(): { id: string; state: string }[] {
  const [, socket] = /^unix:\/\/(.*)$/.exec(engineHost) ?? [];
  const place =
    socket === undefined ? [engineHost.replace(/^tcp:/, 'http:')] : ['--unix-socket', socket, 'http://docker'];
  const url = `${place.at(-1)}/containers/json?all=1`;
  const list = JSON.parse(execFileSync('curl', ['-sS', ...place.slice(0, -1), url], { encoding: 'utf8' }));
  return list
    .filter(({ Names }: { Names: string[] }) => Names.some((name) => name.startsWith('/homeport-workspace-')))
    .filter(({ Labels }: { Labels: Record<string, string> }) => Labels['homeport.workspace'] === personId)
    .map(({ Id, State }: { Id: string; State: string }) => ({ id: Id, state: State }));
}
let personId = '';

async function download(): Promise<string> {
  return (await person.fetch('/api/workspace/download?path=~/artifacts/kept.txt')).text();
}

async function stop(): Promise<void> {
  await person.must('DELETE', '/api/workspace/status');
  for (let round = 0; containers().length > 0 && round < 200; round++) await pause(50);
  assert.deepEqual(containers(), []);
}

test('adopts a workspace with its files after kill -9 of the control plane', async () => {
  const session = await person.must('GET', '/api/auth/get-session');
  personId = session.user.id;
  const started = await person.must('POST', '/api/workspace/status');
  assert.deepEqual({ ...started }, { ...started, phase: 'running', ready: true, mode: 'docker' });
  const form = new FormData();
  form.set('file', new File(['kept'], 'kept.txt'));
  const uploaded = await person.fetch('/api/workspace/files', { method: 'POST', body: form });
  assert.equal(uploaded.status, 201, await uploaded.text());
  const [container] = containers();
  assert.equal(container?.state, 'running');

  product.kill('SIGKILL');
  await product.exited;
  assert.deepEqual(containers(), [container], 'it runs on');

  product = await startProduct(dataDir, settings);
  person.url = product.url;
  const status = await person.must('GET', '/api/workspace/status');
  assert.deepEqual([status.phase, status.ready], ['running', true]);
  assert.equal(await download(), 'kept');
  assert.deepEqual(containers(), [container], 'the same container');
});

test('removes a stopped container, and starts another one', async () => {
  const [container] = containers();
  assert.ok(container !== undefined);
  await stop();
  await person.must('POST', '/api/workspace/status');
  assert.notEqual(containers()[0]?.id, container.id);
  assert.equal(await download(), 'kept', 'in the volume of its home');
  await stop();
});

test('refuses to start in an unusable mode, with the reason', async () => {
  const wrong = { ...settings, WORKSPACE_IMAGE: 'homeport-none:1' };
  await assert.rejects(
    startProduct(scratchFolder(), wrong),
    /WORKSPACE_MODE is "docker".*has no image homeport-none:1/s,
  );
});
