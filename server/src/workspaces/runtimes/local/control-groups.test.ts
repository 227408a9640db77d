import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { openControlGroups } from './control-groups.ts';

const scratch = await mkdtemp(join(tmpdir(), 'homeport-groups-'));
after(() => rm(scratch, { recursive: true, force: true }));

const limits = { memoryBytes: 1024, cpus: 2, processes: 100 };
let machines = 0;

/** A folder with a machine's control group files: `files` below its mount point, plain files here. */
async function machine(files: Record<string, string>, mounts: string[], own: string) {
  const folder = join(scratch, String(machines++));
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const lines = mounts.map((mount) => mount.replaceAll('@', folder));
  await writeFile(join(folder, 'mountinfo'), lines.join('\n'));
  await writeFile(join(folder, 'cgroup'), own);
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  return { folder, read };
}

const version2 = ['30 24 0:26 / @/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate'];

test('creates a group per workspace in version 2, delegated to a service', async () => {
  const service = 'unified/system.slice/homeport.service';
  const { folder, read } = await machine(
    {
      [`${service}/cgroup.controllers`]: 'cpuset cpu io memory pids\n',
      [`${service}/cgroup.procs`]: '41\n42\n',
      [`${service}/homeport/cgroup.procs`]: '',
    },
    version2,
    '0::/system.slice/homeport.service\n',
  );
  const groups = await openControlGroups('x', folder);
  assert.deepEqual(groups.controllers, ['memory', 'pids', 'cpu']);
  assert.equal(await read(`${service}/cgroup.subtree_control`), '+memory +pids +cpu');
  const files = await groups.create('alice', limits);
  assert.deepEqual(files, [join(folder, service, 'homeport-x/alice/cgroup.procs')]);
  assert.equal(await read(`${service}/homeport-x/alice/memory.max`), '1024');
  assert.equal(await read(`${service}/homeport-x/alice/memory.swap.max`), '0');
  assert.equal(await read(`${service}/homeport-x/alice/cpu.max`), '200000 100000');
  assert.equal(await read(`${service}/homeport-x/alice/pids.max`), '104');
  await writeFile(join(folder, service, 'homeport-x/alice/memory.events'), 'low 0\noom 3\noom_kill 2\n');
  assert.equal(await groups.outOfMemoryCount('alice'), 2);
});

test('uses the service above a subgroup made by the service manager in version 2', async () => {
  const service = 'unified/user.slice/app.slice/homeport.service';
  const { folder } = await machine(
    {
      [`${service}/cgroup.controllers`]: 'memory pids\n',
      [`${service}/server/cgroup.controllers`]: 'memory pids\n',
    },
    version2,
    '0::/user.slice/app.slice/homeport.service/server\n',
  );
  const groups = await openControlGroups('x', folder);
  assert.deepEqual(groups.controllers, ['memory', 'pids']);
  assert.deepEqual(await groups.create('a', limits), [join(folder, service, 'homeport-x/a/cgroup.procs')]);
});

test('creates a group per controller below our own in version 1, even in a partly mounted tree', async () => {
  const { folder, read } = await machine(
    { 'memory/ours/tasks': '', 'cpu/tasks': '' },
    [
      '31 24 0:27 /docker @/memory rw - cgroup cgroup rw,memory',
      '32 24 0:28 / @/cpu rw - cgroup cgroup rw,cpu,cpuacct',
      '33 24 0:29 / @/systemd rw - cgroup cgroup rw,name=systemd',
    ],
    '3:memory:/docker/ours\n2:cpu,cpuacct:/\n1:name=systemd:/\n',
  );
  const groups = await openControlGroups('x', folder);
  assert.deepEqual(groups.controllers, ['memory', 'cpu']);
  await groups.create('a', limits);
  assert.equal(await read('memory/ours/homeport-x/a/memory.limit_in_bytes'), '1024');
  assert.equal(await read('cpu/homeport-x/a/cpu.cfs_quota_us'), '200000');
});

test('sets no limits and does not fail if the control groups are not writable', async () => {
  const { folder } = await machine({}, ['31 24 0:27 / /proc/nothing rw - cgroup cgroup rw,memory'], '3:memory:/x\n');
  const groups = await openControlGroups('x', folder);
  assert.deepEqual(groups.controllers, []);
  assert.deepEqual(await groups.create('a', limits), []);
  assert.equal(await groups.outOfMemoryCount('a'), 0);
  await groups.remove('a');
});
