import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DockerLab, newId, type Started } from './docker-lab.ts';

let lab: DockerLab;
let bad: Started;
let neighbour: Started;

before(async () => {
  lab = await DockerLab.open({ workspaceMemoryMb: 256, workspaceProcesses: 100 });
  [bad, neighbour] = [await lab.start(newId()), await lab.start(newId())];
});
after(() => lab.close());

const pidOf = async (id: string) => (await lab.container(id).inspect()).State.Pid;

test('memory: what takes too much ends, the daemon and the neighbour do not', async () => {
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

test('processes: a fork bomb ends at the limit, and goes with its container', async () => {
  const { stdout } = await bad.run('bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 2; cat /proc/loadavg', 8_000);
  assert.ok(stdout.length < 100_000);
  const { pids_stats } = await lab.container(bad.id).stats({ stream: false });
  assert.ok((pids_stats?.current ?? 0) <= 100, `${pids_stats?.current} processes`);
  assert.equal((await neighbour.run('echo fine')).stdout, 'fine\n');
  await lab.runtime.stop(bad.id, 0);
  assert.deepEqual(await lab.runtime.status(bad.id), { phase: 'stopped', generation: undefined, detail: undefined });
});

test('/tmp: full at its size, however much the machine has', async () => {
  const { exitCode, stderr } = await neighbour.run('head -c 300M /dev/zero > /tmp/big', 60_000);
  assert.notEqual(exitCode, 0);
  assert.match(`${stderr}${exitCode}`, /No space left|137|null/);
  await neighbour.run('rm -f /tmp/big');
  assert.equal((await neighbour.run('echo fine')).stdout, 'fine\n');
});

test('descriptors: no more than 4096', async () => {
  assert.equal((await neighbour.run('ulimit -Hn; ulimit -Hc')).stdout, '4096\n0\n');
});
