import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { RuntimeFailure } from '../../../src/workspaces/runtime.ts';
import { tryDockerRuntime } from '../../../src/workspaces/runtimes/docker/try-docker.ts';
import { sha256 } from '../../../src/workspaces/tokens.ts';
import { DockerLab, engineHost, newId } from './docker-lab.ts';

let lab: DockerLab;
before(async () => {
  lab = await DockerLab.open();
});
after(() => lab.close());

const stopped = { phase: 'stopped', generation: undefined, detail: undefined };

test('a file survives stop and start, and files outside the home do not', async () => {
  const id = newId();
  const first = await lab.start(id);
  await first.run('echo kept > ~/file; echo lost > /tmp/file; chmod 600 ~/file');
  await lab.runtime.stop(id, 1_000);
  assert.deepEqual(await lab.runtime.status(id), stopped);
  await assert.rejects(lab.runtime.dial(id), RuntimeFailure);
  const second = await lab.start(id);
  assert.ok(second.generation > first.generation);
  assert.deepEqual(
    (({ stdout, exitCode }) => ({ stdout, exitCode }))(
      await second.run('cat ~/file; stat -c %U:%a ~ ~/file; cat /tmp/file'),
    ),
    { stdout: 'kept\nuser:700\nuser:600\n', exitCode: 1 },
  );
  assert.notEqual(first.token, second.token);
});

test('a stopped workspace leaves nothing but its home', async () => {
  const id = newId();
  await lab.start(id);
  await lab.runtime.stop(id, 0);
  await lab.runtime.stop(id, 0);
  const containers = await lab.engine.listContainers({ all: true, filters: { name: [id] } });
  assert.deepEqual(containers, []);
  assert.ok(!(await readdir(join(lab.folder, 'docker'))).includes(id));
  const { Volumes } = await lab.engine.listVolumes();
  assert.deepEqual(
    Volumes.map(({ Name }) => Name).filter((name) => name.includes(id)),
    [`homeport-home-${id}`],
  );
});

test('another process finds a running workspace, reaches it and ends it', async () => {
  const id = newId();
  const started = await lab.start(id);
  await assert.rejects(lab.open({}), /another Homeport serves the workspaces of this DATA_DIR/);
  await lab.restart();
  const later = lab.runtime;
  assert.equal(
    (
      await started.run(
        'curl -sS --unix-socket /run/workspace/control.sock -o /dev/null -w "%{http_code}" http://h/api/internal/x',
      )
    ).stdout,
    '418',
  );
  assert.deepEqual(
    (await later.list()).filter((entry) => entry.id === id),
    [{ id, generation: started.generation }],
  );
  assert.deepEqual(await later.status(id), { phase: 'running', generation: started.generation, detail: undefined });
  const { Id } = await lab.container(id).inspect();
  const same = { id, generation: started.generation, slot: 1, daemonTokenHash: '', workspaceToken: '' };
  await later.start(same, AbortSignal.timeout(300_000));
  assert.equal((await lab.container(id).inspect()).Id, Id, 'left as it is');
  await later.stop(id, 0);
  assert.deepEqual(await lab.runtime.status(id), stopped);
});

test('another installation at the same engine does not list it', async () => {
  const id = newId();
  await lab.start(id);
  const stranger = await DockerLab.open();
  assert.deepEqual(await stranger.runtime.list(), []);
  await stranger.close();
  assert.equal((await lab.runtime.status(id)).phase, 'running');
});

test('an aborted start leaves nothing', async () => {
  const id = newId();
  const given = new AbortController();
  const wanted = { id, generation: 1, slot: 1, daemonTokenHash: sha256('x'), workspaceToken: 'x' };
  const starting = lab.runtime.start(wanted, given.signal);
  given.abort(new Error('given up'));
  await assert.rejects(starting, /given up/);
  assert.deepEqual(await lab.engine.listContainers({ all: true, filters: { name: [id] } }), []);
});

test('reports how a daemon ended', async () => {
  const killed = await lab.start(newId());
  await lab.container(killed.id).kill();
  const { phase, detail } = await lab.runtime.status(killed.id);
  assert.deepEqual({ phase, detail }, { phase: 'stopped', detail: 'Its container ended with exit code 137' });
  assert.ok(!(await lab.runtime.list()).some(({ id }) => id === killed.id));

  const wrong = { id: newId(), generation: 1, slot: 1, daemonTokenHash: 'no hash', workspaceToken: 'x' };
  await assert.rejects(
    lab.runtime.start(wrong, AbortSignal.timeout(300_000)),
    /^Error: Its container ended with exit code \d+: .*holds no SHA-256/s,
  );
});

test('refuses a configuration that cannot work, with a plain reason', async () => {
  const refusals: [changes: Parameters<DockerLab['open']>[0], reason: RegExp][] = [
    [
      { workspaceImage: 'homeport-none:1' },
      /has no image homeport-none:1: build it .docker build -f deploy\/Dockerfile --target workspace/,
    ],
    [{ workspaceDockerRuntime: 'runsc' }, /has no runtime "runsc"; it has .*runc/],
    [{ workspaceDockerHost: 'unix:///nonexistent/docker.sock' }, /no Docker engine answers at unix:\/\/\/nonexistent/],
    [{ workspaceDockerHost: 'tcp://127.0.0.1:9' }, /no Docker engine answers at tcp:\/\/127.0.0.1:9/],
  ];
  for (const [changes, reason] of refusals) {
    await assert.rejects(lab.open(changes), (error: unknown) => {
      assert.ok(error instanceof RuntimeFailure);
      assert.match(error.message, reason);
      return true;
    });
  }
  assert.notEqual(engineHost, '');
});

test('starts twenty workspaces', async () => {
  const id = newId();
  const times: number[] = [];
  const stops: number[] = [];
  for (let round = 0; round < 20; round++) {
    const from = performance.now();
    const { daemon } = await lab.start(id);
    await daemon.health();
    times.push(performance.now() - from);
    const stopFrom = performance.now();
    await lab.runtime.stop(id, 0);
    stops.push(performance.now() - stopFrom);
  }
  const at = (list: number[], share: number) =>
    Math.round(list.sort((a, b) => a - b)[Math.floor(list.length * share)] ?? 0);
  console.log(
    `  docker: start to health p50 ${at(times, 0.5)} ms, p95 ${at(times, 0.95)} ms; stop p50 ${at(stops, 0.5)} ms (20 rounds; target 600 ms)`,
  );
});

test('the doctor starts a container of the image under its limits and leaves nothing behind', async () => {
  const before = await lab.engine.listContainers({ all: true });
  assert.match(await tryDockerRuntime(lab.config), /was started with a home and the folders of a workspace/);
  const missing = { ...lab.config, workspaceImage: 'homeport-no-such-image:latest' };
  await assert.rejects(tryDockerRuntime(missing), /has no image homeport-no-such-image/);
  // Containers of other tests can end meanwhile.
  const left = await lab.engine.listContainers({ all: true });
  assert.deepEqual(
    left.filter(({ Id }) => !before.some((container) => container.Id === Id)).map(({ Names }) => Names),
    [],
  );
});
