import type { DaemonHealth } from '@homeport/contracts/workspace/daemon';
import type { WorkspaceMode, WorkspaceStatus, WorkspaceUsage } from '@homeport/contracts/workspace/workspace';
import type { StopReason, WorkspaceState } from './rows.ts';
import { backgroundMs, unusedMs } from './timings.ts';

/** The members of the status that the endpoint of the specification has (contract.md section 8). */
export function plainStatus({ phase, ready, mode, message }: WorkspaceUsage): WorkspaceStatus {
  return { phase, ready, mode, ...messageOf(message) };
}

/** A workspace's status and use for its owner. `health` is undefined if it is running but does not answer; `message` then says why. */
export function usageStatus(
  mode: WorkspaceMode,
  idleMs: number,
  state: WorkspaceState | undefined,
  health: DaemonHealth | undefined,
  message = 'It is not responding right now',
): WorkspaceUsage {
  if (state === undefined || state.phase === 'stopped' || state.phase === 'stopping') {
    return { phase: 'stopped', ready: false, mode, ...messageOf(whyStopped(state, idleMs)) };
  }
  if (state.phase === 'starting') return { phase: 'starting', ready: false, mode, ...messageOf(state.message) };
  return {
    phase: 'running',
    ready: health !== undefined,
    mode,
    ...messageOf(health === undefined ? message : health.usage.full),
    ...(state.started_at === null ? {} : { startedAt: state.started_at.toISOString() }),
    ...idleStop(state, idleMs, health),
    ...(health === undefined ? {} : { usage: usageOf(health) }),
  };
}

function usageOf({ usage }: DaemonHealth): NonNullable<WorkspaceUsage['usage']> {
  const { full: _told, ...numbers } = usage;
  return numbers;
}

function messageOf(message: string | null | undefined): { message?: string } {
  return message === undefined || message === null ? {} : { message };
}

function whyStopped(state: WorkspaceState | undefined, idleMs: number): string | undefined {
  const reason: StopReason | null = state?.stop_reason ?? null;
  if (reason === 'failed') return `The last start failed: ${state?.last_error ?? 'for an unknown reason'}`;
  if (reason === 'lost') return `It ended unexpectedly: ${state?.last_error ?? 'for an unknown reason'}`;
  if (reason === 'idle' && state?.last_error) return state.last_error;
  if (reason === 'release') return state?.last_error ?? undefined;
  if (reason === 'idle') return `It was stopped because nothing used it for ${minutesOf(state, idleMs)} minutes`;
  if (reason === 'age') return 'It was stopped because it had run for a day';
  return undefined;
}

function minutesOf(state: WorkspaceState | undefined, idleMs: number): number {
  return Math.round(idleOf(state, idleMs) / 60_000);
}

function idleOf(state: WorkspaceState | undefined, idleMs: number): number {
  return state?.used === false ? Math.min(idleMs, unusedMs) : idleMs;
}

function idleStop(state: WorkspaceState, idleMs: number, health: DaemonHealth | undefined): { idleStopAt?: string } {
  if (state.in_use) return {};
  const works = (health?.active.processes ?? 0) > 0;
  const at = state.last_activity_at.getTime() + (works ? Math.max(idleMs, backgroundMs) : idleOf(state, idleMs));
  return { idleStopAt: new Date(at).toISOString() };
}
