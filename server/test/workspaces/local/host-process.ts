import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { openControlGroups } from '../../../src/workspaces/runtimes/local/control-groups.ts';
import type { HostRequest } from './host.ts';

const repository = resolve(import.meta.dirname, '../../../..');
const hostFile = 'server/test/workspaces/local/host.ts';
const isRoot = process.getuid?.() === 0;
/** An id that no machine uses. */
const ordinaryUid = 64_321;

export type Identity = 'root' | 'ordinary user';

/**
 * The reason why this identity can make no sandbox here, or undefined if it can. REQUIRE_SANDBOX=1 makes a reason a
 * failure of the tests.
 */
export function whyNotAs(identity: Identity): string | undefined {
  if (identity === 'root' && !isRoot) return 'these tests do not run as root';
  if (process.platform !== 'linux') return 'this is not Linux';
  const probe = spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true'], { timeout: 60_000 });
  return probe.status === 0 ? undefined : 'bubblewrap is not installed or may not create namespaces';
}

export type Executed = { exitCode: number | null; stdout: string; stderr: string; status: number };

export type Host = {
  dataDir: string;
  /** Of the processes of hosts as an ordinary user. */
  uid: number;
  pid: number;
  /** Rejects with the runtime's error. */
  ask(request: HostRequest): Promise<unknown>;
  exec(id: string, command: string, generation?: number, readOnly?: boolean): Promise<Executed>;
  kill(): Promise<void>;
};

/** A folder for hosts of this identity, with the control groups that a service manager would delegate. */
export async function prepareHosts(
  identity: Identity,
): Promise<{ dataDir: string; groupFiles: string[]; destroy(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'homeport-local-'));
  const groups = await openControlGroups(`test-${process.pid}`);
  const name = identity === 'root' ? 'root' : 'ordinary';
  const isOrdinary = isRoot && identity === 'ordinary user';
  const groupFiles = isOrdinary
    ? await groups.create(name, { memoryBytes: 2 * 1024 ** 3, cpus: 2, processes: 2_000 })
    : [];
  if (isOrdinary) {
    await chown(dataDir, ordinaryUid, ordinaryUid);
    for (const file of groupFiles) {
      for (const path of [dirname(file), file, join(dirname(file), 'cgroup.subtree_control')]) {
        await chown(path, ordinaryUid, ordinaryUid).catch(() => undefined);
      }
    }
  } else await chmod(dataDir, 0o700);
  return {
    dataDir,
    groupFiles,
    async destroy() {
      await groups.remove(name);
      await groups.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const asOrdinary =
  'set -e; while [ "$1" != -- ]; do echo $$ > "$1"; shift; done; shift; uid=$1 repository=$2 node=$3; shift 3; ' +
  'mount -n -t tmpfs -o mode=755 test /mnt; mkdir /mnt/r; : > /mnt/n; mount -n --bind "$repository" /mnt/r; mount -n --bind "$node" /mnt/n; ' +
  'exec setpriv --reuid "$uid" --regid "$uid" --clear-groups --inh-caps=-all --bounding-set=-all /mnt/n "$@"';

/** Starts a host; throws the reason if its runtime cannot be opened. */
export async function startHost(options: {
  identity: Identity;
  dataDir: string;
  groupFiles?: string[];
  memoryMb?: number;
  processes?: number;
  diskMb?: number;
  files?: number;
}): Promise<Host> {
  const { identity, dataDir, groupFiles = [], memoryMb = 512, processes = 128, diskMb = 0, files = 0 } = options;
  const words = [dataDir, ...[memoryMb, processes, diskMb, files].map(String)];
  const isOrdinary = isRoot && identity === 'ordinary user';
  const given = [
    '--mount',
    'sh',
    '-c',
    asOrdinary,
    'sh',
    ...groupFiles,
    '--',
    String(ordinaryUid),
    repository,
    process.execPath,
  ];
  const child: ChildProcess = isOrdinary
    ? spawn('unshare', [...given, `/mnt/r/${hostFile}`, ...words], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    : spawn(process.execPath, [join(repository, hostFile), ...words], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const started = Promise.withResolvers<void>();
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  child.on(
    'message',
    (message: { ready?: true; failed?: string; number?: number; value?: unknown; error?: string }) => {
      if (message.ready) return started.resolve();
      if (message.failed !== undefined) return started.reject(new Error(message.failed));
      const asker = waiting.get(message.number ?? -1);
      if (message.error === undefined) asker?.resolve(message.value);
      else asker?.reject(new Error(message.error));
    },
  );
  void exited.then(() => {
    started.reject(new Error('the host ended'));
    for (const asker of waiting.values()) asker.reject(new Error('the host ended'));
  });
  await started.promise;
  let asked = 0;
  const ask = (request: HostRequest): Promise<unknown> =>
    new Promise((resolvePromise, reject) => {
      const number = asked++;
      waiting.set(number, { resolve: resolvePromise, reject });
      child.send({ number, request });
    });
  return {
    dataDir,
    uid: isOrdinary ? ordinaryUid : (process.getuid?.() ?? 0),
    pid: child.pid ?? 0,
    ask,
    async exec(id, command, generation = 1, readOnly = false) {
      const answer = (await ask({ ask: 'exec', id, generation, command, readOnly })) as {
        status: number;
        text: string;
      };
      return { ...collect(answer.text), status: answer.status };
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function collect(ndjson: string): Omit<Executed, 'status'> {
  const result: Omit<Executed, 'status'> = { exitCode: null, stdout: '', stderr: '' };
  for (const line of ndjson.split('\n').filter(Boolean)) {
    const event = JSON.parse(line) as { type?: string; data?: string; exitCode?: number | null };
    if (event.type === 'stdout') result.stdout += event.data ?? '';
    if (event.type === 'stderr') result.stderr += event.data ?? '';
    if (event.type === 'exit') result.exitCode = event.exitCode ?? null;
  }
  return result;
}
