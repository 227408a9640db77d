import Docker, { type Container, type ContainerInspectInfo } from 'dockerode';
import type { Config } from '../../../config.ts';
import { parseDockerHost } from '../../../config-table.ts';
import { RuntimeFailure } from '../../runtime.ts';

export type Engine = Docker;

// An engine under load takes seconds for a start; one that takes longer than this hangs.
const answerTimeoutMs = 60_000;

export function connectEngine(config: Config): Engine {
  const address = parseDockerHost(config.workspaceDockerHost);
  // What it is not told it would take from variables of its own.
  const told = { timeout: answerTimeoutMs, headers: {} };
  if (address === undefined) throw new RuntimeFailure('WORKSPACE_DOCKER_HOST is no address');
  return 'socketPath' in address
    ? new Docker({ ...told, socketPath: address.socketPath })
    : new Docker({ ...told, protocol: 'http', host: address.host, port: address.port });
}

/** The container, undefined when there is none of that name. */
export async function inspect(container: Container): Promise<ContainerInspectInfo | undefined> {
  return orMissing(container.inspect());
}

/** What the engine answered, undefined when it knows no such thing. */
export async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/** Ends it whatever it does; its volumes stay. One that is gone, or going, is no error. */
export async function removeContainer(container: Container): Promise<void> {
  try {
    await container.remove({ force: true });
  } catch (error) {
    const status = statusOf(error);
    if (status === 404) return;
    if (status !== 409) throw error;
    // Somebody else removes it at this moment.
    await orMissing(container.wait({ condition: 'removed' }));
  }
}

function statusOf(error: unknown): number | undefined {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}

/** What a failed request to the engine says, for people. */
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
