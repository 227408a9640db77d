import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Config } from '../../../config/config.ts';
import { parseLabels } from '../../../config/setting-values.ts';
import { RuntimeFailure } from '../../runtime.ts';
import { limitsOf } from '../home-space.ts';
import { permissionsInside } from '../workspace-sockets.ts';
import type { ControlPlane, ObjectSettings } from './objects.ts';

/**
 * Reads the values that objects are built from. The name in WORKSPACE_CONTROL_URL is looked up each time, and its
 * address goes into the pod. `ownNamespace` is undefined outside a cluster.
 */
export async function objectSettings(
  config: Config,
  namespace: string,
  ownNamespace: string | undefined,
): Promise<ObjectSettings> {
  const { workspaceDiskMb: diskMb } = config;
  const storageSize = config.workspaceStorageSize ?? (diskMb > 0 ? `${diskMb}Mi` : usualSize);
  return {
    namespace,
    installation: config.workspaceInstallation,
    image: config.workspaceImage,
    memoryMb: config.workspaceMemoryMb,
    cpus: config.workspaceCpus,
    storageSize,
    permissions: permissionsInside(config),
    home: { ...limitsOf(config), bytes: bytesOf(storageSize) },
    storageClass: config.workspaceStorageClass,
    runtimeClass: config.workspaceRuntimeClass,
    control: await controlPlane(config, namespace, ownNamespace),
  };
}

const usualSize = '10Gi';
const units: Record<string, number> = { Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 };

function bytesOf(quantity: string): number {
  const [, number, unit = ''] = /^(\d+)([A-Za-z]\w*)$/.exec(quantity) ?? [];
  return Number(number) * (units[unit] ?? 1);
}

async function controlPlane(
  config: Config,
  namespace: string,
  ownNamespace: string | undefined,
): Promise<ControlPlane> {
  if (config.workspaceControlUrl === undefined) {
    throw new RuntimeFailure('WORKSPACE_CONTROL_URL is not set: workspaces must know where to reach WORKSPACE_PORT');
  }
  const url = new URL(config.workspaceControlUrl);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const address = await addressOf(host);
  const podLabels = config.workspaceControlPods === undefined ? undefined : parseLabels(config.workspaceControlPods);
  return {
    url,
    address: address === host ? undefined : address,
    egress: config.workspaceEgress === 'proxy',
    port: config.workspacePort,
    peer:
      podLabels === undefined
        ? { ipBlock: { cidr: `${address}/${isIP(address) === 6 ? 128 : 32}` } }
        : {
            podSelector: { matchLabels: podLabels },
            // Kubernetes 1.21 and later put this label on every namespace.
            ...(ownNamespace === undefined || ownNamespace === namespace
              ? {}
              : { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ownNamespace } } }),
          },
  };
}

async function addressOf(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  try {
    return (await lookup(host)).address;
  } catch (error) {
    throw new RuntimeFailure(`the name of WORKSPACE_CONTROL_URL, ${host}, is not known`, { cause: error });
  }
}
