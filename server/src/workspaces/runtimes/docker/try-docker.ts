import { systemClock } from '../../../clock.ts';
import { within } from '../../../waits.ts';
import { RuntimeFailure, type TryRuntime } from '../../runtime.ts';
import { trialOptions } from './container.ts';
import { connectEngine, reasonOf, removeContainer } from './engine.ts';
import { probeEngine } from './probe.ts';

const trialMs = 30_000;

/** Starts a container as workspaces have it, but without a home, and waits for its end. */
export const tryDockerRuntime: TryRuntime = async (config) => {
  try {
    const engine = connectEngine(config);
    await probeEngine(engine, config, { warn: () => undefined });
    const container = await engine.createContainer(trialOptions(config));
    try {
      await container.start();
      const tooLate = () => new RuntimeFailure(`a container of ${config.workspaceImage} does not end`);
      const limit = { clock: systemClock, milliseconds: trialMs, tooLate };
      const { StatusCode: code } = await within(limit, () => container.wait());
      if (code !== 0) throw new RuntimeFailure(`a container of ${config.workspaceImage} ended with code ${code}`);
    } finally {
      await removeContainer(container);
    }
    return `A container of ${config.workspaceImage} was started and did what it was told.`;
  } catch (error) {
    throw error instanceof RuntimeFailure ? error : new RuntimeFailure(reasonOf(error, config), { cause: error });
  }
};
