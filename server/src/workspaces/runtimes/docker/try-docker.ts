import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../../config/config.ts';
import { systemClock } from '../../../platform/clock.ts';
import { within } from '../../../platform/waits.ts';
import { RuntimeFailure, type TryRuntime } from '../../runtime.ts';
import { trialAnswer, trialEnds, trialOptions, volumeName } from './container.ts';
import { connectEngine, type Engine, orMissing, reasonOf, removeContainer } from './engine.ts';
import { makeTrialFolders } from './folders.ts';
import { makeHome } from './homes.ts';
import { enginePathOf, probeEngine } from './probe.ts';

const trialMs = 30_000;

/** Starts a container with everything that a workspace mounts, waits for its end and removes all of it. */
export const tryDockerRuntime: TryRuntime = async (config) => {
  try {
    const engine = connectEngine(config);
    await probeEngine(engine, config, { warn: () => undefined });
    const trial = { id: `trial-${randomBytes(6).toString('hex')}`, workspaceToken: randomBytes(16).toString('hex') };
    const folders = await makeTrialFolders(config.dataDir, trial, (folder) => enginePathOf(engine, folder));
    try {
      await makeHome(engine, config, '', trial.id);
      await runTrial(engine, config, trialOptions(config, trial, folders.engine));
      await access(join(folders.daemon, trialAnswer)).catch(() => {
        throw notShared(config);
      });
    } finally {
      await orMissing(engine.getVolume(volumeName(trial.id)).remove()).catch(() => undefined);
      await folders.remove();
    }
    return `A container of ${config.workspaceImage} was started with a home and the folders of a workspace, and could use them.`;
  } catch (error) {
    throw error instanceof RuntimeFailure ? error : new RuntimeFailure(reasonOf(error, config), { cause: error });
  }
};

async function runTrial(engine: Engine, config: Config, options: ReturnType<typeof trialOptions>): Promise<void> {
  const container = await engine.createContainer(options);
  try {
    await container.start();
    const tooLate = () => new RuntimeFailure(`a container of ${config.workspaceImage} does not end`);
    const limit = { clock: systemClock, milliseconds: trialMs, tooLate };
    const { StatusCode: code } = await within(limit, () => container.wait());
    if (code === trialEnds.folders) throw notShared(config);
    if (code === trialEnds.home) throw new RuntimeFailure('a container cannot write to the volume of a home');
    if (code !== 0) throw new RuntimeFailure(`a container of ${config.workspaceImage} ended with code ${code}`);
  } finally {
    await removeContainer(container);
  }
}

function notShared({ dataDir }: Config): RuntimeFailure {
  return new RuntimeFailure(
    `workspaces do not see the folders that Homeport shares with them: the Docker engine has another ${join(dataDir, 'docker')}. ` +
      "Mount the engine's volume or folder there, and run Homeport on the engine's machine",
  );
}
