import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { SignedIn, TestApp } from './app.ts';
import type { ProcessRuntime } from './fakes/process-runtime.ts';
import { enterWorkspace } from './workspaces/workspace-caller.ts';

const source = join(import.meta.dirname, '../../workspace/src/cli/main.ts');

export type Run = { code: number | null; out: string; bytes: Buffer; error: string };
type RunOptions = { env?: Record<string, string | undefined>; input?: string | Buffer; cwd?: string };

/** The `homeport` command as a process of its own. */
export type CommandLine = {
  /** Its working folder, removed at the end. */
  folder: string;
  tokenFile: string;
  /** The service on a unix socket, `unix:<path>`. */
  socketUrl: string;
  start(args: readonly string[], options?: RunOptions): ChildProcess;
  run(args: readonly string[], options?: RunOptions): Promise<Run>;
  /** The same in a terminal of 60 columns, where `answer` is typed once something is asked; `out` is what it shows. */
  inTerminal(args: readonly string[], options: RunOptions & { answer?: string }): Promise<Run>;
  /** Fails when the command does. */
  done(args: readonly string[], options?: RunOptions): Promise<Run>;
  /** Another service in the place of ours; its address. */
  serve(listener: RequestListener): Promise<string>;
  newFolder(): Promise<string>;
  stop(): Promise<void>;
};

export async function makeCommandLine(app: TestApp, runtime: ProcessRuntime, user: SignedIn): Promise<CommandLine> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-cli-'));
  // As it ships: from its sources each start would take five times as long.
  const outfile = join(folder, 'cli.cjs');
  await build({ entryPoints: [source], outfile, bundle: true, platform: 'node', target: 'node24', format: 'cjs' });
  const { tokenFile } = await enterWorkspace(app, runtime, user);
  const servers: Server[] = [];
  const listen = async (server: Server, place: string | number): Promise<void> => {
    servers.push(server);
    if (typeof place === 'string') await new Promise<void>((resolve) => server.listen(place, resolve));
    else await new Promise<void>((resolve) => server.listen(place, '127.0.0.1', resolve));
  };
  const socketPath = join(folder, 'control.sock');
  const forward: RequestListener = (incoming, outgoing) => app.service.server.emit('request', incoming, outgoing);
  await listen(createServer(forward), socketPath);

  function start(args: readonly string[], { env = {}, cwd = folder }: RunOptions = {}): ChildProcess {
    const environment = { PATH: process.env.PATH, HOMEPORT_URL: app.url, HOMEPORT_TOKEN_FILE: tokenFile, ...env };
    return spawn(process.execPath, [outfile, ...args], { env: environment, cwd, stdio: 'pipe' });
  }

  function run(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    const child = start(args, options);
    child.stdin?.on('error', () => undefined).end(options.input ?? '');
    return finish(child);
  }

  return {
    folder,
    tokenFile,
    socketUrl: `unix:${socketPath}`,
    start,
    run,
    async inTerminal(args, { env = {}, answer }) {
      const quoted = [process.execPath, outfile, ...args].map((word) => `'${word}'`).join(' ');
      const environment = { PATH: process.env.PATH, HOMEPORT_URL: app.url, HOMEPORT_TOKEN_FILE: tokenFile, ...env };
      const child = spawn('script', ['-qec', `stty cols 60; ${quoted}`, '/dev/null'], {
        env: environment,
        stdio: 'pipe',
      });
      let shown = '';
      let isAnswered = answer === undefined;
      child.stdout.on('data', (chunk: Buffer) => {
        shown += chunk;
        if (isAnswered || !shown.includes('[y/N]')) return;
        isAnswered = true;
        child.stdin.write(`${answer}\n`);
      });
      return finish(child);
    },
    async done(args, options = {}) {
      const result = await run(args, options);
      assert.equal(result.code, 0, `${args.join(' ')}: ${result.error}`);
      assert.equal(result.error, '');
      return result;
    },
    async serve(listener) {
      const server = createServer(listener);
      await listen(server, 0);
      const address = server.address();
      return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    },
    newFolder: () => mkdtemp(join(folder, 'work-')),
    async stop() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The exit code and all output. */
export async function finish(child: ChildProcess): Promise<Run> {
  const out: Buffer[] = [];
  let error = '';
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => {
    error += chunk;
  });
  const [code] = await once(child, 'close');
  const bytes = Buffer.concat(out);
  return { code, bytes, out: bytes.toString(), error };
}
