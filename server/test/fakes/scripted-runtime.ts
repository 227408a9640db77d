import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DaemonHealth, daemonProtocol } from '@homeport/contracts/workspace/daemon';
import {
  RuntimeFailure,
  type RuntimeStatus,
  type StartedWorkspace,
  type WorkspaceRuntime,
} from '../../src/workspaces/runtime.ts';
import { sha256 } from '../../src/workspaces/tokens.ts';

type Running = { workspace: StartedWorkspace; server: Server; socketPath: string; processes: number };

/**
 * A runtime with scripted starts, whose daemons are small servers in this process that check their token. Several apps
 * can share it as replicas do. Call `destroy` in `after`.
 */
export class ScriptedRuntime implements WorkspaceRuntime {
  readonly kind = 'docker';
  /** Every daemon that was made, and every stop that was requested. */
  readonly started: StartedWorkspace[] = [];
  readonly stopped: string[] = [];
  /** Ids of every requested start, including those of running workspaces. */
  readonly asked: string[] = [];
  /** Runs in place of just making a daemon. */
  onStart:
    | ((workspace: StartedWorkspace, signal: AbortSignal, launch: () => Promise<void>) => Promise<void>)
    | undefined;
  /** Called before anything is ended. */
  onStop: ((id: string) => Promise<void> | void) | undefined;
  /** The health that daemons report, in place of this release's. */
  onHealth: ((workspace: StartedWorkspace, health: DaemonHealth) => unknown) | undefined;
  /** Requests to daemons other than for their health, as `POST /v1/drain`, with their bodies. */
  readonly requests: { id: string; route: string; body: string }[] = [];
  /** Details of `status` in addition to the phase. */
  readonly details = new Map<string, string>();
  readonly #running = new Map<string, Running>();
  #folder: Promise<string> | undefined;
  #sockets = 0;

  async start(workspace: StartedWorkspace, signal: AbortSignal): Promise<void> {
    this.asked.push(workspace.id);
    const found = this.#running.get(workspace.id);
    if (found?.workspace.generation === workspace.generation) return;
    if (found !== undefined) await this.#close(workspace.id);
    const launch = () => this.launch(workspace);
    if (this.onStart === undefined) await launch();
    else await this.onStart(workspace, signal, launch);
  }

  /** Starts a daemon regardless of the recorded state. */
  async launch(workspace: StartedWorkspace): Promise<void> {
    this.started.push(workspace);
    this.#folder ??= mkdtemp(join(tmpdir(), 'hp-sr-'));
    this.#sockets += 1;
    const name = String(this.#sockets);
    const socketPath = join(await this.#folder, name);
    const server = createServer(async (request, response) => {
      if (request.url !== '/v1/health') {
        const body = (await request.toArray()).join('');
        this.requests.push({ id: workspace.id, route: `${request.method} ${request.url}`, body });
        return response.end('{"ok":true}');
      }
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      const known = sha256(token) === workspace.daemonTokenHash;
      const health = this.#healthOf(workspace);
      const own = this.onHealth?.(workspace, health) ?? health;
      response.end(JSON.stringify(known ? own : { ok: true }));
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    this.details.delete(workspace.id);
    this.#running.set(workspace.id, { workspace, server, socketPath, processes: 0 });
  }

  async stop(id: string): Promise<void> {
    this.stopped.push(id);
    await this.onStop?.(id);
    await this.#close(id);
  }

  async status(id: string): Promise<RuntimeStatus> {
    const running = this.#running.get(id);
    const detail = this.details.get(id);
    if (running === undefined) return { phase: 'stopped', generation: undefined, detail };
    return { phase: 'running', generation: running.workspace.generation, detail };
  }

  async dial(id: string): Promise<{ socketPath: string }> {
    const running = this.#running.get(id);
    if (running === undefined) throw new RuntimeFailure('It does not run');
    return { socketPath: running.socketPath };
  }

  async list(): Promise<{ id: string; generation: number }[]> {
    return [...this.#running].map(([id, { workspace }]) => ({ id, generation: workspace.generation }));
  }

  async close(): Promise<void> {}

  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  generationsOf(id: string): number[] {
    return this.started.filter((workspace) => workspace.id === id).map(({ generation }) => generation);
  }

  /** The workspace's own token of its last start. */
  tokenOf(id: string): string {
    return this.started.findLast((workspace) => workspace.id === id)?.workspaceToken ?? '';
  }

  /** Something runs in the background. */
  setProcesses(id: string, processes: number): void {
    const running = this.#running.get(id);
    if (running !== undefined) running.processes = processes;
  }

  /** It ends by itself. */
  async die(id: string, detail: string): Promise<void> {
    await this.#close(id);
    this.details.set(id, detail);
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.#close(id)));
    if (this.#folder !== undefined) await rm(await this.#folder, { recursive: true, force: true });
  }

  #healthOf({ id, generation }: StartedWorkspace): DaemonHealth {
    return {
      ok: true,
      protocol: daemonProtocol,
      generation,
      bootId: 'scripted',
      active: { processes: this.#running.get(id)?.processes ?? 0, terminals: 0, transfers: 0 },
      lastActivityAt: new Date().toISOString(),
      usage: {
        memoryBytes: 1,
        memoryLimitBytes: null,
        processes: 1,
        homeBytes: 0,
        homeBytesLimit: null,
        homeFiles: 0,
        homeFilesLimit: null,
        full: null,
      },
    };
  }

  async #close(id: string): Promise<void> {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    running.server.closeAllConnections();
    await new Promise((resolve) => running.server.close(resolve));
  }
}
