import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/** The control plane from its sources as a process of its own, on an embedded database. */
export type ServerProcess = {
  child: ChildProcess;
  /** All output so far, of both streams. */
  output(): string;
  /** Its log lines, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: assertions on it are what checks it.
  lines(): any[];
  exited: Promise<number | null>;
};

const main = join(import.meta.dirname, '../src/main.ts');
const children = new Set<ChildProcess>();
const folders: string[] = [];

after(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) {
    const pid = postmasterPid(folder);
    if (pid !== undefined) process.kill(pid, 'SIGQUIT');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
});

/** A folder for DATA_DIR that is removed after the tests, with a database that was left in it. */
export function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-process-'));
  folders.push(folder);
  return folder;
}

/** Starts it; `limit` is a bound of the shell's ulimit such as `-n 100`. */
export function startServer(env: Record<string, string>, limit?: string): ServerProcess {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const [file, args] =
    limit === undefined
      ? [process.execPath, [main]]
      : ['/bin/sh', ['-c', `ulimit ${limit}; exec "$0" "$@"`, process.execPath, main]];
  const settings = { PORT: '0', WORKSPACE_MODE: 'disabled', ...env };
  const child = spawn(file, args, {
    env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output += data.toString();
    });
  }
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      children.delete(child);
      resolve(code);
    });
  });
  const lines = () =>
    output
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line));
  return { child, output: () => output, lines, exited };
}

/** Waits until its output matches `pattern`, or until it ends. */
export async function untilPrinted(server: ServerProcess, pattern: RegExp): Promise<string> {
  let hasEnded = false;
  server.exited.then(() => {
    hasEnded = true;
  });
  for (;;) {
    const found = pattern.exec(server.output());
    if (found !== null) return found[1] ?? found[0];
    if (hasEnded) throw new Error(`It ended without saying ${pattern}:\n${server.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The address of a server once it is ready. */
export function ready(server: ServerProcess): Promise<string> {
  return untilPrinted(server, /"address":"([^"]+)"[^\n]*Homeport is ready/);
}

/** The embedded PostgreSQL that claims the folder. */
export function postmasterPid(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0]);
  } catch {
    return undefined;
  }
}

/** Holds a port of loopback. */
export function takePort(): Promise<{ port: number; release(): void }> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      resolve({ port, release: () => server.close() });
    });
  });
}
