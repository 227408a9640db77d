import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';

type Endpoints = typeof endpoints;

function notBuilt(): never {
  throw new ApiError('workspace_disabled', 'Workspaces are not built yet');
}

export const getWorkspaceStatus: Handler<Deps, Endpoints['getWorkspaceStatus']> = notBuilt;
export const postWorkspaceStatus: Handler<Deps, Endpoints['postWorkspaceStatus']> = notBuilt;
export const deleteWorkspaceStatus: Handler<Deps, Endpoints['deleteWorkspaceStatus']> = notBuilt;
