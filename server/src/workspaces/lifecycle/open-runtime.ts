import type { WorkspaceMode } from '@homeport/contracts/workspace/workspace';
import { ConfigError } from '../../config/config.ts';
import { type OpenRuntime, RuntimeFailure, type RuntimeHost, type WorkspaceRuntime } from '../runtime.ts';

export type OpenedRuntime = {
  mode: WorkspaceMode;
  /** Undefined when workspaces are off. */
  runtime: WorkspaceRuntime | undefined;
  /** Why they are off although no setting says so. */
  notice: string | undefined;
};

// Imported on use, so that unused runtimes cost nothing.
const openers: Record<WorkspaceRuntime['kind'], () => Promise<OpenRuntime>> = {
  local: async () => (await import('../runtimes/local/local-runtime.ts')).openLocalRuntime,
  docker: async () => (await import('../runtimes/docker/docker-runtime.ts')).openDockerRuntime,
  kubernetes: async () => (await import('../runtimes/kubernetes/kubernetes-runtime.ts')).openKubernetesRuntime,
};

/**
 * The runtime that WORKSPACE_MODE names. If it cannot work, the start fails with a plain reason, a ConfigError; with
 * `auto`, workspaces are off instead, and the reason becomes the notice.
 */
export async function openRuntime(host: RuntimeHost): Promise<OpenedRuntime> {
  const wanted = host.config.workspaceMode;
  if (wanted === 'disabled') return { mode: 'disabled', runtime: undefined, notice: undefined };
  const kind = wanted === 'auto' ? 'local' : wanted;
  try {
    const open = await openers[kind]();
    return { mode: kind, runtime: await open(host), notice: undefined };
  } catch (error) {
    if (!(error instanceof RuntimeFailure)) throw error;
    if (wanted !== 'auto')
      throw new ConfigError([`WORKSPACE_MODE is "${kind}", which does not work here: ${error.message}`]);
    host.log.warn({ reason: error.message }, 'workspaces are off: the sandbox does not work here');
    return { mode: 'disabled', runtime: undefined, notice: error.message };
  }
}
