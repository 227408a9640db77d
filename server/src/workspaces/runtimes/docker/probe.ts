import type { Logger } from 'pino';
import type { Config } from '../../../config/config.ts';
import { RuntimeFailure } from '../../runtime.ts';
import { type Engine, orMissing } from './engine.ts';
import { ownContainer, type Surroundings } from './own-container.ts';

/** Throws RuntimeFailure if workspaces cannot run on this engine; mere weaknesses are logged. */
export async function probeEngine(engine: Engine, config: Config, log: Pick<Logger, 'warn'>): Promise<void> {
  const info = await engine.info();
  if (info.OSType !== 'linux') throw new RuntimeFailure(`the Docker engine runs ${info.OSType} containers, not Linux`);
  const runtime = config.workspaceDockerRuntime;
  if (runtime !== undefined && !Object.hasOwn(info.Runtimes ?? {}, runtime)) {
    const known = Object.keys(info.Runtimes ?? {}).join(', ');
    throw new RuntimeFailure(`the Docker engine has no runtime "${runtime}"; it has ${known}`);
  }
  const image = await orMissing(engine.getImage(config.workspaceImage).inspect());
  if (image === undefined) {
    throw new RuntimeFailure(
      `the Docker engine has no image ${config.workspaceImage}: build it (docker build -f deploy/Dockerfile --target workspace -t ${config.workspaceImage} .), or name another in WORKSPACE_IMAGE`,
    );
  }
  const weaknesses = [
    ...(info.MemoryLimit === false ? ['memory is not limited'] : []),
    ...(info.PidsLimit === false ? ['processes are not limited'] : []),
    ...(info.CPUCfsQuota === false && info.CpuCfsQuota === false ? ['processors are not limited'] : []),
    ...(isConfined(info.SecurityOptions) ? [] : ['system calls are not filtered']),
  ];
  if (weaknesses.length > 0) log.warn({ weaknesses }, 'the Docker engine isolates workspaces less than it could');
}

function isConfined(options: unknown): boolean {
  return (
    Array.isArray(options) && options.some((option) => /^name=seccomp(?!.*profile=unconfined)/.test(String(option)))
  );
}

/**
 * The engine's path of one of our folders: the same on its own machine; in a container, the place on the machine that
 * is mounted there. Throws RuntimeFailure if the folder exists only in the container.
 */
export async function enginePathOf(engine: Engine, folder: string, surroundings?: Surroundings): Promise<string> {
  const own = await ownContainer(engine, surroundings);
  if (own === undefined) return folder;
  const mounts = own.Mounts.filter(({ Destination }) => `${folder}/`.startsWith(`${Destination}/`));
  const [mount] = mounts.sort((a, b) => b.Destination.length - a.Destination.length);
  if (mount === undefined) {
    throw new RuntimeFailure(
      `${folder} is inside Homeport's own container, where the Docker engine cannot share it with workspaces: mount a volume or folder there`,
    );
  }
  return `${mount.Source}${folder.slice(mount.Destination.length)}`;
}
