import type { endpoints } from '@homeport/contracts/endpoints';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { plainStatus } from './lifecycle/status.ts';

type Endpoints = typeof endpoints;

export const getWorkspaceStatus: Handler<Deps, Endpoints['getWorkspaceStatus']> = async ({ workspaces }, { actor }) =>
  plainStatus(await workspaces.status(actor.id));

export const getWorkspaceUsage: Handler<Deps, Endpoints['getWorkspaceUsage']> = ({ workspaces }, { actor }) =>
  workspaces.status(actor.id);

export const postWorkspaceStatus: Handler<Deps, Endpoints['postWorkspaceStatus']> = async (
  { workspaces },
  { actor, request },
) => {
  await workspaces.start(actor.id, request.signal);
  return plainStatus(await workspaces.status(actor.id));
};

export const deleteWorkspaceStatus: Handler<Deps, Endpoints['deleteWorkspaceStatus']> = async (
  { workspaces },
  { actor },
) => {
  await workspaces.stop(actor.id);
  return plainStatus(await workspaces.status(actor.id));
};
