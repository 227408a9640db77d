import type { User } from '@homeport/contracts/fields';
import type { WorkspaceMode, WorkspaceStatus } from '@homeport/contracts/workspace';
import type { Daemon } from './daemon.ts';

/** What keeps a workspace from being stopped as idle. */
export type LeaseKind = 'turn' | 'exec' | 'terminal' | 'transfer';

/** A lease on a running workspace: renewed until released. */
export type WorkspaceHold = {
  daemon: Daemon;
  /** Aborted when the workspace was stopped or lost meanwhile. */
  signal: AbortSignal;
  /** Something happens: what holds a terminal or a transfer open without it is let go after a while. */
  touch(): void;
  /** It did not answer: whoever holds it next looks first whether it is still there. */
  doubt(): void;
  release(): Promise<void>;
};

/** Everything the rest of the product asks of workspaces. */
export type Workspaces = {
  readonly mode: WorkspaceMode;
  /** Why workspaces are off, or what an administrator should know; undefined when all is well. */
  readonly notice: string | undefined;
  status(userId: string): Promise<WorkspaceStatus>;
  /** Throws `workspace_disabled`, `workspace_start_timeout`. An aborted wait does not end the start. */
  start(userId: string, signal?: AbortSignal): Promise<void>;
  /** At once, whatever holds it. */
  stop(userId: string): Promise<void>;
  /** Starts it where needed. Throws as `start`. */
  hold(userId: string, kind: LeaseKind, signal?: AbortSignal): Promise<WorkspaceHold>;
  /** The enabled or disabled user of a workspace's token; undefined for a token that is not, or no longer, one. */
  findUser(token: string): Promise<User | undefined>;
  /** Ends the workspace of an account that was disabled. */
  accountDisabled(userId: string): Promise<void>;
  /** Before the service ends: ends those that nobody uses, where nobody else serves them. Resolves within five seconds. */
  stopUnused(): Promise<void>;
  close(): Promise<void>;
};
