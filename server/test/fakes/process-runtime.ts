import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  RuntimeFailure,
  type RuntimeStatus,
  type StartedWorkspace,
  type WorkspaceRuntime,
} from '../../src/workspaces/runtime.ts';

const daemonMain = fileURLToPath(new URL('../../../workspace/src/daemon/main.ts', import.meta.url));

type Running = { generation: number; child: ChildProcess; socketPath: string; isReady: boolean; closed: Promise<void> };

/**
 * A runtime that runs the real daemon without any sandbox, as a child on a unix socket. Workspaces outlive `close`, as
 * real ones do; so several apps can share it. Call `destroy` in `after`.
 */
export class ProcessRuntime implements WorkspaceRuntime {
  readonly kind = 'local';
  /** The control plane's address for commands in workspaces; startTestApp sets it. */
  controlUrl = 'http://127.0.0.1:9';
  /** How often `start` made a daemon. */
  starts = 0;
  readonly #folder: Promise<string>;
  readonly #running = new Map<string, Running>();
  readonly #ended = new Map<string, string>();

  constructor() {
    // Unix sockets have short names.
    this.#folder = mkdtemp(join(tmpdir(), 'hp-ws-'));
  }

  async start(workspace: StartedWorkspace, signal: AbortSignal): Promise<void> {
    const found = this.#running.get(workspace.id);
    if (found?.generation === workspace.generation) return;
    if (found !== undefined) await this.stop(workspace.id, 0);
    signal.throwIfAborted();
    this.starts += 1;
    const { child, ready } = await this.#spawn(workspace, this.starts);
    const kill = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    try {
      await ready;
      signal.throwIfAborted();
    } catch (error) {
      kill();
      throw error;
    } finally {
      signal.removeEventListener('abort', kill);
    }
  }

  async stop(id: string, graceMs: number): Promise<void> {
    const running = this.#running.get(id);
    if (running === undefined) return;
    running.child.kill('SIGTERM');
    const timer = setTimeout(() => running.child.kill('SIGKILL'), graceMs);
    await running.closed;
    clearTimeout(timer);
  }

  async status(id: string): Promise<RuntimeStatus> {
    const running = this.#running.get(id);
    if (running === undefined) return { phase: 'stopped', generation: undefined, detail: this.#ended.get(id) };
    return { phase: running.isReady ? 'running' : 'starting', generation: running.generation, detail: undefined };
  }

  async dial(id: string): Promise<{ socketPath: string }> {
    const running = this.#running.get(id);
    if (running === undefined) throw new RuntimeFailure('It does not run');
    return { socketPath: running.socketPath };
  }

  async list(): Promise<{ id: string; generation: number }[]> {
    return [...this.#running].map(([id, { generation }]) => ({ id, generation }));
  }

  async close(): Promise<void> {}

  /** The home of this workspace, on this machine. */
  async homeOf(id: string): Promise<string> {
    return join(await this.#folder, id, 'home');
  }

  /** The file with the workspace's token. */
  async tokenFileOf(id: string): Promise<string> {
    return join(await this.#folder, id, 'token');
  }

  /** The process of a running daemon. */
  pidOf(id: string): number | undefined {
    return this.#running.get(id)?.child.pid;
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.stop(id, 0)));
    await rm(await this.#folder, { recursive: true, force: true });
  }

  /** `number` is reserved before the first await: others start at the same time. */
  async #spawn({ id, generation, daemonTokenHash, workspaceToken }: StartedWorkspace, number: number) {
    const folder = join(await this.#folder, id);
    const home = join(folder, 'home');
    await mkdir(home, { recursive: true, mode: 0o700 });
    const [hashFile, tokenFile] = [join(folder, 'daemon-hash'), join(folder, 'token')];
    await writeFile(hashFile, daemonTokenHash);
    await writeFile(tokenFile, workspaceToken);
    const socketPath = join(await this.#folder, `${number}.sock`);
    const child = spawn(process.execPath, [daemonMain], {
      cwd: home,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        HOMEPORT_HOME: home,
        HOMEPORT_GENERATION: String(generation),
        HOMEPORT_LISTEN: `unix:${socketPath}`,
        HOMEPORT_READY_FD: '3',
        HOMEPORT_DAEMON_HASH_FILE: hashFile,
        HOMEPORT_TOKEN_FILE: tokenFile,
        HOMEPORT_URL: this.controlUrl,
      },
    });
    let errors = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-4000);
    });
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const running: Running = { generation, child, socketPath, isReady: false, closed };
    this.#running.set(id, running);
    this.#ended.delete(id);
    void closed.then(() => {
      if (this.#running.get(id) === running) this.#running.delete(id);
      this.#ended.set(id, `the daemon ended (${child.exitCode ?? child.signalCode}): ${errors}`);
    });
    // A pipe of the child's own, beside the usual three.
    const pipe = child.stdio[3] as Readable;
    const ready = new Promise<void>((resolve, reject) => {
      createInterface({ input: pipe }).once('line', () => resolve());
      void closed.then(() => reject(new RuntimeFailure(this.#ended.get(id) ?? 'the daemon ended')));
      child.once('error', reject);
    }).then(() => {
      running.isReady = true;
    });
    ready.catch(() => undefined);
    return { child, ready };
  }
}
