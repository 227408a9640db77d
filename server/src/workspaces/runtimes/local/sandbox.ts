import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { InsidePrograms } from './inside.ts';

/** The machine's programs that are needed for a sandbox. */
export type Tools = { bwrap: string; prlimit: string; sh: string; unshare: string; setpriv: string };

export type Sandbox = {
  /** DATA_DIR/workspaces. */
  root: string;
  /** The name of the workspace's folder in it. */
  id: string;
  programs: InsidePrograms;
  /** Undefined: it runs as our user. */
  uid: number | undefined;
  processes: number;
  /** Per process, if no control group limits the memory of all together. */
  processMemoryBytes: number | undefined;
  largestFileBytes: number;
  /** False: writing fails, deleting works. */
  mayWrite: boolean;
  /** Files to which a process writes its id to join a control group. */
  groupFiles: string[];
  environment: Record<string, string>;
  /** Command line to run inside. */
  command: string[];
};

/** Node does not even start with less. */
const leastProcessMemoryBytes = 1024 ** 3;

/** Descriptors of the first process and, as far as they stay open, of the daemon. */
export const descriptors = { listen: 3, ready: 4, options: 5, filter: 6, info: 7 } as const;

const filesPerProcess = 4096;
// Folders that exist on every Linux; one without anything of ours becomes a launch's view, in its own mount namespace.
const viewpoints = ['/mnt', '/media', '/srv', '/opt', '/boot'];

// The shell does not interpret what follows: it gets every word as a separate argument.
const joinGroups =
  'set -e; unset PWD OLDPWD; echo 300 2>/dev/null > /proc/self/oom_score_adj || :; while [ "$1" != -- ]; do echo $$ > "$1"; shift; done; shift; ';
const launch = `${joinGroups}exec "$@"`;
// As root: paths that only root can pass are bound to a place in this namespace for the workspace's user, then root is
// given up for good.
const launchAsRoot =
  `${joinGroups}view=$1 uid=$2 root=$3 programs=$4 node=$5 setpriv=$6; shift 6; ` +
  'mount -n -t tmpfs -o mode=711,size=64k homeport "$view"; mkdir "$view/w" "$view/p"; : > "$view/n"; ' +
  'mount -n --bind "$root" "$view/w"; mount -n --bind "$programs" "$view/p"; mount -n --bind "$node" "$view/n"; ' +
  'exec "$setpriv" --reuid "$uid" --regid "$uid" --clear-groups --inh-caps=-all --bounding-set=-all -- "$@"';

/**
 * The command that starts the sandbox, and the options that bubblewrap reads from descriptor 5, since everybody on the
 * machine, and the workspace itself, can read command lines. Neither contains a secret.
 */
export function describeLaunch(sandbox: Sandbox, tools: Tools): { file: string; args: string[]; options: Buffer } {
  // Set inside, where the kernel counts only this workspace's processes, whatever else its user runs outside.
  const limits = [
    ...[`--nproc=${sandbox.processes}`, `--nofile=${filesPerProcess}`, '--core=0'],
    `--fsize=${sandbox.mayWrite ? sandbox.largestFileBytes : 0}`,
    ...(sandbox.processMemoryBytes === undefined ? [] : [`--data=${memoryOfProcess(sandbox.processMemoryBytes)}`]),
    '--',
  ];
  const command = [
    tools.bwrap,
    '--args',
    String(descriptors.options),
    '--',
    tools.prlimit,
    ...limits,
    ...sandbox.command,
  ];
  const groups = [...sandbox.groupFiles, '--'];
  const { root, programs, uid } = sandbox;
  if (uid === undefined) {
    const options = encodeOptions(sandboxOptions(sandbox, { root, programs: programs.folder, node: programs.node }));
    return { file: tools.sh, args: ['-c', launch, 'sh', ...groups, ...command], options };
  }
  const view = chooseViewpoint([root, programs.folder, programs.node]);
  const seen = { root: join(view, 'w'), programs: join(view, 'p'), node: join(view, 'n') };
  const words = [view, String(uid), root, programs.folder, programs.node, tools.setpriv];
  const args = ['--mount', '--', tools.sh, '-c', launchAsRoot, 'sh', ...groups, ...words, ...command];
  return { file: tools.unshare, args, options: encodeOptions(sandboxOptions(sandbox, seen)) };
}

function memoryOfProcess(bytes: number): number {
  return Math.max(bytes, leastProcessMemoryBytes);
}

type Places = { root: string; programs: string; node: string };

function sandboxOptions({ id, programs, environment }: Sandbox, places: Places): string[] {
  const folder = join(places.root, id);
  const etc = join(places.root, '.etc');
  return [
    ...['--unshare-user', '--disable-userns', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
    ...['--unshare-cgroup-try', '--new-session', '--cap-drop', 'ALL', '--uid', '1000', '--gid', '1000'],
    ...['--hostname', 'workspace', '--clearenv'],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--ro-bind', '/usr', '/usr'],
    ...systemFolders(),
    ...['--dir', '/etc'],
    ...certificateFolders.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['passwd', 'group', 'hosts', 'nsswitch.conf'].flatMap((name) => ['--ro-bind', join(etc, name), `/etc/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...tmpfs('/dev/shm', 64),
    ...tmpfs('/tmp', 256),
    ...['--dir', '/var', '--symlink', '../tmp', '/var/tmp'],
    ...['--dir', '/run/workspace', '--ro-bind', join(folder, 'inside'), '/run/workspace'],
    ...['--perms', '0755', '--dir', '/opt', '--perms', '0755', '--dir', '/opt/homeport'],
    ...programs.entries.flatMap((name) => ['--ro-bind', join(places.programs, name), `/opt/homeport/${name}`]),
    ...(programs.pty === undefined ? [] : ['--ro-bind', join(etc, 'pty.node'), '/opt/homeport/pty.node']),
    ...['--ro-bind', places.node, '/opt/homeport/bin/node'],
    ...['--ro-bind-try', join(etc, 'homeport'), '/opt/homeport/bin/homeport'],
    ...['--perms', '0755', '--dir', '/home', '--bind', join(folder, 'home'), '/home/user'],
    ...(mayFixScore() ? [] : ['--remount-ro', '/proc']),
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/home/user'],
    ...['--seccomp', String(descriptors.filter), '--info-fd', String(descriptors.info)],
  ];
}

// Files of /etc that programs in /usr need, without the machine's keys and passwords.
const certificateFolders = [
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust',
  '/etc/ca-certificates',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/alternatives',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/magic',
  '/etc/terminfo',
  '/etc/java',
  '/etc/fonts',
  '/etc/protocols',
  '/etc/services',
];

/**
 * Which process the kernel ends when memory is short: a score set at the launch by a process with CAP_SYS_RESOURCE
 * cannot be lowered inside. Without that capability, /proc is read-only.
 */
function mayFixScore(): boolean {
  const effective = /^CapEff:\t([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${effective}`) & (1n << 24n)) !== 0n;
}

function tmpfs(path: string, megabytes: number): string[] {
  return ['--perms', '1777', '--size', String(megabytes * 1024 * 1024), '--tmpfs', path];
}

/** /bin and the like: links into /usr on most machines, separate folders on older ones. */
function systemFolders(): string[] {
  return ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap((path) => {
    if (!existsSync(path)) return [];
    return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
}

function chooseViewpoint(paths: string[]): string {
  const free = viewpoints.find((view) => existsSync(view) && !paths.some((path) => `${path}/`.startsWith(`${view}/`)));
  if (free === undefined) throw new Error(`none of ${viewpoints.join(', ')} is free`);
  return free;
}

function encodeOptions(options: string[]): Buffer {
  return Buffer.from(options.map((option) => `${option}\0`).join(''));
}
