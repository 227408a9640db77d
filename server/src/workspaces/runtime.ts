import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { DaemonAddress } from '../egress/daemon-request.ts';
import type { Egress } from '../egress/egress.ts';
import type { Disk } from '../platform/disk-space.ts';

/** Starts and stops workspaces; implemented in runtimes/. `id` is always the user's id. */
export type WorkspaceRuntime = {
  readonly kind: 'local' | 'docker' | 'kubernetes';
  /** The memory of one workspace, if the runtime limits it and the daemon cannot see that. */
  readonly memoryLimitBytes?: number;
  /**
   * Requests a running workspace of this generation and resolves when its daemon can be dialled; the caller then waits
   * for its health. Ends an older generation first; leaves this one as it is. Throws RuntimeFailure with a reason for
   * people. If the signal aborts, what was begun is ended.
   */
  start(workspace: StartedWorkspace, signal: AbortSignal): Promise<void>;
  /** Ends it and everything in it, but keeps its home; resolves when it is gone. Nothing to end is not an error. */
  stop(id: string, graceMs: number): Promise<void>;
  status(id: string): Promise<RuntimeStatus>;
  /** Where the daemon answers, if it runs. Throws RuntimeFailure if this cannot be said. */
  dial(id: string): Promise<DaemonAddress>;
  /** Told whenever the daemon has answered: what happened inside before that did not end it. */
  answered?(id: string): void;
  /** Everything of this installation that is running or starting, including what an earlier process began. */
  list(): Promise<{ id: string; generation: number }[]>;
  /** Releases what this process holds; workspaces keep running. */
  close(): Promise<void>;
};

/** What the control plane gives to a runtime. */
export type RuntimeHost = {
  config: Config;
  log: Logger;
  egress: Egress;
  disk: Pick<Disk, 'level' | 'freeBytes' | 'onLook'>;
  /** The enabled user of a workspace's token, for the proxy. */
  findUserId(token: string): Promise<string | undefined>;
  /** Handles requests from a workspace's own socket or port as if they had come to the public one. */
  serve: RequestListener;
};

/** Opens a runtime. Throws RuntimeFailure with a plain reason if it cannot work on this machine. */
export type OpenRuntime = (host: RuntimeHost) => Promise<WorkspaceRuntime>;

/** Really tries what a start needs, and changes nothing: what was done, in words for people. Throws RuntimeFailure. */
export type TryRuntime = (config: Config) => Promise<string>;

export type StartedWorkspace = {
  id: string;
  generation: number;
  /**
   * A small, permanent number, unique to each workspace of the installation: the `local` runtime derives a uid from it.
   */
  slot: number;
  /** Hex SHA-256 of the token that opens the daemon. */
  daemonTokenHash: string;
  /** How the workspace authenticates to the control plane and its proxy. Put it in a file, never in an environment. */
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
