import { readFile } from 'node:fs/promises';
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Event, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Config } from '../../../config/config.ts';
import { systemClock } from '../../../platform/clock.ts';
import {
  type OpenRuntime,
  RuntimeFailure,
  type RuntimeHost,
  type RuntimeStatus,
  type StartedWorkspace,
  type TryRuntime,
  type WorkspaceRuntime,
} from '../../runtime.ts';
import { type Cluster, ClusterError, openCluster, resources } from './cluster.ts';
import { type Listener, openListener } from './listener.ts';
import { idAnnotation, labels, podName, workspaceName } from './names.ts';
import {
  claimOf,
  daemonPort,
  networkPolicyOf,
  type ObjectSettings,
  secretOf,
  serviceOf,
  statefulSetOf,
} from './objects.ts';
import { explainEvents, generationOf, hasEnded, isDeleted, isWanted, judgePod, lastEnd } from './pod-state.ts';
import { clusterReason, probeCluster } from './probe.ts';
import { objectSettings } from './settings.ts';

const ownNamespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
const firstPollMs = 50;
const longestPollMs = 500;
/** Time that the node needs on top of its pod's grace period, if it responds at all. */
const endMs = 60_000;
/** Daemons are called often, and a pod's address never changes. */
const addressMs = 5_000;

/** `last`: a pod of the previous generation that is being removed. */
type Found = { set: StatefulSet | undefined; pod: Pod | undefined; last: boolean };

async function settingsOf(config: Config, cluster: Cluster): Promise<ObjectSettings> {
  const ownNamespace = await readFile(ownNamespaceFile, 'utf8').catch(() => undefined);
  return objectSettings(config, cluster.namespace, ownNamespace?.trim());
}

/** Uses dry runs only: the Role allows no short-lived test objects. */
export const tryKubernetesRuntime: TryRuntime = async (config) => {
  const cluster = openCluster(config.workspaceNamespace);
  try {
    await probeCluster(cluster, await settingsOf(config, cluster));
    return `The cluster accepts the objects of workspaces in the namespace ${cluster.namespace}; none was started.`;
  } finally {
    cluster.close();
  }
};

/** Workspaces in pods of a Kubernetes cluster (docs/decisions/0023-kubernetes-workspaces.md). */
export const openKubernetesRuntime: OpenRuntime = async (host) => {
  const cluster = openCluster(host.config.workspaceNamespace);
  try {
    const settings = () => settingsOf(host.config, cluster);
    await probeCluster(cluster, await settings());
    return new KubernetesRuntime(cluster, host, settings, await openListener(host));
  } catch (error) {
    cluster.close();
    throw error;
  }
};

class KubernetesRuntime implements WorkspaceRuntime {
  readonly kind = 'kubernetes';
  readonly #cluster: Cluster;
  readonly #installation: string;
  readonly #settings: () => Promise<ObjectSettings>;
  readonly #listener: Listener;
  readonly #addresses = new Map<string, { host: string; until: number }>();

  constructor(cluster: Cluster, host: RuntimeHost, settings: () => Promise<ObjectSettings>, listener: Listener) {
    this.#cluster = cluster;
    this.#installation = host.config.workspaceInstallation;
    this.#settings = settings;
    this.#listener = listener;
  }

  async start(workspace: StartedWorkspace, signal: AbortSignal): Promise<void> {
    const { id, generation } = workspace;
    this.#addresses.delete(id);
    const { set } = await this.#find(id);
    const wasWanted = set !== undefined && isWanted(set);
    try {
      if (!wasWanted || generationOf(set) !== generation) {
        if (wasWanted) await this.#end(id, signal);
        signal.throwIfAborted();
        await this.#make(workspace);
      }
      await this.#untilRunning(id, generation, signal);
    } catch (error) {
      // The next start waits until it is gone.
      await this.#unwant(id).catch(() => undefined);
      signal.throwIfAborted();
      throw this.#failure(error);
    }
  }

  /** The pod's own grace period applies: five seconds, of which a daemon needs none. */
  async stop(id: string): Promise<void> {
    this.#addresses.delete(id);
    try {
      await this.#end(id, new AbortController().signal);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async status(id: string): Promise<RuntimeStatus> {
    const { set, pod, last } = await this.#find(id);
    if (set === undefined) return { phase: 'stopped', generation: undefined, detail: undefined };
    const generation = generationOf(set);
    // Its pod may still exist for a while.
    if (!isWanted(set)) return { phase: 'stopped', generation, detail: undefined };
    const state = judgePod(pod);
    if (state.phase === 'running') return { phase: 'running', generation, detail: lastEnd(pod) };
    if (state.phase === 'failed') return { phase: 'starting', generation, detail: state.reason };
    if (last) return { phase: 'starting', generation, detail: 'Waiting for its last pod to end' };
    return { phase: 'starting', generation, detail: state.detail ?? (await this.#explain(id, pod)) };
  }

  async dial(id: string): Promise<{ host: string; port: number }> {
    const known = this.#addresses.get(id);
    if (known !== undefined && known.until > systemClock.elapsed()) return { host: known.host, port: daemonPort };
    const state = judgePod(await this.#livePod(id));
    if (state.phase !== 'running') throw new RuntimeFailure('It does not run');
    this.#addresses.set(id, { host: state.address, until: systemClock.elapsed() + addressMs });
    return { host: state.address, port: daemonPort };
  }

  async list(): Promise<{ id: string; generation: number }[]> {
    try {
      const query = { labelSelector: `${labels.installation}=${this.#installation},${labels.workspace}` };
      const sets = await this.#cluster.list<StatefulSet>(resources.statefulSets, query);
      return sets
        .filter(isWanted)
        .map((set) => ({ id: set.metadata?.annotations?.[idAnnotation] ?? '', generation: generationOf(set) }))
        .filter(({ id }) => id !== '');
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async close(): Promise<void> {
    await this.#listener.close();
    this.#cluster.close();
  }

  async #make(workspace: StartedWorkspace): Promise<void> {
    const cluster = this.#cluster;
    const settings = await this.#settings();
    await Promise.all([
      cluster.apply(resources.services, serviceOf(settings)),
      cluster.apply(resources.networkPolicies, networkPolicyOf(settings)),
      cluster.apply(resources.secrets, secretOf(settings, workspace)),
      this.#makeHome(settings, workspace.id),
    ]);
    // Last, so that nothing of it runs before the network policy exists.
    await cluster.apply(resources.statefulSets, statefulSetOf(settings, workspace.id, workspace.generation));
  }

  async #makeHome(settings: ObjectSettings, id: string): Promise<void> {
    const found = await this.#cluster.read(resources.claims, workspaceName(this.#installation, id));
    if (found === undefined) await this.#cluster.create(resources.claims, claimOf(settings, id));
  }

  async #untilRunning(id: string, generation: number, signal: AbortSignal): Promise<void> {
    for (let pauseMs = firstPollMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPollMs)) {
      const pod = await this.#livePod(id).catch(passing);
      const state = judgePod(pod !== undefined && generationOf(pod) === generation ? pod : undefined);
      if (state.phase === 'running') return;
      if (state.phase === 'failed') throw new RuntimeFailure(state.reason);
      await systemClock.sleep(pauseMs, signal);
    }
  }

  /**
   * Resolves when nothing of it is running; its pod may still be listed for some seconds, and the next start waits for
   * that.
   */
  async #end(id: string, signal: AbortSignal): Promise<void> {
    if (!(await this.#unwant(id))) return;
    const name = podName(this.#installation, id);
    const until = systemClock.elapsed() + endMs;
    for (let pauseMs = firstPollMs; systemClock.elapsed() < until; pauseMs = Math.min(pauseMs * 1.5, longestPollMs)) {
      const isOver = await this.#cluster.read<Pod>(resources.pods, name).then(
        (pod) => pod === undefined || hasEnded(pod),
        (error) => passing(error) ?? false,
      );
      if (isOver) return;
      await systemClock.sleep(pauseMs, signal);
    }
    throw new RuntimeFailure(`its node does not end its pod ${name}`);
  }

  /** False if there is nothing to end. */
  #unwant(id: string): Promise<boolean> {
    const name = workspaceName(this.#installation, id);
    return this.#cluster.merge(resources.statefulSets, name, { spec: { replicas: 0 } });
  }

  async #find(id: string): Promise<Found> {
    try {
      const [set, pod] = await Promise.all([
        this.#cluster.read<StatefulSet>(resources.statefulSets, workspaceName(this.#installation, id)),
        this.#cluster.read<Pod>(resources.pods, podName(this.#installation, id)),
      ]);
      if (set === undefined || pod === undefined) return { set, pod: undefined, last: pod !== undefined };
      const last = isDeleted(pod) || generationOf(pod) !== generationOf(set);
      return { set, pod: last ? undefined : pod, last };
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #livePod(id: string): Promise<Pod | undefined> {
    const pod = await this.#cluster.read<Pod>(resources.pods, podName(this.#installation, id));
    return pod === undefined || isDeleted(pod) ? undefined : pod;
  }

  async #explain(id: string, pod: Pod | undefined): Promise<string | undefined> {
    const name = workspaceName(this.#installation, id);
    const about =
      pod === undefined ? { name, kind: 'StatefulSet' } : { name: pod.metadata?.name, uid: pod.metadata?.uid };
    const fields = Object.entries(about).map(([key, value]) => `involvedObject.${key}=${value}`);
    try {
      const events = await this.#cluster.list<Event>(resources.events, { fieldSelector: fields.join(',') });
      return explainEvents(events) ?? (pod === undefined ? 'Waiting for its pod' : 'Preparing its container');
    } catch {
      return undefined;
    }
  }

  #failure(error: unknown): unknown {
    if (!(error instanceof ClusterError)) return error;
    return new RuntimeFailure(clusterReason(this.#cluster, error), { cause: error });
  }
}

/** A busy cluster is asked again; any other error is thrown. */
function passing(error: unknown): undefined {
  if (error instanceof ClusterError && (error.status === 0 || error.status === 429 || error.status >= 500))
    return undefined;
  throw error;
}
