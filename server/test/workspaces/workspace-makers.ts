import { RuntimeWorkspaces } from '../../src/workspaces/lifecycle/runtime-workspaces.ts';
import type { WorkspaceTimings } from '../../src/workspaces/lifecycle/timings.ts';
import type { TestApp } from '../app.ts';

/** Nothing runs in the background: tests call `sweep`. */
export const quiet: Partial<WorkspaceTimings> = { sweepMs: 1_000_000_000, beatMs: 20, pollMs: 10, watchMs: 20 };

/** The workspaces of an app, with helpers of tests beside their interface. */
export function workspacesOf(app: TestApp): RuntimeWorkspaces {
  const { workspaces } = app.service.deps;
  if (!(workspaces instanceof RuntimeWorkspaces)) throw new Error('This app has no workspaces');
  return workspaces;
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
