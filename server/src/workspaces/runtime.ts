import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Disk } from '../disk.ts';
import type { DaemonAddress } from '../egress/daemon-request.ts';
import type { Egress } from '../egress/egress.ts';

/** What starts and stops workspaces: one of runtimes/. `id` is the user's id, everywhere. */
export type WorkspaceRuntime = {
  readonly kind: 'local' | 'docker' | 'kubernetes';
  /** The memory of one workspace, where the runtime limits it and the daemon cannot see that. */
  readonly memoryLimitBytes?: number | undefined;
  /**
   * Asks for a running workspace of this generation and resolves when its daemon may be dialled; whoever asks then waits for the
   * daemon's health. A workspace of an older generation is ended first; one of this generation is left as it is.
   * Throws RuntimeFailure with a reason for people. When the signal aborts, what was begun is ended.
   */
  start(workspace: StartedWorkspace, signal: AbortSignal): Promise<void>;
  /** Ends it and everything in it, its home stays; resolves when it is gone. Nothing to end is no error. */
  stop(id: string, graceMs: number): Promise<void>;
  status(id: string): Promise<RuntimeStatus>;
  /** Where the daemon answers. Throws RuntimeFailure when there is none. */
  dial(id: string): Promise<DaemonAddress>;
  /** Everything of this installation that runs or starts, also what an earlier process began. */
  list(): Promise<{ id: string; generation: number }[]>;
  /** Lets go of what this process holds; workspaces run on. */
  close(): Promise<void>;
};

/** What the control plane gives to a runtime. */
export type RuntimeHost = {
  config: Config;
  log: Logger;
  egress: Egress;
  disk: Pick<Disk, 'level' | 'onLook'>;
  /** The enabled user of a workspace's token: for the proxy. */
  findUserId(token: string): Promise<string | undefined>;
  /** Answers what comes through a workspace's own way to the control plane, as if it came to our port. */
  serve: RequestListener;
};

/** Opens a runtime. Throws RuntimeFailure with a plain reason when it cannot work on this machine. */
export type OpenRuntime = (host: RuntimeHost) => Promise<WorkspaceRuntime>;

export type StartedWorkspace = {
  id: string;
  generation: number;
  /** A small number of its own for each workspace of the installation, for ever: the `local` runtime makes a uid of it. */
  slot: number;
  /** Hex SHA-256 of the token that opens the daemon. */
  daemonTokenHash: string;
  /** What the workspace authenticates with at the control plane and its proxy. Put it into a file, never into an environment. */
  workspaceToken: string;
};

export type RuntimeStatus = {
  phase: 'running' | 'starting' | 'stopped';
  generation: number | undefined;
  /** For people: what it waits for, what it cannot do, or why it ended. */
  detail: string | undefined;
};

/** Why a workspace cannot run, in words for people; `cause` is for the log. */
export class RuntimeFailure extends Error {}
