import type { WorkspaceMode, WorkspaceUsage } from '@homeport/contracts/workspace/workspace';
import type { Daemon } from './daemon.ts';
import type { TokenKind, WorkspaceUser } from './identity.ts';
import type { WorkspaceTimings } from './lifecycle/timings.ts';

/** Kind of a lease, which keeps a workspace from being stopped as idle. */
export type LeaseKind = 'turn' | 'exec' | 'terminal' | 'transfer';

/** A lease on a running workspace: renewed until released. */
export type WorkspaceLease = {
  daemon: Daemon;
  /** Aborted if the workspace was stopped or lost. */
  signal: AbortSignal;
  /** Call it on activity: an idle terminal or transfer loses its lease after a while. */
  touch(): void;
  /** It did not answer: the next holder first checks whether it is still there. */
  doubt(): void;
  release(): Promise<void>;
};

/** Interface of workspaces for other features. */
export type Workspaces = {
  readonly mode: WorkspaceMode;
  /** Reason why workspaces are off, or a warning for administrators; undefined without problems. */
  readonly notice: string | undefined;
  readonly timings: Pick<WorkspaceTimings, 'notesMs'>;
  status(userId: string): Promise<WorkspaceUsage>;
  /** Throws `workspace_disabled`, `workspace_start_timeout`. An aborted wait does not end the start. */
  start(userId: string, signal?: AbortSignal): Promise<void>;
  /** At once, whatever holds it. */
  stop(userId: string): Promise<void>;
  /** Starts it if necessary. Throws like `start`. */
  hold(userId: string, kind: LeaseKind, signal?: AbortSignal): Promise<WorkspaceLease>;
  /**
   * Sends a short request to the daemon, which counts as activity but holds no lease: the workspace can be stopped
   * meanwhile. Never starts it: undefined if it is not running. Throws what `question` throws.
   */
  ask<T>(userId: string, question: (daemon: Daemon) => Promise<T>): Promise<T | undefined>;
  /** The user of a workspace's token, enabled or disabled; undefined for an invalid or expired token. */
  findUser(token: string, kind?: TokenKind): Promise<WorkspaceUser | undefined>;
  /** Ends the workspace of an account that was disabled. */
  accountDisabled(userId: string): Promise<void>;
  /** Before the service ends: ends the unused ones if no other process serves them. Resolves within five seconds. */
  stopUnused(): Promise<void>;
  close(): Promise<void>;
};
