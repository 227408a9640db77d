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
   * people. If the signal aborts, the begun start is undone.
   */
  start(workspace: StartedWorkspace, signal: AbortSignal): Promise<void>;
  /** Ends it and everything in it, but keeps its home; resolves when it is gone. Nothing to end is not an error. */
  stop(id: string, graceMs: number): Promise<void>;
  status(id: string): Promise<RuntimeStatus>;
  /** Address of the daemon, if it runs. Throws RuntimeFailure if the address cannot be determined. */
  dial(id: string): Promise<DaemonAddress>;
  /** Called after each response of the daemon: earlier events inside did not end it. */
  answered?(id: string): void;
  /** Everything of this installation that is running or starting, including what an earlier process began. */
  list(): Promise<{ id: string; generation: number }[]>;
  /** Releases what this process holds; workspaces keep running. */
  close(): Promise<void>;
};

/** Services of the control plane that a runtime uses. */
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

/**
 * Tests the requirements of a start without lasting changes. Returns a description of the test for people. Throws
 * RuntimeFailure.
 */
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
  /** For people: the step it waits for, a limitation, or the reason of its end. */
  detail: string | undefined;
};

/** Why a workspace cannot run, in words for people; `cause` is for the log. */
export class RuntimeFailure extends Error {}
