import { readdir, readFile, readlink } from 'node:fs/promises';

/** One TCP port that a program of the workspace listens on. */
export type ListeningPort = { port: number; command: string | null };

const portsMax = 100;
const tableMaxBytes = 1024 * 1024;
/** Number of descriptors of all processes that are examined; a port not found by then has no command. */
const descriptorsMax = 20_000;
const commandLength = 200;
const listening = '0A';
/** Any address and loopback, as the kernel writes them. */
const reachable = /^(?:0{8}|0100007F|0{32}|0{24}01000000|0{16}FFFF00000100007F):([0-9A-F]{4})$/;

/** The ports that answer at loopback, lowest first; `own` are the daemon's and left out. */
export async function listPorts(own: ReadonlySet<number>): Promise<ListeningPort[]> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable));
  const inodes = new Map(tables.flatMap(readListening).filter(([, port]) => !own.has(port)));
  const commands = await commandsOf(inodes);
  const ports = [...new Set(inodes.values())].sort((a, b) => a - b).slice(0, portsMax);
  return ports.map((port) => ({ port, command: commands.get(port) ?? null }));
}

async function readTable(path: string): Promise<string> {
  const text = await readFile(path, 'latin1').catch(() => '');
  return text.slice(0, tableMaxBytes);
}

/** Inode and port of every listening socket of a table such as /proc/net/tcp. */
export function readListening(table: string): [inode: string, port: number][] {
  return table.split('\n').flatMap((line): [string, number][] => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    const [, port] = reachable.exec(local) ?? [];
    return port === undefined || state !== listening || inode === undefined ? [] : [[inode, Number.parseInt(port, 16)]];
  });
}

async function commandsOf(inodes: ReadonlyMap<string, number>): Promise<Map<number, string>> {
  const commands = new Map<number, string>();
  const wanted = new Set(inodes.values()).size;
  let left = descriptorsMax;
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      left -= 1;
      if (left < 0 || commands.size === wanted) return commands;
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      const port = inodes.get(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? '');
      if (port !== undefined && !commands.has(port)) commands.set(port, await commandOf(pid));
    }
  }
  return commands;
}

async function commandOf(pid: string): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return line
    .slice(0, commandLength * 4)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, commandLength);
}
