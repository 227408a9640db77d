import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DockerRuntime } from '../../../src/workspaces/runtimes/docker/docker-runtime.ts';
import { DockerLab, newId, type Started } from './docker-lab.ts';

let lab: DockerLab;
let bad: Started;
let neighbour: Started;

before(async () => {
  lab = await DockerLab.open({ workspaceMemoryMb: 256, workspaceProcesses: 100, workspaceDiskMb: 64 });
  [bad, neighbour] = [await lab.start(newId()), await lab.start(newId())];
});
after(() => lab.close());

const pidOf = async (id: string) => (await lab.container(id).inspect()).State.Pid;

test('memory: kills a process that takes too much, but neither the daemon nor the neighbor', async () => {
  const pid = await pidOf(bad.id);
  const { exitCode, stdout } = await bad.run(
    `node -e 'const a = []; for (;;) { a.push(Buffer.alloc(8 << 20, 1)); console.log(a.length * 8); }'`,
    60_000,
  );
  assert.notEqual(exitCode, 0);
  assert.ok(Number(stdout.trim().split('\n').at(-1)) < 256, stdout.slice(-100));
  assert.equal((await bad.daemon.health()).usage.memoryLimitBytes, 256 * 1024 * 1024);
  assert.equal(await pidOf(bad.id), pid, 'the same container');
  assert.equal((await neighbour.run('echo fine')).stdout, 'fine\n');
});

test('processes: a fork bomb stops at the limit and ends with its container', async () => {
  const { stdout } = await bad.run('bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 2; cat /proc/loadavg', 8_000);
  assert.ok(stdout.length < 100_000);
  const { pids_stats } = await lab.container(bad.id).stats({ stream: false });
  assert.ok((pids_stats?.current ?? 0) <= 100, `${pids_stats?.current} processes`);
  assert.equal((await neighbour.run('echo fine')).stdout, 'fine\n');
  await lab.runtime.stop(bad.id, 0);
  assert.deepEqual(await lab.runtime.status(bad.id), { phase: 'stopped', generation: undefined, detail: undefined });
});

test('/tmp: fills up at its size, however much memory the machine has', async () => {
  const { exitCode, stderr } = await neighbour.run(
    'for i in $(seq 6); do head -c 60M /dev/zero > /tmp/big$i; done',
    60_000,
  );
  assert.notEqual(exitCode, 0);
  assert.match(`${stderr}${exitCode}`, /No space left|137|null/);
  await neighbour.run('rm -f /tmp/big*');
  assert.equal((await neighbour.run('echo fine')).stdout, 'fine\n');
});

test('descriptors: allows no more than 4096', async () => {
  assert.equal((await neighbour.run('ulimit -Hn; ulimit -Hc')).stdout, '4096\n0\n');
});

test('the home: stops a command that writes too much with a reason, and accepts writes again once files are deleted', async () => {
  const fill = 'for i in $(seq 150); do head -c 2M /dev/urandom > ~/f$i || exit 3; sleep 0.05; done';
  const { exitCode, stderr } = await neighbour.run(fill, 60_000);
  assert.notEqual(exitCode, 0);
  assert.match(stderr, /disk space of this workspace is used up: \d+\.\d MiB of 64\.0 MiB/);
  assert.notEqual((await neighbour.run('echo more > ~/more')).exitCode, 0);
  await neighbour.run('rm ~/f*');
  assert.equal((await neighbour.run('echo more > ~/more && cat ~/more')).stdout, 'more\n');
});

test('counts the home from outside when a workspace keeps its daemon from watching', async () => {
  const daemon = '$(ps -o ppid= $PPID)';
  const writes = 'for i in $(seq 8); do head -c 50M /dev/zero > ~/l$i; done; mkdir ~/c; mv ~/l* ~/c; chmod 0 ~/c';
  await neighbour.run(`kill -STOP ${daemon}; ${writes}; kill -CONT ${daemon}`, 60_000);
  assert.ok(lab.runtime instanceof DockerRuntime);
  await lab.runtime.measure();
  const { phase, detail } = await lab.runtime.status(neighbour.id);
  assert.equal(phase, 'stopped');
  assert.match(detail ?? '', /exceed the 64 MiB/);
  const tidying = await lab.start(neighbour.id);
  assert.match((await lab.runtime.status(neighbour.id)).detail ?? '', /can delete files but not write any/);
  assert.notEqual((await tidying.run('echo more > ~/more')).exitCode, 0);
  assert.equal((await tidying.run('chmod 700 ~/c; rm -r ~/c')).exitCode, 0);
  await lab.runtime.measure();
  assert.match((await lab.runtime.status(neighbour.id)).detail ?? '', /space for files again/);
  neighbour = await lab.start(neighbour.id);
  assert.equal((await neighbour.run('echo more > ~/more && cat ~/more')).stdout, 'more\n');
});
