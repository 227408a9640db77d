/** Intervals of a replica, in milliseconds; tests shorten them. */
export type WorkspaceTimings = {
  /** How long a start may take, and how long somebody waits for one (control-plane-api.md "Workspace start wait"). */
  startMs: number;
  /** How often those who wait for another replica look. */
  pollMs: number;
  /** How often a start or a stop shows that it goes on, and what it waits for. */
  beatMs: number;
  sweepMs: number;
  /** How often holds look whether their workspace is still theirs. */
  watchMs: number;
  renewMs: number;
  /** How long a terminal or a transfer holds without anything happening. */
  lapseMs: number;
  /** What daemons get to end by themselves. */
  graceMs: number;
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
};

/** A workspace that runs a command in the background is left alone so long after its last use. */
export const backgroundMs = 2 * 3_600_000;
/** The oldest a workspace gets unless it is being used. */
export const lifetimeMs = 24 * 3_600_000;
