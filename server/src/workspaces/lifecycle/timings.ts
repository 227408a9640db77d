/** Intervals of a replica, in milliseconds; tests shorten them. */
export type WorkspaceTimings = {
  /** How long a start may take, and how long a request waits for one (control-plane-api.md "Workspace start wait"). */
  startMs: number;
  /** How often a process waiting for another replica checks. */
  pollMs: number;
  /** How often a start or stop reports that it is still running, with the step it waits for. */
  beatMs: number;
  sweepMs: number;
  /** How often holds check whether their workspace is still theirs. */
  watchMs: number;
  renewMs: number;
  /** How long an idle terminal or transfer keeps its lease. */
  lapseMs: number;
  /** How long daemons have to end by themselves. */
  graceMs: number;
  /** How long a daemon has to answer a health check; less while a status request waits. */
  healthMs: number;
  statusHealthMs: number;
  /** How long commands and terminals of another release's daemon may go on before their workspace is replaced. */
  drainMs: number;
  /** How long a turn waits for what a running workspace says of itself, before it takes what it said last. */
  notesMs: number;
};

export const defaultWorkspaceTimings: WorkspaceTimings = {
  startMs: 90_000,
  pollMs: 250,
  beatMs: 2_000,
  sweepMs: 15_000,
  watchMs: 1_000,
  renewMs: 20_000,
  lapseMs: 10 * 60_000,
  graceMs: 2_000,
  healthMs: 5_000,
  statusHealthMs: 2_000,
  drainMs: 30_000,
  notesMs: 1_500,
};

/** A workspace that no tool, file, terminal or preview has used since it started is stopped after this long. */
export const unusedMs = 2 * 60_000;
/** How long after its last use a workspace with a background command is kept running. */
export const backgroundMs = 2 * 3_600_000;
/** The maximum age of a workspace unless it is in use. */
export const lifetimeMs = 24 * 3_600_000;
