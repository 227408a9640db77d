import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Container, PersistentVolumeClaim, PodSpec, Secret, Service, Volume } from 'kubernetes-types/core/v1.d.ts';
import type { LabelSelector, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import type { NetworkPolicy, NetworkPolicyPeer } from 'kubernetes-types/networking/v1.d.ts';
import type { StartedWorkspace } from '../../runtime.ts';
import { limitsInside, type Measured } from '../home-space.ts';
import { idAnnotation, labels, sharedName, shortName, workspaceName } from './names.ts';

/** Installation-wide values that the objects are built from. */
export type ObjectSettings = {
  namespace: string;
  installation: string;
  image: string;
  memoryMb: number;
  cpus: number;
  storageSize: string;
  /** Limits that the daemon enforces, since not every storage class does. */
  home: Measured;
  permissions: Record<string, string>;
  /** Undefined: the cluster's default. */
  storageClass: string | undefined;
  runtimeClass: string | undefined;
  control: ControlPlane;
};

/** The control plane as workspaces reach it: our listener (listener.ts), by its address, since they have no DNS. */
export type ControlPlane = {
  url: URL;
  /** The address of its host name; undefined if it is an address already. */
  address: string | undefined;
  /** The proxy is there too. */
  egress: boolean;
  /** How the network policy identifies it: pods with these labels, or the one address. */
  peer: NetworkPolicyPeer;
  /** The port where its process listens, which is what a policy sees behind a Service. */
  port: number;
};

export const daemonPort = 7337;
const uid = 1000;
/** A daemon ends at once; a person's program may want to save something. */
const graceSeconds = 5;
const home = '/home/user';
const secrets = '/run/homeport/secrets';

/** One headless service for all pods, which StatefulSets require for pod names. Unused, since we dial addresses. */
export function serviceOf({ namespace, installation }: ObjectSettings): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: sharedName(installation), namespace, labels: { [labels.installation]: installation } },
    spec: {
      clusterIP: 'None',
      selector: { [labels.installation]: installation },
      // Server-side apply in Kubernetes 1.20 fails if the protocol is missing.
      ports: [{ name: 'daemon', port: daemonPort, targetPort: daemonPort, protocol: 'TCP' }],
    },
  };
}

/** One for all: lets in the control plane, lets out connections to it, and nothing else, not even DNS. */
export function networkPolicyOf({ namespace, installation, control }: ObjectSettings): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: sharedName(installation), namespace, labels: { [labels.installation]: installation } },
    spec: {
      podSelector: selector(installation),
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [control.peer], ports: [{ port: daemonPort, protocol: 'TCP' }] }],
      egress: [{ to: [control.peer], ports: [{ port: control.port, protocol: 'TCP' }] }],
    },
  };
}

/** The home. Created once and never changed: its size and class are up to the cluster from then on. */
export function claimOf(settings: ObjectSettings, id: string): PersistentVolumeClaim {
  const { storageClass } = settings;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: metadataOf(settings, id),
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: settings.storageSize } },
      ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
    },
  };
}

/**
 * Both secrets of one generation, under its own keys: a kubelet that still caches the previous ones finds nothing and
 * asks again.
 */
export function secretOf(settings: ObjectSettings, workspace: StartedWorkspace): Secret {
  const { id, generation, daemonTokenHash, workspaceToken } = workspace;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadataOf(settings, id, generation),
    type: 'Opaque',
    data: {
      [`daemon-hash-${generation}`]: Buffer.from(daemonTokenHash, 'utf8').toString('base64'),
      [`token-${generation}`]: Buffer.from(workspaceToken, 'utf8').toString('base64'),
    },
  };
}

/** The workspace itself. A change never touches a running pod; a new pod is created only after a stop. */
export function statefulSetOf(settings: ObjectSettings, id: string, generation: number): StatefulSet {
  const metadata = metadataOf(settings, id, generation);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: {
      replicas: 1,
      serviceName: sharedName(settings.installation),
      // A pod that cannot start must not block its own removal.
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      revisionHistoryLimit: 1,
      selector: selector(settings.installation, id),
      template: {
        metadata: { labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {} },
        spec: podSpec(settings, id, generation),
      },
    },
  };
}

function selector(installation: string, id?: string): LabelSelector {
  const matchLabels: Record<string, string> = { [labels.installation]: installation };
  if (id !== undefined) matchLabels[labels.workspace] = shortName(id);
  return { matchLabels };
}

function metadataOf({ namespace, installation }: ObjectSettings, id: string, generation?: number): ObjectMeta {
  const own: Record<string, string> = { [labels.installation]: installation, [labels.workspace]: shortName(id) };
  if (generation !== undefined) own[labels.generation] = String(generation);
  return { name: workspaceName(installation, id), namespace, labels: own, annotations: { [idAnnotation]: id } };
}

function podSpec(settings: ObjectSettings, id: string, generation: number): PodSpec {
  const { control, runtimeClass } = settings;
  const name = workspaceName(settings.installation, id);
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // The pod's first process then reaps what a command leaves behind.
    shareProcessNamespace: true,
    hostname: 'workspace',
    ...(runtimeClass === undefined ? {} : { runtimeClassName: runtimeClass }),
    terminationGracePeriodSeconds: graceSeconds,
    // DNS queries can leak data; the proxy resolves the allowed names.
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['127.0.0.1'] },
    ...(control.address === undefined
      ? {}
      : { hostAliases: [{ ip: control.address, hostnames: [control.url.hostname] }] }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: uid,
      runAsGroup: uid,
      fsGroup: uid,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container(settings, generation)],
    volumes: [
      { name: 'home', persistentVolumeClaim: { claimName: name } },
      {
        name: 'secrets',
        secret: {
          secretName: name,
          defaultMode: 0o440,
          items: ['daemon-hash', 'token'].map((key) => ({ key: `${key}-${generation}`, path: key })),
        },
      },
      memoryFolder('tmp', '256Mi'),
      memoryFolder('run', '16Mi'),
    ],
  };
}

function container(
  { image, memoryMb, cpus, control, home: limits, permissions }: ObjectSettings,
  generation: number,
): Container {
  const health = { path: '/v1/health', port: daemonPort, scheme: 'HTTP' };
  // Beside the home only its log is on the node's disk.
  const resources = { memory: `${memoryMb}Mi`, cpu: quantityOf(cpus), 'ephemeral-storage': '256Mi' };
  const environment = {
    HOMEPORT_HOME: home,
    HOMEPORT_GENERATION: String(generation),
    // In brackets, which work for both IPv4 and IPv6.
    HOMEPORT_LISTEN: `tcp:[$(POD_IP)]:${daemonPort}`,
    HOMEPORT_DAEMON_HASH_FILE: `${secrets}/daemon-hash`,
    HOMEPORT_TOKEN_FILE: `${secrets}/token`,
    HOMEPORT_URL: control.url.origin,
    ...limitsInside(limits),
    ...permissions,
    ...(control.egress ? { HOMEPORT_EGRESS: `tcp:${control.url.hostname}:${control.url.port || 80}` } : {}),
  };
  return {
    name: 'workspace',
    image,
    imagePullPolicy: 'IfNotPresent',
    workingDir: home,
    env: [
      { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
      ...Object.entries(environment).map(([name, value]) => ({ name, value })),
    ],
    ports: [{ name: 'daemon', containerPort: daemonPort, protocol: 'TCP' }],
    // A tenth is guaranteed, so that a node has room for many: few work at a time.
    resources: {
      limits: resources,
      requests: {
        memory: `${Math.ceil(memoryMb / 10)}Mi`,
        cpu: `${Math.ceil(cpus * 100)}m`,
        'ephemeral-storage': '16Mi',
      },
    },
    readinessProbe: { httpGet: health, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 },
    securityContext: {
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'home', mountPath: home },
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'run', mountPath: '/run' },
      { name: 'secrets', mountPath: secrets, readOnly: true },
    ],
  };
}

function memoryFolder(name: string, sizeLimit: string): Volume {
  return { name, emptyDir: { medium: 'Memory', sizeLimit } };
}

/** In the API's own form, so that what it stores is what was sent. */
function quantityOf(cpus: number): string {
  return Number.isInteger(cpus) ? String(cpus) : `${Math.round(cpus * 1_000)}m`;
}
