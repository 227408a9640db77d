import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';

type Endpoints = typeof endpoints;

function notBuilt(): never {
  throw new ApiError('workspace_disabled', 'Workspaces are not built yet');
}

export const getWorkspaceFiles: Handler<Deps, Endpoints['getWorkspaceFiles']> = notBuilt;
export const postWorkspaceFile: Handler<Deps, Endpoints['postWorkspaceFile']> = notBuilt;
export const patchWorkspaceFile: Handler<Deps, Endpoints['patchWorkspaceFile']> = notBuilt;
export const postWorkspaceFolder: Handler<Deps, Endpoints['postWorkspaceFolder']> = notBuilt;
export const deleteWorkspaceFile: Handler<Deps, Endpoints['deleteWorkspaceFile']> = notBuilt;
export const getWorkspaceDownload: Handler<Deps, Endpoints['getWorkspaceDownload']> = notBuilt;
