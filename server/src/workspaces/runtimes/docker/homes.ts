import type { Config } from '../../../config/config.ts';
import { systemClock } from '../../../platform/clock.ts';
import { waitAtMost } from '../../../platform/waits.ts';
import type { Measured } from '../home-space.ts';
import { homeMount, labels, volumeName } from './container.ts';
import { type Engine, orMissing, removeContainer } from './engine.ts';

const measuringMs = 120_000;
const memoryBytes = 64 * 1024 * 1024;

/** With the engine's own quota where its disk has quotas: xfs or ext4 with project quotas, and Docker 23 or later. */
export async function makeHome(engine: Engine, config: Config, installation: string, id: string): Promise<void> {
  const volume = engine.getVolume(volumeName(id));
  if (config.workspaceDiskMb === 0 || (await orMissing(volume.inspect())) !== undefined) return;
  const wanted = {
    Name: volumeName(id),
    Labels: { [labels.installation]: installation, [labels.workspace]: id },
    DriverOpts: { size: `${config.workspaceDiskMb}m` },
  };
  // Others refuse the option; then the home is created with its container, and measured.
  await engine.createVolume(wanted).catch(() => undefined);
}

/**
 * Counts a home in a container of its own, which its workspace cannot reach. Undefined if the engine keeps to a quota
 * by itself, or if it takes too long.
 */
export async function measureVolume(engine: Engine, config: Config, id: string): Promise<Measured | undefined> {
  const volume = await orMissing(engine.getVolume(volumeName(id)).inspect());
  if (volume === undefined || volume.Options?.size !== undefined) return undefined;
  const name = `homeport-measure-${id}`;
  // Left by a process that was killed.
  await removeContainer(engine.getContainer(name));
  const container = await engine.createContainer({
    name,
    Image: config.workspaceImage,
    User: '1000:1000',
    Entrypoint: ['/bin/sh', '-c', script],
    Cmd: [],
    WorkingDir: '/',
    Env: ['LC_ALL=C'],
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Memory: memoryBytes,
      MemorySwap: memoryBytes,
      CpuShares: 64,
      PidsLimit: 16,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '64k', 'max-file': '1' } },
      Mounts: [homeMount(id)],
    },
  });
  try {
    await container.start();
    await waitAtMost(systemClock, measuringMs, container.wait());
    const log = await container.logs({ stdout: true, stderr: false, tail: 10 });
    return parseCounts((log as unknown as Buffer).toString('latin1'));
  } finally {
    await removeContainer(container);
  }
}

/** Folders that the workspace has closed to its own user would hide what is in them. */
const script = [
  'cd /home/user',
  "du -sx --block-size=1 . >/dev/null 2>&1 || find . -xdev -type d ! -perm -500 -execdir chmod u+rwx '{}' ';' 2>/dev/null",
  'echo "bytes $(du -sx --block-size=1 . 2>/dev/null)"',
  'echo "files $(du -sx --inodes . 2>/dev/null)"',
].join('\n');

function parseCounts(log: string): Measured | undefined {
  const [bytes, files] = ['bytes', 'files'].map((name) => new RegExp(`${name} (\\d+)`).exec(log)?.[1]);
  return bytes === undefined || files === undefined ? undefined : { bytes: Number(bytes), files: Number(files) };
}
