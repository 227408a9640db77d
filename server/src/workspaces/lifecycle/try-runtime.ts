import type { Config } from '../../config/config.ts';
import { RuntimeFailure, type TryRuntime } from '../runtime.ts';

const trials: Record<'local' | 'docker' | 'kubernetes', () => Promise<TryRuntime>> = {
  local: async () => (await import('../runtimes/local/local-runtime.ts')).tryLocalRuntime,
  docker: async () => (await import('../runtimes/docker/try-docker.ts')).tryDockerRuntime,
  kubernetes: async () => (await import('../runtimes/kubernetes/kubernetes-runtime.ts')).tryKubernetesRuntime,
};

/** `works` says what was tried, `broken` why it does not work; `wanted`: a setting says that it has to. */
export type Trial =
  | { state: 'off' }
  | { state: 'works'; said: string }
  | { state: 'broken'; why: string; wanted: boolean };

/** Tries what WORKSPACE_MODE names as a start would, beside a service that runs; nothing of it stays. */
export async function tryRuntime(config: Config): Promise<Trial> {
  const { workspaceMode: mode } = config;
  if (mode === 'disabled') return { state: 'off' };
  try {
    const attempt = await trials[mode === 'auto' ? 'local' : mode]();
    return { state: 'works', said: await attempt(config) };
  } catch (error) {
    if (!(error instanceof RuntimeFailure)) throw error;
    return { state: 'broken', why: error.message, wanted: mode !== 'auto' };
  }
}
