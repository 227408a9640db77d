import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The command line of a child process: inside bubblewrap, or with the same limits but without a wall around it. */

export type Wall = 'bubblewrap' | 'none';
export type LaunchOptions = {
  wall: Wall;
  heapMb: number;
  /** A folder of this child alone, which it may read and nothing else of the machine. */
  inbox: string;
};
export type Launch = {
  file: string;
  args: string[];
  /** The path of the inbox as the child sees it. */
  inbox: string;
};

/** The descriptor to which bubblewrap writes the id of the process inside. */
export const infoDescriptor = 4;

const folders = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];
/** CPU limit of a child over all its jobs: ends one that has lost its watchdog. */
const cpuSeconds = 1_800;
const openFiles = 128;
/** Memory besides the heap: buffers, code and native allocations. A hard limit above that of the watchdog. */
const dataBesideHeapMb = 1_536;

// The shell does not interpret the words after this: it gets each one as a separate argument. Out of memory, the kernel ends
// this process first; a core file would hold a person's document.
const limited = (heapMb: number): string =>
  `ulimit -c 0; ulimit -f 0; ulimit -t ${cpuSeconds}; ulimit -n ${openFiles}; ` +
  `ulimit -d ${(heapMb + dataBesideHeapMb) * 1024} 2>/dev/null; ` +
  'echo 800 2>/dev/null > /proc/self/oom_score_adj; exec "$@"';

export function findProgram(name: string): string | undefined {
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

export function describeLaunch({ wall, heapMb, inbox }: LaunchOptions): Launch {
  const places = wall === 'bubblewrap' ? { node: '/node', inbox: '/inbox' } : { node: process.execPath, inbox };
  const { program, readable } = programPlaces();
  const node = [
    places.node,
    `--max-old-space-size=${heapMb}`,
    '--permission',
    ...[...readable, places.inbox].map((path) => `--allow-fs-read=${path}`),
    '--no-warnings',
    program,
  ];
  const bwrap = wall === 'bubblewrap' ? findProgram('bwrap') : undefined;
  const command = bwrap === undefined ? [...withParent(), ...node] : [bwrap, ...wallOptions(readable, inbox), ...node];
  const shell = findProgram('sh');
  const [file = '', ...args] = shell === undefined ? command : [shell, '-c', limited(heapMb), 'sh', ...command];
  return { file, args, inbox: places.inbox };
}

/** Without bubblewrap: ends with the service, and gains no privileges. */
function withParent(): string[] {
  const setpriv = process.platform === 'linux' ? findProgram('setpriv') : undefined;
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs', '--'];
}

function wallOptions(readable: readonly string[], inbox: string): string[] {
  const bind = (path: string, seen = path): string[] => ['--ro-bind', path, seen];
  return [
    ...['--unshare-user', '--unshare-all', '--disable-userns', '--die-with-parent', '--new-session', '--as-pid-1'],
    ...['--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534', '--hostname', 'parser'],
    ...['--clearenv', '--setenv', 'TZ', 'UTC'],
    ...['/usr/lib', '/usr/lib32', '/usr/lib64', '/nix/store']
      .filter((path) => existsSync(path))
      .flatMap((path) => bind(path)),
    ...libraryFolders(),
    ...bind(process.execPath, '/node'),
    ...readable.filter((path) => existsSync(path)).flatMap((path) => bind(path)),
    ...bind(inbox, '/inbox'),
    ...['--remount-ro', '/', '--chdir', '/', '--info-fd', String(infoDescriptor)],
  ];
}

/** /lib and the like: links into /usr on most machines, separate folders on older ones. */
function libraryFolders(): string[] {
  return ['/lib', '/lib32', '/lib64'].flatMap((path) => {
    if (!existsSync(path)) return [];
    return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
}

/** The built program beside the bundle, otherwise the sources of this repository, and the paths that it has to read. */
function programPlaces(): { program: string; readable: string[] } {
  if (import.meta.url.endsWith('.ts')) {
    const root = resolve(import.meta.dirname, '../../..');
    const readable = [
      'server/src',
      'server/package.json',
      'server/node_modules',
      'contracts',
      'node_modules',
      'package.json',
    ];
    return { program: join(root, 'server/src/parser.ts'), readable: readable.map((path) => join(root, path)) };
  }
  const program = fileURLToPath(new URL('./parser.mjs', import.meta.url));
  return { program, readable: [dirname(program)] };
}
