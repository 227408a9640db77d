import type { ContainerCreateOptions } from 'dockerode';
import type { Config } from '../../../config/config.ts';
import type { StartedWorkspace } from '../../runtime.ts';
import { largestFile, limitsInside, limitsOf } from '../home-space.ts';
import { permissionsInside } from '../workspace-sockets.ts';

/** The labels that say which installation, user and generation a container belongs to. */
export const labels = {
  installation: 'homeport.installation',
  workspace: 'homeport.workspace',
  generation: 'homeport.generation',
  /** `no`: it was started only to delete files. */
  writes: 'homeport.writes',
} as const;

/** Paths inside a container. */
const inside = {
  home: '/home/user',
  /** Read-only: this generation's two secrets and the control plane's sockets. */
  workspace: '/run/workspace',
  /** Folder in which the daemon creates its socket. */
  daemon: '/run/daemon',
} as const;

export const daemonSocketName = 'daemon.sock';
export const secretNames = { daemonHash: 'daemon-hash', token: 'token' } as const;

/** User ids are unique, so names of two installations on one engine never collide. */
export const containerName = (id: string): string => `homeport-workspace-${id}`;
export const volumeName = (id: string): string => `homeport-home-${id}`;

/** The folders of one generation, with the engine's paths. */
export type GenerationFolders = { workspace: string; daemon: string };

const mebibyte = 1024 * 1024;

/**
 * A workspace's container: no network, nothing writable except its home, `/tmp`, `/run` and its socket's folder; no
 * capabilities; limited memory, processors, processes, descriptors and log. Its only ways out are the control plane's
 * two sockets.
 */
export function containerOptions(
  config: Config,
  installation: string,
  workspace: StartedWorkspace,
  folders: GenerationFolders,
  mayWrite: boolean,
): ContainerCreateOptions {
  const own = {
    [labels.installation]: installation,
    [labels.workspace]: workspace.id,
    [labels.generation]: String(workspace.generation),
    ...(mayWrite ? {} : { [labels.writes]: 'no' }),
  };
  const memory = config.workspaceMemoryMb * mebibyte;
  const file = mayWrite ? largestFile(limitsOf(config)) : 0;
  return {
    name: containerName(workspace.id),
    Image: config.workspaceImage,
    User: '1000:1000',
    Hostname: 'workspace',
    WorkingDir: inside.home,
    Labels: own,
    Env: environment(config, workspace.generation),
    HostConfig: {
      Init: true,
      NetworkMode: 'none',
      IpcMode: 'private',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ...(config.workspaceDockerRuntime === undefined ? {} : { Runtime: config.workspaceDockerRuntime }),
      Memory: memory,
      // The same as the memory limit: no swap.
      MemorySwap: memory,
      NanoCpus: Math.round(config.workspaceCpus * 1e9),
      PidsLimit: config.workspaceProcesses,
      // When memory runs out, a workspace ends before what runs it; inside it, commands end before the daemon: they get
      // 500.
      OomScoreAdj: 100,
      Ulimits: [
        { Name: 'nofile', Soft: 4096, Hard: 4096 },
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'fsize', Soft: file, Hard: file },
      ],
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '2' } },
      // Their contents count as the workspace's memory: when full, they must leave some.
      Tmpfs: {
        '/tmp': `rw,nosuid,nodev,exec,size=${Math.min(256, Math.floor(config.workspaceMemoryMb / 4))}m,nr_inodes=100000,mode=1777`,
        '/run': 'rw,nosuid,nodev,noexec,size=1m,mode=755',
      },
      ShmSize: Math.min(64 * mebibyte, memory / 8),
      Mounts: [
        homeMount(workspace.id, { [labels.installation]: installation, [labels.workspace]: workspace.id }),
        bind(folders.workspace, inside.workspace, true),
        bind(folders.daemon, inside.daemon, false),
      ],
    },
  };
}

/** A home, which is created with its first container. */
export function homeMount(id: string, made: Record<string, string> = {}) {
  return {
    Type: 'volume' as const,
    Source: volumeName(id),
    Target: inside.home,
    VolumeOptions: { NoCopy: false, Labels: made, DriverConfig: { Name: '', Options: {} } },
  };
}

/** How a trial container ends if it cannot write to its home, or does not see the folders that we shared with it. */
export const trialEnds = { home: 3, folders: 4 } as const;
export const trialAnswer = 'answer';

/**
 * A container of the same image with the same limits, network and mounts, which reads a token from the one folder and
 * leaves an answer in the other. Without name and labels: nothing takes it for a workspace.
 */
export function trialOptions(
  config: Config,
  { id, workspaceToken }: Pick<StartedWorkspace, 'id' | 'workspaceToken'>,
  folders: GenerationFolders,
): ContainerCreateOptions {
  const trial = { id, generation: 0, slot: 0, daemonTokenHash: '', workspaceToken };
  const { Image, User, HostConfig } = containerOptions(config, '', trial, folders, true);
  const script = [
    'test -w /tmp || exit 1',
    `: > ${inside.home}/.homeport-trial || exit ${trialEnds.home}`,
    `test "$(cat ${inside.workspace}/${secretNames.token})" = "$TOKEN" || exit ${trialEnds.folders}`,
    `: > ${inside.daemon}/${trialAnswer} || exit ${trialEnds.folders}`,
  ].join('\n');
  return { Image, User, Entrypoint: ['/bin/sh', '-c', script], Cmd: [], Env: [`TOKEN=${workspaceToken}`], HostConfig };
}

/** Mount propagation is left to the engine, which requires another mode if the folder is in a volume. */
function bind(source: string, target: string, readOnly: boolean) {
  return { Type: 'bind' as const, Source: source, Target: target, ReadOnly: readOnly };
}

function environment(config: Config, generation: number): string[] {
  return Object.entries({
    HOMEPORT_HOME: inside.home,
    HOMEPORT_GENERATION: String(generation),
    HOMEPORT_LISTEN: `unix:${inside.daemon}/${daemonSocketName}`,
    HOMEPORT_DAEMON_HASH_FILE: `${inside.workspace}/${secretNames.daemonHash}`,
    HOMEPORT_TOKEN_FILE: `${inside.workspace}/${secretNames.token}`,
    HOMEPORT_URL: `unix:${inside.workspace}/control.sock`,
    ...limitsInside(limitsOf(config)),
    ...permissionsInside(config),
    ...(config.workspaceEgress === 'proxy' ? { HOMEPORT_EGRESS: `unix:${inside.workspace}/egress.sock` } : {}),
  }).map(([name, value]) => `${name}=${value}`);
}
