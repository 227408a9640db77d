import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { ProcessState } from '@homeport/contracts/workspace/daemon';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { type FileHold, withFiles } from './files.ts';
import { endProcess, listBackground, readOutputEnd, shownProcess } from './processes.ts';

type Endpoints = typeof endpoints;

export const getWorkspaceProcesses: Handler<Deps, Endpoints['getWorkspaceProcesses']> = async (
  deps,
  { actor, request },
) => {
  const found = await whileRunning(deps, actor.id, request.signal, ({ daemon, signal }) =>
    listBackground(daemon, signal),
  );
  return { processes: (found ?? []).slice(0, limits.processesShown).map(shownProcess) };
};

export const getWorkspaceProcessOutput: Handler<Deps, Endpoints['getWorkspaceProcessOutput']> = async (
  deps,
  { actor, query, request },
) => {
  const read = await whileRunning(deps, actor.id, request.signal, async (hold) => {
    const process = await findProcess(hold, query.id);
    return { process: shownProcess(process), ...(await readOutputEnd(hold.daemon, process, hold.signal)) };
  });
  return read ?? notFound();
};

export const deleteWorkspaceProcess: Handler<Deps, Endpoints['deleteWorkspaceProcess']> = async (
  deps,
  { actor, query, request },
) => {
  const ended = await whileRunning(deps, actor.id, request.signal, async (hold) => {
    const { id } = await findProcess(hold, query.id);
    return { process: shownProcess(await endProcess(hold.daemon, id, hold.signal)) };
  });
  return ended ?? notFound();
};

/** Looking starts no workspace: nothing runs in one that is stopped. */
async function whileRunning<T>(
  deps: Deps,
  userId: string,
  signal: AbortSignal,
  work: (hold: FileHold) => Promise<T>,
): Promise<T | undefined> {
  const { phase } = await deps.workspaces.status(userId);
  return phase === 'running' ? withFiles(deps, userId, signal, work) : undefined;
}

async function findProcess({ daemon, signal }: FileHold, id: string): Promise<ProcessState> {
  return (await listBackground(daemon, signal)).find((process) => process.id === id) ?? notFound();
}

function notFound(): never {
  throw new ApiError('not_found', 'Process not found');
}
