import Docker, { type Container, type ContainerInspectInfo } from 'dockerode';
import type { Config } from '../../../config/config.ts';
import { parseDockerHost } from '../../../config/setting-values.ts';
import { RuntimeFailure } from '../../runtime.ts';

export type Engine = Docker;

// A busy engine takes seconds for a start; if it takes longer than this, it hangs.
const answerTimeoutMs = 60_000;

export function connectEngine(config: Config): Engine {
  const address = parseDockerHost(config.workspaceDockerHost);
  // Given explicitly, because it would otherwise read its own environment variables.
  const options = { timeout: answerTimeoutMs, headers: {} };
  if (address === undefined) throw new RuntimeFailure('WORKSPACE_DOCKER_HOST is no address');
  return 'socketPath' in address
    ? new Docker({ ...options, socketPath: address.socketPath })
    : new Docker({ ...options, protocol: 'http', host: address.host, port: address.port });
}

/** The container; undefined if there is none with that name. */
export async function inspect(container: Container): Promise<ContainerInspectInfo | undefined> {
  return orMissing(container.inspect());
}

/** The engine's answer; undefined if it knows no such thing. */
export async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/** Ends it whatever it is doing; its volumes stay. One that is gone or being removed is not an error. */
export async function removeContainer(container: Container): Promise<void> {
  try {
    await container.remove({ force: true });
  } catch (error) {
    const status = statusOf(error);
    if (status === 404) return;
    if (status !== 409) throw error;
    // Another process is removing it right now.
    await orMissing(container.wait({ condition: 'removed' }));
  }
}

function statusOf(error: unknown): number | undefined {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}

/** A failed request to the engine, in words for people. */
export function reasonOf(error: unknown, config: Config): string {
  if (statusOf(error) !== undefined) {
    const message = (error as { json?: { message?: unknown } }).json?.message;
    return typeof message === 'string' ? message.slice(0, 500) : String((error as Error).message).slice(0, 500);
  }
  const { code, message } = error as NodeJS.ErrnoException;
  const where = config.workspaceDockerHost;
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return `no Docker engine answers at ${where}`;
  if (code === 'EACCES') return `this process has no permission to use the Docker engine at ${where}`;
  return `the Docker engine at ${where} did not answer: ${message}`;
}
