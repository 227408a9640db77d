import type { Database } from '../../db/pool.ts';
import type { RuntimeHost, WorkspaceRuntime } from '../runtime.ts';
import type { Workspaces } from '../workspaces.ts';
import { disabledWorkspaces } from './disabled-workspaces.ts';
import { claimHost, readHostId } from './hosts.ts';
import { openRuntime } from './open-runtime.ts';
import { abandonElsewhere, loseOperations } from './rows.ts';
import { RuntimeWorkspaces, type WorkspacesDeps } from './runtime-workspaces.ts';
import { defaultWorkspaceTimings, type WorkspaceTimings } from './timings.ts';

export type WorkspacesOptions = {
  /** True if no other replica can use this database. */
  alone?: boolean;
  /** Tests pass their own. */
  workspaceRuntime?: WorkspaceRuntime;
  workspaceTimings?: WorkspaceTimings;
};

/**
 * An installation's workspaces as one of its replicas sees them: in the runtime that WORKSPACE_MODE names, or switched
 * off. Throws ConfigError if this machine cannot or may not run them.
 */
export async function openWorkspaces(
  deps: Omit<WorkspacesDeps, 'runtime' | 'host' | 'timings'> & { db: Database },
  options: WorkspacesOptions,
  host: RuntimeHost,
): Promise<Workspaces> {
  const given = options.workspaceRuntime;
  const { runtime, notice } = given === undefined ? await openRuntime(host) : { runtime: given, notice: undefined };
  if (runtime === undefined) return disabledWorkspaces(notice);
  const isOfOneMachine = given === undefined && runtime.kind !== 'kubernetes';
  const hostId = isOfOneMachine ? await readHostId(deps.config.dataDir) : undefined;
  if (hostId !== undefined) await claimHost(deps, hostId);
  const abandoned = await abandonElsewhere(deps, { runtime: runtime.kind, host: hostId });
  if (abandoned.length > 0) deps.log.warn({ abandoned }, 'marked workspaces of another machine or runtime as stopped');
  if (options.alone === true) await loseOperations(deps);
  const timings = options.workspaceTimings ?? defaultWorkspaceTimings;
  return new RuntimeWorkspaces({ ...deps, runtime, host: hostId, timings });
}
