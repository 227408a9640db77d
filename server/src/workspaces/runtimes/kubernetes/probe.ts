import { RuntimeFailure } from '../../runtime.ts';
import { type Cluster, ClusterError, type Resource, resources } from './cluster.ts';
import { claimOf, networkPolicyOf, type ObjectSettings, secretOf, serviceOf, statefulSetOf } from './objects.ts';

/**
 * Everything that the runtime may do, and that the Role in deploy/helm/homeport grants. Server-side apply needs create
 * and patch.
 */
export const neededVerbs: readonly (readonly [Resource, readonly string[]])[] = [
  [resources.secrets, ['create', 'patch']],
  [resources.claims, ['get', 'create']],
  [resources.services, ['create', 'patch']],
  [resources.networkPolicies, ['create', 'patch']],
  [resources.statefulSets, ['get', 'list', 'create', 'patch']],
  [resources.pods, ['get']],
  [resources.events, ['list']],
];

/** Throws RuntimeFailure with a plain reason if workspaces cannot run in this cluster. Changes nothing there. */
export async function probeCluster(cluster: Cluster, settings: ObjectSettings): Promise<void> {
  const asked = neededVerbs.flatMap(([resource, verbs]) => verbs.map((verb) => cluster.whyForbidden(resource, verb)));
  const missing = (await answered(cluster, Promise.all(asked))).filter((reason) => reason !== undefined);
  if (missing.length > 0) {
    throw new RuntimeFailure(
      `in the namespace ${cluster.namespace} it lacks permission to ${missing.join(', ')}: see the Role in deploy/helm/homeport`,
    );
  }
  const id = 'probe';
  const secret = { id, generation: 0, slot: 0, daemonTokenHash: '', workspaceToken: '' };
  const dryRun = { dryRun: true };
  const applied = [
    cluster.apply(resources.services, serviceOf(settings), dryRun),
    cluster.apply(resources.networkPolicies, networkPolicyOf(settings), dryRun),
    cluster.apply(resources.secrets, secretOf(settings, secret), dryRun),
    cluster.apply(resources.statefulSets, statefulSetOf(settings, id, 0), dryRun),
    cluster.create(resources.claims, claimOf(settings, id), dryRun),
  ];
  await answered(cluster, Promise.all(applied));
}

async function answered<T>(cluster: Cluster, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    throw new RuntimeFailure(clusterReason(cluster, error), { cause: error });
  }
}

/** A failed request to the cluster, in words for people. */
export function clusterReason({ server, namespace }: Cluster, error: ClusterError): string {
  const { status, message } = error;
  if (status === 0) return `the cluster at ${server} does not answer: ${message}`;
  if (status === 401) return `the cluster at ${server} does not accept our credentials`;
  if (status === 404) return `the cluster has no namespace ${namespace}, or is older than 1.19: ${message}`;
  return `the cluster refuses: ${message}`;
}
