import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { systemClock } from '../../../platform/clock.ts';

export type GroupLimits = { memoryBytes: number; cpus: number; processes: number };
type Controller = 'memory' | 'pids' | 'cpu';

/**
 * Control groups below our own, one for each workspace, in both versions of the kernel's interface; limits that are not
 * available are left out.
 */
export type ControlGroups = {
  readonly controllers: readonly Controller[];
  /** Creates or resets a workspace's groups; a process joins them by writing its id to each of the returned files. */
  create(id: string, limits: GroupLimits): Promise<string[]>;
  /** How often the kernel has ended one of the workspace's processes for lack of memory. */
  outOfMemoryCount(id: string): Promise<number>;
  /** Waits a moment until killed processes have left. */
  remove(id: string): Promise<void>;
  /** Removes the parent group, unless a workspace is still in it. */
  close(): Promise<void>;
};

const controllers = ['memory', 'pids', 'cpu'] as const;
const periodMicroseconds = 100_000;
// bubblewrap's own two processes, and the shell before them.
const ownProcesses = 4;

type Hierarchy = { version: 1 | 2; folder: string; controllers: Controller[] };

/** `name` tells installations on one machine apart. `proc` is replaced in tests. */
export async function openControlGroups(name: string, proc = '/proc/self'): Promise<ControlGroups> {
  const hierarchies: Hierarchy[] = [];
  for (const found of await findOwnGroups(proc)) {
    const usable = found.version === 1 ? found : await delegate(found);
    if (usable === undefined) continue;
    const folder = join(usable.folder, `homeport-${name}`);
    const isMade = await makeGroup(folder).then(
      () => usable.version === 1 || enable(folder, usable.controllers),
      () => false,
    );
    if (isMade) hierarchies.push({ ...usable, folder });
  }
  return {
    controllers: hierarchies.flatMap((hierarchy) => hierarchy.controllers),
    async create(id, limits) {
      for (const { version, folder, controllers: wanted } of hierarchies) {
        const group = join(folder, id);
        await makeGroup(group);
        for (const [file, value, isOptional] of wanted.flatMap((controller) => settings(version, controller, limits))) {
          await writeFile(join(group, file), value).catch((error: unknown) => {
            if (!isOptional) throw error;
          });
        }
      }
      return hierarchies.map(({ folder }) => join(folder, id, 'cgroup.procs'));
    },
    async outOfMemoryCount(id) {
      const memory = hierarchies.find((hierarchy) => hierarchy.controllers.includes('memory'));
      if (memory === undefined) return 0;
      const file = memory.version === 1 ? 'memory.oom_control' : 'memory.events';
      const text = await readFile(join(memory.folder, id, file), 'utf8').catch(() => '');
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
    },
    async remove(id) {
      for (const { folder } of hierarchies) await removeGroup(join(folder, id));
    },
    async close() {
      for (const { folder } of hierarchies) await rmdir(folder).catch(() => undefined);
    },
  };
}

/** Groups of this process, in each hierarchy with one of our controllers. */
async function findOwnGroups(proc: string): Promise<Hierarchy[]> {
  const mounts = await readFile(join(proc, 'mountinfo'), 'utf8').catch(() => '');
  const own = await readFile(join(proc, 'cgroup'), 'utf8').catch(() => '');
  const paths = own.split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line)?.slice(1) ?? []);
  const found: Hierarchy[] = [];
  for (const line of mounts.split('\n')) {
    const [before = '', after = ''] = line.split(' - ', 2);
    const [, , , root = '/', mountPoint = ''] = before.split(' ');
    const [type, , options = ''] = after.split(' ');
    if (type !== 'cgroup' && type !== 'cgroup2') continue;
    const names = options.split(',');
    const has = type === 'cgroup2' ? [] : controllers.filter((controller) => names.includes(controller));
    const [, path] =
      paths.find(([list]) => (type === 'cgroup2' ? list === '' : list?.split(',').includes(has[0] ?? '-'))) ?? [];
    if (path === undefined) continue;
    const below = relative(root, path);
    if (below.startsWith('..')) continue;
    const folder = join(mountPoint, below);
    const version = type === 'cgroup2' ? 2 : 1;
    found.push({ version, folder, controllers: version === 1 ? has : await readControllers(folder) });
  }
  return found.filter((hierarchy) => hierarchy.controllers.length > 0);
}

async function readControllers(folder: string): Promise<Controller[]> {
  const text = await readFile(join(folder, 'cgroup.controllers'), 'utf8').catch(() => '');
  const names = text.trim().split(/\s+/);
  return controllers.filter((controller) => names.includes(controller));
}

/**
 * A version 2 group either has processes or delegates controllers. So below a service's group (systemd's Delegate=) the
 * processes, all ours, move into a subgroup; if the service manager already made one (DelegateSubgroup=), its parent is
 * used. In a login session other people's processes are around, so nothing is moved.
 */
async function delegate(own: Hierarchy): Promise<Hierarchy | undefined> {
  const parent = dirname(own.folder);
  const isSubgroup = parent.endsWith('.service');
  if (!isSubgroup && !own.folder.endsWith('.service'))
    return (await enable(own.folder, own.controllers)) ? own : undefined;
  const service = isSubgroup ? { ...own, folder: parent, controllers: await readControllers(parent) } : own;
  if (await enable(service.folder, service.controllers)) return service;
  const aside = join(service.folder, 'homeport');
  try {
    await makeGroup(aside);
    const pids = (await readFile(join(service.folder, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean);
    for (const pid of pids) await writeFile(join(aside, 'cgroup.procs'), pid).catch(ignoreGone);
  } catch {
    return undefined;
  }
  return (await enable(service.folder, service.controllers)) ? service : undefined;
}

async function enable(folder: string, wanted: readonly Controller[]): Promise<boolean> {
  const file = join(folder, 'cgroup.subtree_control');
  return writeFile(file, wanted.map((controller) => `+${controller}`).join(' ')).then(
    () => true,
    () => false,
  );
}

type GroupSetting = [file: string, value: string, isOptional: boolean];

function settings(version: 1 | 2, controller: Controller, limits: GroupLimits): GroupSetting[] {
  const memory = String(limits.memoryBytes);
  const quota = Math.round(limits.cpus * periodMicroseconds);
  const processes = String(limits.processes + ownProcesses);
  if (controller === 'pids') return [['pids.max', processes, false]];
  if (version === 2) {
    if (controller === 'cpu') return [['cpu.max', `${quota} ${periodMicroseconds}`, false]];
    return [
      ['memory.max', memory, false],
      ['memory.swap.max', '0', true],
    ];
  }
  if (controller === 'cpu') {
    return [
      ['cpu.cfs_period_us', String(periodMicroseconds), false],
      ['cpu.cfs_quota_us', String(quota), false],
    ];
  }
  return [
    ['memory.limit_in_bytes', memory, false],
    ['memory.memsw.limit_in_bytes', memory, true],
  ];
}

// Not recursively: in kernel file systems Node would try that for ever.
async function makeGroup(folder: string): Promise<void> {
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function removeGroup(group: string): Promise<void> {
  for (let waitMs = 2; waitMs < 500; waitMs *= 2) {
    const error = await rmdir(group).then(
      () => undefined,
      (reason: NodeJS.ErrnoException) => reason,
    );
    if (error?.code !== 'EBUSY') return;
    await systemClock.sleep(waitMs);
  }
}

function ignoreGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ESRCH') throw error;
}
