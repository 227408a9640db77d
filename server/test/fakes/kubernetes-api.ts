import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Json } from '../app.ts';
import { faultsOf } from '../workspaces/kubernetes/api-schema.ts';
import { makeCertificates } from './certificates.ts';

/**
 * The part of a Kubernetes API that the runtime uses, over TLS, with a token: objects in memory, checked against the
 * official definitions; a StatefulSet with a replica gets its pod, with the status that the test sets.
 */
export type KubernetesApi = {
  kubeconfig: string;
  url: string;
  /** By `plural/name`. */
  objects: Map<string, Json>;
  /** `METHOD plural/name`, without requests that only read. */
  writes: string[];
  /** `verb plural` that is not allowed. */
  denied: Set<string>;
  /** The status of new pods; undefined: none is made. */
  podStatus: Json;
  /** Called with each new pod and the StatefulSet that it belongs to. */
  onPod: ((set: Json, pod: Json) => void) | undefined;
  /** Unwanted pods stay, marked as deleted. */
  linger: boolean;
  /** Answers this to every request. */
  broken: { status: number; body: string } | undefined;
  close(): Promise<void>;
};

export const runningPod = {
  phase: 'Running',
  podIP: '127.0.0.1',
  containerStatuses: [{ name: 'workspace', state: { running: {} } }],
};

const token = 'token-of-the-fake';
const pageSize = 2;

export async function startKubernetesApi(): Promise<KubernetesApi> {
  const folder = await mkdtemp(join(tmpdir(), 'hp-kubernetes-'));
  const { key, cert, caFile } = makeCertificates(folder, ['127.0.0.1']);
  const server = createServer({ key, cert }, (request, response) => {
    answer(api, request).then(
      ({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      },
      (error: unknown) => response.destroy(error as Error),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfig = join(folder, 'kubeconfig');
  const named = {
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': caFile } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'people' } }],
  };
  await writeFile(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'x', ...named }));
  const api: KubernetesApi = {
    kubeconfig,
    url,
    objects: new Map(),
    writes: [],
    denied: new Set(),
    podStatus: runningPod,
    linger: false,
    onPod: undefined,
    broken: undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
  return api;
}

type Answer = { status: number; body: Json };

async function answer(api: KubernetesApi, request: IncomingMessage): Promise<Answer> {
  const body = await text(request);
  if (api.broken !== undefined) return api.broken;
  if (request.headers.authorization !== `Bearer ${token}`) return failure(401, 'Unauthorized');
  const { pathname, searchParams } = new URL(request.url ?? '', api.url);
  const given: Json = body === '' ? undefined : JSON.parse(body);
  if (pathname === '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews') {
    const { verb, resource } = given.spec.resourceAttributes;
    return { status: 201, body: { status: { allowed: !api.denied.has(`${verb} ${resource}`) } } };
  }
  const [, plural = '', name] = /^\/apis?\/.+\/namespaces\/people\/([a-z]+)(?:\/([a-z0-9-]+))?$/.exec(pathname) ?? [];
  if (plural === '') return failure(404, 'no such path');
  if (request.method === 'GET' && name === undefined) return list(api, plural, searchParams);
  const id = `${plural}/${name ?? given.metadata.name}`;
  const found = api.objects.get(id);
  if (request.method === 'GET') {
    return found === undefined ? failure(404, `${id} not found`) : { status: 200, body: found };
  }
  const isDryRun = searchParams.get('dryRun') === 'All';
  if (!isDryRun) api.writes.push(`${request.method} ${id}`);
  const isMerge = request.headers['content-type'] === 'application/merge-patch+json';
  if (isMerge && found === undefined) return failure(404, `${id} not found`);
  if (request.method === 'POST' && found !== undefined) return failure(409, `${id} already exists`);
  const faults = isMerge ? [] : faultsOf(given);
  if (faults.length > 0) return failure(422, faults.join('; '));
  if (!isDryRun) {
    const object = isMerge ? { ...found, spec: { ...found.spec, ...given.spec } } : given;
    api.objects.set(id, object);
    if (plural === 'statefulsets') control(api, object);
  }
  return { status: 200, body: given };
}

/** Does the work of the StatefulSet controller. */
function control(api: KubernetesApi, set: Json): void {
  const id = `pods/${set.metadata.name}-0`;
  const pod = api.objects.get(id);
  if (set.spec.replicas === 0) {
    if (pod !== undefined && api.linger) pod.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    else api.objects.delete(id);
  } else if (pod === undefined && api.podStatus !== undefined) {
    const { labels, annotations } = set.spec.template.metadata;
    const metadata = { name: `${set.metadata.name}-0`, uid: `${api.writes.length}`, labels, annotations };
    const made = { metadata, spec: { nodeName: 'node' }, status: api.podStatus };
    api.objects.set(id, made);
    api.onPod?.(set, made);
  }
}

function list(api: KubernetesApi, plural: string, query: URLSearchParams): Answer {
  const wanted = (query.get('labelSelector') ?? '').split(',').filter((part) => part !== '');
  const fields = (query.get('fieldSelector') ?? '').split(',').filter((part) => part !== '');
  const all = [...api.objects]
    .filter(([id]) => id.startsWith(`${plural}/`))
    .map(([, object]) => object)
    .filter(({ metadata }) =>
      wanted.every((part) => {
        const [key = '', value] = part.split('=');
        return value === undefined ? metadata.labels?.[key] !== undefined : metadata.labels?.[key] === value;
      }),
    )
    .filter(({ involvedObject }) =>
      fields.every((part) => {
        const [key = '', value] = part.replace('involvedObject.', '').split('=');
        return involvedObject[key] === value;
      }),
    );
  const from = Number(query.get('continue') ?? 0);
  const rest = all.length > from + pageSize ? { continue: String(from + pageSize) } : {};
  return { status: 200, body: { metadata: rest, items: all.slice(from, from + pageSize) } };
}

function failure(status: number, message: string): Answer {
  return { status, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code: status } };
}
