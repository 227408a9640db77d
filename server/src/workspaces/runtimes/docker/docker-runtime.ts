import type { ContainerInspectInfo } from 'dockerode';
import { daemonRequest } from '../../../egress/daemon-request.ts';
import { systemClock } from '../../../platform/clock.ts';
import { KeyedMutex } from '../../../platform/concurrency/keyed-mutex.ts';
import {
  type OpenRuntime,
  RuntimeFailure,
  type RuntimeHost,
  type RuntimeStatus,
  type StartedWorkspace,
  type WorkspaceRuntime,
} from '../../runtime.ts';
import { HomeSpace, limitsOf } from '../home-space.ts';
import { createWorkspaceSocketsFactory, type WorkspaceSockets } from '../workspace-sockets.ts';
import { containerName, containerOptions, labels } from './container.ts';
import { type DaemonSocket, holdSocket } from './daemon-socket.ts';
import { connectEngine, type Engine, inspect, reasonOf, removeContainer } from './engine.ts';
import { openFolders, type WorkspaceFolders } from './folders.ts';
import { makeHome, measureVolume } from './homes.ts';
import { enginePathOf, probeEngine } from './probe.ts';

const socketPollMs = 10;
const containerPollMs = 250;
/** A daemon that listens but does not answer for this long has failed. */
const answerMs = 20_000;
/** Each measurement is a container. */
const measureMs = 5 * 60_000;
const tidyingUp = 'It can delete files but not write any, because space is short';

/** Workspaces in containers of a Docker engine (docs/decisions/0022-docker-workspaces.md). */
export const openDockerRuntime: OpenRuntime = async (host) => {
  if (process.platform !== 'linux') {
    throw new RuntimeFailure(
      'containers share their sockets with Homeport on Linux only: run Homeport in a container too',
    );
  }
  const engine = connectEngine(host.config);
  try {
    await probeEngine(engine, host.config, host.log);
    const folders = await openFolders(host.config.dataDir, (folder) => enginePathOf(engine, folder));
    const runtime = new DockerRuntime(host, engine, folders);
    await runtime.adopt().catch(async (error) => {
      await runtime.close();
      throw error;
    });
    return runtime;
  } catch (error) {
    throw error instanceof RuntimeFailure ? error : failure(error, host);
  }
};

export class DockerRuntime implements WorkspaceRuntime {
  readonly kind = 'docker';
  readonly #host: RuntimeHost;
  readonly #engine: Engine;
  readonly #folders: WorkspaceFolders;
  readonly #makeDoors: () => WorkspaceSockets;
  readonly #turns = new KeyedMutex<string>();
  readonly #sockets = new Map<string, { generation: number; socket: DaemonSocket }>();
  readonly #doors = new Map<string, WorkspaceSockets>();
  readonly #space: HomeSpace;
  /** Why we ended them. */
  readonly #ends = new Map<string, string>();

  constructor(host: RuntimeHost, engine: Engine, folders: WorkspaceFolders) {
    this.#host = host;
    this.#engine = engine;
    this.#folders = folders;
    this.#makeDoors = createWorkspaceSocketsFactory(host);
    const { config, disk } = host;
    // An engine on another machine has another disk.
    const isHere = config.workspaceDockerHost.startsWith('unix:');
    this.#space = new HomeSpace({
      disk: isHere ? disk : { level: 'ample', freeBytes: 0, onLook: () => undefined },
      limits: limitsOf(config),
      measure: (id) => measureVolume(engine, config, id),
      everyMs: measureMs,
    });
    this.#space.onChange(() => this.#keepToSpace());
  }

  /** Adopts the workspaces of an earlier process and reopens their sockets. */
  async adopt(): Promise<void> {
    for (const { id, generation } of await this.list()) {
      this.#space.watch(id);
      await this.#openDoors(id, generation).catch((error) => {
        this.#host.log.warn({ id, cause: error }, 'a running workspace cannot reach Homeport: its folder is gone');
      });
    }
  }

  start(workspace: StartedWorkspace, signal: AbortSignal): Promise<void> {
    return this.#turns.take(workspace.id, async () => {
      const { id, generation } = workspace;
      signal.throwIfAborted();
      const found = await this.#inspect(id);
      const isThere = found !== undefined && isAlive(found) && generationOf(found) === generation;
      if (found !== undefined && !isThere) await this.#end(id, 0);
      this.#ends.delete(id);
      try {
        if (!isThere) await this.#create(workspace);
        await this.#untilReady(id, generation, signal);
      } catch (error) {
        await this.#end(id, 0).catch(() => undefined);
        signal.throwIfAborted();
        throw failure(error, this.#host);
      }
    });
  }

  stop(id: string, graceMs: number): Promise<void> {
    return this.#turns.take(id, async () => {
      try {
        await this.#end(id, graceMs);
      } catch (error) {
        throw failure(error, this.#host);
      }
    });
  }

  async status(id: string): Promise<RuntimeStatus> {
    const found = await this.#inspect(id);
    if (found === undefined) return { phase: 'stopped', generation: undefined, detail: this.#ends.get(id) };
    const generation = generationOf(found);
    if (!isAlive(found)) return { phase: 'stopped', generation, detail: this.#endOf(found) };
    if (found.State.Running && (await this.#hold(id, generation)) !== undefined) {
      return { phase: 'running', generation, detail: mayWrite(found) ? undefined : tidyingUp };
    }
    return { phase: 'starting', generation, detail: 'Starting its container' };
  }

  async dial(id: string): Promise<{ socketPath: string }> {
    const held = this.#sockets.get(id);
    if (held !== undefined) return { socketPath: held.socket.socketPath };
    const found = await this.#inspect(id);
    const socket = found?.State.Running === true ? await this.#hold(id, generationOf(found)) : undefined;
    if (socket === undefined) throw new RuntimeFailure('It does not run');
    return { socketPath: socket.socketPath };
  }

  async list(): Promise<{ id: string; generation: number }[]> {
    const filters = { label: [`${labels.installation}=${this.#folders.installation}`] };
    try {
      const containers = await this.#engine.listContainers({ all: true, filters });
      return containers
        .filter(({ State }) => State !== 'exited' && State !== 'dead' && State !== 'removing')
        .map(({ Labels }) => ({ id: Labels[labels.workspace] ?? '', generation: Number(Labels[labels.generation]) }));
    } catch (error) {
      throw failure(error, this.#host);
    }
  }

  /** Measures all homes now, and ends workspaces that may no longer write. */
  measure(): Promise<void> {
    return this.#space.measureAll();
  }

  async close(): Promise<void> {
    this.#space.close();
    await this.#turns.settled();
    await Promise.all([...this.#sockets.keys()].map((id) => this.#letGo(id)));
    for (const id of this.#doors.keys()) this.#closeDoors(id);
    await this.#folders.close();
  }

  async #create(workspace: StartedWorkspace): Promise<void> {
    const folders = await this.#folders.make(workspace);
    await this.#openDoors(workspace.id, workspace.generation);
    const { config } = this.#host;
    const { installation } = this.#folders;
    await makeHome(this.#engine, config, installation, workspace.id);
    const isAllowed = await this.#space.mayWrite(workspace.id);
    const options = containerOptions(config, installation, workspace, folders, isAllowed);
    const container = await this.#engine.createContainer(options);
    await container.start();
  }

  /** Ends those that can write but should not, and those that cannot but may again: the next start is right. */
  async #keepToSpace(): Promise<void> {
    for (const { id } of await this.list()) {
      const found = await this.#inspect(id);
      const why = found?.State.Running === true ? this.#space.whyEnd(id, mayWrite(found)) : undefined;
      if (why === undefined) continue;
      // Before the stop, so that a concurrent status request reports the same reason.
      this.#ends.set(id, why);
      await this.stop(id, 0);
    }
  }

  async #openDoors(id: string, generation: number): Promise<void> {
    this.#closeDoors(id);
    const doors = this.#makeDoors();
    this.#doors.set(id, doors);
    await this.#folders.listen(doors, id, generation);
  }

  #closeDoors(id: string): void {
    for (const server of Object.values(this.#doors.get(id) ?? {})) {
      server.close();
      server.closeAllConnections();
    }
    this.#doors.delete(id);
  }

  async #inspect(id: string): Promise<ContainerInspectInfo | undefined> {
    try {
      return await inspect(this.#engine.getContainer(containerName(id)));
    } catch (error) {
      throw failure(error, this.#host);
    }
  }

  /** The socket appears when the daemon listens; the container is checked now and then in case it ends before. */
  async #untilReady(id: string, generation: number, signal: AbortSignal): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += socketPollMs) {
      const socket = await this.#hold(id, generation);
      if (socket !== undefined && (await isAnswered(socket))) return;
      await systemClock.sleep(socketPollMs, signal);
      if (waitedMs % containerPollMs !== 0) continue;
      const found = await this.#inspect(id);
      if (found === undefined) throw new RuntimeFailure('The container was removed while it started');
      if (!isAlive(found)) throw new RuntimeFailure(await this.#whyEnded(found));
    }
  }

  async #hold(id: string, generation: number): Promise<DaemonSocket | undefined> {
    const held = this.#sockets.get(id);
    if (held?.generation === generation) return held.socket;
    const socket = await holdSocket(this.#folders.daemonSocket(id, generation));
    if (socket === undefined) return undefined;
    await this.#letGo(id);
    this.#sockets.set(id, { generation, socket });
    return socket;
  }

  async #letGo(id: string): Promise<void> {
    const held = this.#sockets.get(id);
    this.#sockets.delete(id);
    await held?.socket.close();
  }

  async #end(id: string, graceMs: number): Promise<void> {
    const container = this.#engine.getContainer(containerName(id));
    if (graceMs >= 1000) await container.stop({ t: Math.ceil(graceMs / 1000) }).catch(() => undefined);
    await removeContainer(container);
    await this.#letGo(id);
    this.#closeDoors(id);
    await this.#folders.remove(id);
    this.#space.forget(id);
  }

  #endOf({ State }: ContainerInspectInfo): string {
    const { workspaceMemoryMb } = this.#host.config;
    if (State.OOMKilled) return `It ran out of memory: more than ${workspaceMemoryMb} MiB`;
    if (State.Error !== '') return `Its container did not start: ${State.Error.slice(0, 500)}`;
    return `Its container ended with exit code ${State.ExitCode}`;
  }

  async #whyEnded(found: ContainerInspectInfo): Promise<string> {
    const words = await this.#engine
      .getContainer(found.Id)
      .logs({ stdout: true, stderr: true, tail: 40 })
      .then((bytes) => lastWords(withoutFraming(bytes as unknown as Buffer)))
      .catch(() => '');
    return words === '' ? this.#endOf(found) : `${this.#endOf(found)}: ${words}`;
  }
}

/** A socket's file exists a moment before it listens. */
async function isAnswered({ socketPath }: DaemonSocket): Promise<boolean> {
  try {
    const { body } = await daemonRequest({ socketPath }, '/v1/health', { headersTimeoutMs: answerMs });
    body.resume();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return false;
    throw error;
  }
}

/** The text of a log: each write has an 8-byte header with its length in the last four. */
function withoutFraming(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at + 4);
    parts.push(bytes.subarray(at + 8, end));
    at = end;
  }
  return Buffer.concat(parts).toString('utf8').trim();
}

/** The line of a log that says what went wrong, otherwise its last. */
function lastWords(log: string): string {
  const lines = log.split('\n');
  return (lines.find((line) => /^(\w*Error|daemon): /.test(line)) ?? lines.at(-1) ?? '').slice(0, 500);
}

function isAlive({ State }: ContainerInspectInfo): boolean {
  return State.Running || State.Status === 'created';
}

function mayWrite({ Config }: ContainerInspectInfo): boolean {
  return Config.Labels[labels.writes] !== 'no';
}

function generationOf({ Config }: ContainerInspectInfo): number {
  return Number(Config.Labels[labels.generation] ?? 0);
}

function failure(error: unknown, { config }: RuntimeHost): RuntimeFailure {
  if (error instanceof RuntimeFailure) return error;
  return new RuntimeFailure(reasonOf(error, config), { cause: error });
}
