import type { RequestOptions } from 'node:https';
import { trimEndOf } from '@homeport/contracts/text/trim-characters';
import { KubeConfig } from '@kubernetes/client-node';
import { openOperatorConnections } from '../../../egress/operator-connections.ts';
import { operatorRequest } from '../../../egress/operator-request.ts';
import { RuntimeFailure } from '../../runtime.ts';

/** A cluster's error; `status` 0 means that it did not answer. */
export class ClusterError extends Error {
  readonly status: number;
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** A kind of object that we use: `apps/v1 statefulsets`. */
export type Resource = `${string} ${string}`;
export const resources = {
  secrets: 'v1 secrets',
  claims: 'v1 persistentvolumeclaims',
  services: 'v1 services',
  pods: 'v1 pods',
  events: 'v1 events',
  statefulSets: 'apps/v1 statefulsets',
  networkPolicies: 'networking.k8s.io/v1 networkpolicies',
} as const satisfies Record<string, Resource>;

type Named = { metadata?: { name?: string } | undefined };

/** The API of one cluster, in one namespace. Everything throws ClusterError. */
export type Cluster = {
  /** Its address, for people. */
  server: string;
  namespace: string;
  /** Server-side apply with force: overrides changes of other field managers. */
  apply(resource: Resource, object: Named, options?: { dryRun: boolean }): Promise<void>;
  /** False if one with that name already exists. */
  create(resource: Resource, object: object, options?: { dryRun: boolean }): Promise<boolean>;
  /** Undefined if there is none. */
  read<T>(resource: Resource, name: string): Promise<T | undefined>;
  /** All of them, however many pages. */
  list<T>(resource: Resource, query: Record<string, string>): Promise<T[]>;
  /** Merges into the existing object; false if there is none. */
  merge(resource: Resource, name: string, change: object): Promise<boolean>;
  /** Undefined if allowed, otherwise why not. */
  whyForbidden(resource: Resource, verb: string): Promise<string | undefined>;
  close(): void;
};

const fieldManager = 'homeport';
const timeoutMs = 15_000;
const maxBytes = 32 * 1024 * 1024;
const pageSize = '500';
const maxSockets = 20;
const maxMessage = 1000;
/** Address that the library returns without any cluster configuration. */
const nowhere = 'http://localhost:8080';

/**
 * The cluster named by KUBECONFIG, `~/.kube/config` or the pod we are in, with its namespace unless another one is
 * given. Throws RuntimeFailure if nothing names one.
 */
export function openCluster(wantedNamespace: string | undefined): Cluster {
  const kubeConfig = loadKubeConfig();
  const cluster = kubeConfig.getCurrentCluster();
  const context = kubeConfig.getContextObject(kubeConfig.getCurrentContext());
  if (cluster === null || cluster.server === nowhere || !URL.canParse(cluster.server)) {
    throw new RuntimeFailure('no cluster: run it in a pod, or set KUBECONFIG to a file with a current context');
  }
  const namespace = wantedNamespace ?? context?.namespace ?? 'default';
  const connections = openOperatorConnections(maxSockets);

  const send = async (method: string, path: string, body?: object, type = 'application/json'): Promise<unknown> => {
    // Requested each time: tokens from files and credential plugins are renewed.
    const options: RequestOptions = {};
    try {
      await kubeConfig.applyToHTTPSOptions(options);
      // The library's agent opens a connection for every request; it is only needed for a proxy.
      if (cluster.proxyUrl === undefined) delete options.agent;
      const { status, text } = await operatorRequest(connections, {
        method,
        options,
        timeoutMs,
        maxBytes,
        url: new URL(`${trimEndOf(cluster.server, '/')}${path}`),
        headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': type }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (status < 200 || status > 299) throw new ClusterError(status, messageOf(text));
      return JSON.parse(text);
    } catch (error) {
      if (error instanceof ClusterError) throw error;
      throw new ClusterError(0, error instanceof Error ? error.message : String(error), { cause: error });
    }
  };
  const pathOf = (resource: Resource, name = '', query: Record<string, string> = {}): string => {
    const [version = '', plural = ''] = resource.split(' ');
    const root = version.includes('/') ? `/apis/${version}` : `/api/${version}`;
    const search = new URLSearchParams(query).toString();
    const tail = name === '' ? '' : `/${encodeURIComponent(name)}`;
    return `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}${tail}${search === '' ? '' : `?${search}`}`;
  };

  return {
    server: cluster.server,
    namespace,
    async apply(resource, object, { dryRun } = { dryRun: false }) {
      const query = { fieldManager, force: 'true', ...(dryRun ? { dryRun: 'All' } : {}) };
      const path = pathOf(resource, object.metadata?.name, query);
      await send('PATCH', path, object, 'application/apply-patch+yaml');
    },
    async create(resource, object, { dryRun } = { dryRun: false }) {
      const query = { fieldManager, ...(dryRun ? { dryRun: 'All' } : {}) };
      const made = await unless(409, send('POST', pathOf(resource, '', query), object));
      return made !== undefined;
    },
    read: <T>(resource: Resource, name: string) => unless<T>(404, send('GET', pathOf(resource, name)) as Promise<T>),
    async list<T>(resource: Resource, query: Record<string, string>) {
      const items: T[] = [];
      let next = '';
      do {
        const page = { ...query, limit: pageSize, ...(next === '' ? {} : { continue: next }) };
        const answer = (await send('GET', pathOf(resource, '', page))) as Page<T>;
        items.push(...(answer.items ?? []));
        next = answer.metadata?.continue ?? '';
      } while (next !== '');
      return items;
    },
    async merge(resource, name, change) {
      const path = pathOf(resource, name, { fieldManager });
      return (await unless(404, send('PATCH', path, change, 'application/merge-patch+json'))) !== undefined;
    },
    async whyForbidden(resource, verb) {
      const [version = '', plural = ''] = resource.split(' ');
      const group = version.includes('/') ? (version.split('/')[0] ?? '') : '';
      const answer = (await send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { namespace, verb, group, resource: plural } },
      })) as { status?: { allowed?: boolean } };
      return answer.status?.allowed === true ? undefined : `${verb} ${plural}`;
    },
    close: () => connections.close(),
  };
}

type Page<T> = { items?: T[]; metadata?: { continue?: string } };

function loadKubeConfig(): KubeConfig {
  const kubeConfig = new KubeConfig();
  try {
    kubeConfig.loadFromDefault();
  } catch (error) {
    throw new RuntimeFailure(`the kubeconfig cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  return kubeConfig;
}

async function unless<T>(status: number, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ClusterError && error.status === status) return undefined;
    throw error;
  }
}

/** The API sends a Status object; a proxy in front of it can send anything. */
function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string' && message !== '') return message.slice(0, maxMessage);
  } catch {}
  return text.slice(0, maxMessage) || 'no reason given';
}
