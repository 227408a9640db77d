import { readdir, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { DaemonAddress } from '../../../egress/daemon-request.ts';
import { KeyedMutex } from '../../../platform/concurrency/keyed-mutex.ts';
import { unlessAborted } from '../../../platform/waits.ts';
import { RuntimeFailure, type RuntimeStatus, type StartedWorkspace, type WorkspaceRuntime } from '../../runtime.ts';
import { type HomeSpace, largestFile, limitsInside, type Measured } from '../home-space.ts';
import type { WorkspaceSockets } from '../workspace-sockets.ts';
import type { ControlGroups, GroupLimits } from './control-groups.ts';
import { foldersOf, prepareFolders, uidOf, type WorkspaceFolders, writeInside, writeState } from './folders.ts';
import type { InsidePrograms } from './inside.ts';
import { type Launch, launchSandbox } from './launch.ts';
import {
  childrenOf,
  identify,
  type ProcessIdentity,
  processesIn,
  readBootId,
  signalProcess,
  waitUntilGone,
} from './process-identity.ts';
import { descriptors, type Tools } from './sandbox.ts';
import { bindForChild, listenAt, openSocketFolder, type SocketFolder } from './sockets.ts';
import { type LocalState, readState, runningOf } from './state.ts';

export type LocalOptions = {
  /** DATA_DIR/workspaces, without symbolic links; prepared. */
  root: string;
  programs: InsidePrograms;
  tools: Tools;
  filter: Buffer;
  groups: ControlGroups;
  limits: GroupLimits;
  space: HomeSpace;
  /** Limit of one home. */
  home: Measured;
  permissions: Record<string, string>;
  /** The servers of one workspace, by their socket's name: its ways out. */
  doors: () => WorkspaceSockets;
  onClose: () => void;
};

const socketName = 'daemon.sock';
const killPatienceMs = 5_000;
const tidyingUp = 'It can delete files but not write any, because space is short';

/**
 * Workspaces as sandboxes on this machine. All state is on disk and in /proc, so that another process can continue
 * where this one ended; only the wait for a start is kept in memory.
 */
export class LocalWorkspaces implements WorkspaceRuntime {
  readonly kind = 'local';
  readonly memoryLimitBytes: number | undefined;
  readonly #options: LocalOptions;
  readonly #sockets: SocketFolder;
  readonly #bootId: string;
  /** One change at a time per workspace. */
  readonly #turns = new KeyedMutex<string>();
  readonly #starting = new Map<string, number>();
  readonly #ends = new Map<string, string>();
  /** Workspaces that we end for a known reason. */
  readonly #endingFor = new Set<string>();
  /** How often the kernel had ended one of its processes for lack of memory when it was last known to run. */
  readonly #outOfMemory = new Map<string, number>();
  readonly #doors = new Map<string, Server[]>();

  private constructor(options: LocalOptions, sockets: SocketFolder, bootId: string) {
    this.#options = options;
    this.memoryLimitBytes = options.groups.controllers.includes('memory') ? options.limits.memoryBytes : undefined;
    this.#sockets = sockets;
    this.#bootId = bootId;
  }

  static async open(options: LocalOptions): Promise<LocalWorkspaces> {
    const workspaces = new LocalWorkspaces(options, await openSocketFolder(options.root), await readBootId());
    // Adopts the workspaces of an earlier process and reopens their sockets.
    for (const { id } of await workspaces.list()) {
      await workspaces.#openDoors(id);
      options.space.watch(id);
    }
    options.space.onChange(() => workspaces.#keepToSpace());
    return workspaces;
  }

  start(workspace: StartedWorkspace, signal: AbortSignal): Promise<void> {
    return this.#turns.take(workspace.id, async () => {
      signal.throwIfAborted();
      const { host } = foldersOf(this.#options.root, workspace.id);
      const state = await readState(host);
      const running = state === undefined ? [] : await runningOf(state);
      if (state?.generation === workspace.generation && state.isReady && running.length === 2) return;
      await this.#end(workspace.id, 0);
      this.#starting.set(workspace.id, workspace.generation);
      this.#ends.delete(workspace.id);
      this.#outOfMemory.delete(workspace.id);
      try {
        await this.#launch(workspace, signal);
      } catch (error) {
        await this.#end(workspace.id, 0);
        throw error;
      } finally {
        this.#starting.delete(workspace.id);
      }
    });
  }

  stop(id: string, graceMs: number): Promise<void> {
    return this.#turns.take(id, () => this.#end(id, graceMs));
  }

  async status(id: string): Promise<RuntimeStatus> {
    const starting = this.#starting.get(id);
    if (starting !== undefined) return { phase: 'starting', generation: starting, detail: undefined };
    const state = await readState(foldersOf(this.#options.root, id).host);
    if (state !== undefined) {
      const { generation } = state;
      const running = await runningOf(state);
      if (running.length === 2) {
        await this.#noteMemory(id);
        const detail = state.mayWrite ? undefined : tidyingUp;
        return { phase: state.isReady ? 'running' : 'starting', generation, detail };
      }
      // Without its daemon it is useless.
      for (const left of running) await signalProcess(left, 'SIGKILL');
    }
    return { phase: 'stopped', generation: undefined, detail: this.#ends.get(id) };
  }

  /** Measures all homes now, and ends workspaces that may no longer write. */
  measure(): Promise<void> {
    return this.#options.space.measureAll();
  }

  /** Ends those that can write but should not, and those that cannot but may again: the next start is right. */
  async #keepToSpace(): Promise<void> {
    const { root, space } = this.#options;
    const running = await this.list();
    await Promise.all(
      running.map(async ({ id }) => {
        const state = await readState(foldersOf(root, id).host);
        const why = state?.isReady === true ? space.whyEnd(id, state.mayWrite) : undefined;
        if (why === undefined) return;
        // Before the stop, so that a concurrent status request reports the same reason.
        this.#ends.set(id, why);
        this.#endingFor.add(id);
        await this.stop(id, 0).finally(() => this.#endingFor.delete(id));
      }),
    );
  }

  /** Looks at no file or process, since every request asks: where nothing runs, nothing answers there. */
  async dial(id: string): Promise<DaemonAddress> {
    foldersOf(this.#options.root, id);
    return { socketPath: this.#sockets.pathOf(join(id, 'host', socketName)) };
  }

  answered(id: string): void {
    void this.#noteMemory(id);
  }

  async #noteMemory(id: string): Promise<void> {
    this.#outOfMemory.set(id, await this.#options.groups.outOfMemoryCount(id));
  }

  async list(): Promise<{ id: string; generation: number }[]> {
    const names = (await readdir(this.#options.root)).filter((name) => !name.startsWith('.'));
    const found = await Promise.all(names.map(async (id) => ({ id, generation: (await this.status(id)).generation })));
    return found.filter((entry): entry is { id: string; generation: number } => entry.generation !== undefined);
  }

  async close(): Promise<void> {
    this.#options.space.close();
    await this.#turns.settled();
    for (const id of this.#doors.keys()) this.#closeDoors(id);
    await this.#sockets.close();
    await this.#options.groups.close();
    this.#options.onClose();
  }

  async #openDoors(id: string): Promise<WorkspaceSockets> {
    this.#closeDoors(id);
    const doors = this.#options.doors();
    this.#doors.set(id, Object.values(doors));
    for (const [name, server] of Object.entries(doors)) {
      await listenAt(server, this.#sockets.pathOf(join(id, 'inside', name)));
    }
    return doors;
  }

  #closeDoors(id: string): void {
    for (const server of this.#doors.get(id) ?? []) {
      server.close();
      server.closeAllConnections();
    }
    this.#doors.delete(id);
  }

  async #launch(workspace: StartedWorkspace, signal: AbortSignal): Promise<void> {
    const { root, tools, filter, groups, limits } = this.#options;
    const { id, generation } = workspace;
    const uid = uidOf(workspace.slot);
    const folders = await prepareFolders(root, id, uid);
    await writeInside(folders.inside, uid, {
      token: workspace.workspaceToken,
      'daemon-hash': workspace.daemonTokenHash,
    });
    const groupFiles = await groups.create(id, limits);
    const mayWrite = await this.#options.space.mayWrite(id);
    const doors = await this.#openDoors(id);
    const socket = await bindForChild(this.#sockets.pathOf(join(id, 'host', socketName)));
    let isPublished = false;
    try {
      signal.throwIfAborted();
      const sandbox = {
        ...this.#sandboxOf(workspace, doors['egress.sock'] !== undefined),
        id,
        root,
        uid,
        groupFiles,
        mayWrite,
      };
      const launch = launchSandbox({ sandbox, tools, filter, host: folders.host, listener: socket.listener });
      void launch.ended.then(({ why }) => this.#ended(id, launch.pid, folders, why));
      await unlessAborted(this.#await(launch, folders, { generation, mayWrite }), signal);
      socket.publish();
      isPublished = true;
    } finally {
      if (!isPublished) socket.discard();
    }
  }

  async #await(
    launch: Launch,
    { host }: WorkspaceFolders,
    started: Pick<LocalState, 'generation' | 'mayWrite'>,
  ): Promise<void> {
    const outer = await identify(launch.pid);
    const inner = await identify(await launch.inner);
    if (outer === undefined || inner === undefined) throw new RuntimeFailure((await launch.ended).why);
    const state: LocalState = { ...started, bootId: this.#bootId, outer, inner, isReady: false };
    await writeState(host, state);
    await launch.ready;
    await writeState(host, { ...state, isReady: true });
  }

  #sandboxOf({ generation }: StartedWorkspace, hasEgress: boolean) {
    const { programs, limits, groups } = this.#options;
    const hasMemoryGroup = groups.controllers.includes('memory');
    const environment = {
      PATH: '/opt/homeport/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
      HOME: '/home/user',
      LANG: 'C.UTF-8',
      USER: 'user',
      TMPDIR: '/tmp',
      HOMEPORT_HOME: '/home/user',
      HOMEPORT_GENERATION: String(generation),
      HOMEPORT_LISTEN: `fd:${descriptors.listen}`,
      HOMEPORT_READY_FD: String(descriptors.ready),
      HOMEPORT_DAEMON_HASH_FILE: '/run/workspace/daemon-hash',
      HOMEPORT_TOKEN_FILE: '/run/workspace/token',
      HOMEPORT_URL: 'unix:/run/workspace/control.sock',
      ...limitsInside(this.#options.home),
      ...this.#options.permissions,
      ...(hasEgress ? { HOMEPORT_EGRESS: 'unix:/run/workspace/egress.sock' } : {}),
    };
    const command = ['/opt/homeport/bin/node', `/opt/homeport/${programs.daemon}`];
    const processMemoryBytes = hasMemoryGroup ? undefined : limits.memoryBytes;
    const largestFileBytes = largestFile(this.#options.home);
    return { programs, processes: limits.processes, processMemoryBytes, largestFileBytes, environment, command };
  }

  /** Ends what runs of it, including what an earlier process started but never recorded. */
  async #end(id: string, graceMs: number): Promise<void> {
    const { root, groups } = this.#options;
    const { host, inside } = foldersOf(root, id);
    const state = await readState(host);
    const known = state === undefined ? [] : await runningOf(state);
    const [inner] = known.filter((identity) => identity.pid === state?.inner.pid);
    if (inner !== undefined && graceMs > 0) {
      for (const daemon of await childrenOf(inner.pid)) await signalProcess(daemon, 'SIGTERM');
      await waitUntilGone([inner], graceMs);
    }
    const strays = await processesIn(host);
    // So that they start nothing more while we look.
    for (const stray of strays) await signalProcess(stray, 'SIGSTOP');
    const below = await Promise.all(strays.map(({ pid }) => childrenOf(pid)));
    // Ending the first process inside ends all others; the process outside that waits for it comes last.
    const all: ProcessIdentity[] = [...known, ...below.flat(), ...strays];
    for (const identity of all) await signalProcess(identity, 'SIGKILL');
    if (!(await waitUntilGone(all, killPatienceMs))) throw new RuntimeFailure('the kernel does not end its processes');
    this.#closeDoors(id);
    await rm(join(host, 'state.json'), { force: true });
    await rm(join(host, socketName), { force: true });
    await rm(inside, { recursive: true, force: true });
    await groups.remove(id);
    this.#options.space.forget(id);
  }

  async #ended(id: string, pid: number, { host }: WorkspaceFolders, why: string): Promise<void> {
    // Checked before the reads below: by their end, our own stop can have finished.
    const isEndedByUs = this.#endingFor.has(id);
    // Processes that ran out of memory earlier, without ending the workspace, are not the reason now.
    const isOutOfMemory = (await this.#options.groups.outOfMemoryCount(id)) > (this.#outOfMemory.get(id) ?? 0);
    const state = await readState(host).catch(() => undefined);
    // Another one has taken its place, or it was ended on purpose.
    if (state !== undefined && state.outer.pid !== pid) return;
    if ((state === undefined && !this.#starting.has(id)) || isEndedByUs || this.#endingFor.has(id)) return;
    this.#ends.set(id, isOutOfMemory ? `it ran out of memory; ${why}` : why);
    if (state !== undefined) await signalProcess(state.inner, 'SIGKILL');
  }
}
