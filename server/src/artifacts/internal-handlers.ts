import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';

type Endpoints = typeof endpoints;

function notBuilt(): never {
  throw new ApiError('not_found', 'Not built yet');
}

export const getInternalArtifacts: Handler<Deps, Endpoints['getInternalArtifacts']> = notBuilt;
export const getInternalArtifactStat: Handler<Deps, Endpoints['getInternalArtifactStat']> = notBuilt;
export const getInternalArtifactPreview: Handler<Deps, Endpoints['getInternalArtifactPreview']> = notBuilt;
export const getInternalArtifactDownload: Handler<Deps, Endpoints['getInternalArtifactDownload']> = notBuilt;
export const putInternalArtifact: Handler<Deps, Endpoints['putInternalArtifact']> = notBuilt;
export const patchInternalArtifact: Handler<Deps, Endpoints['patchInternalArtifact']> = notBuilt;
export const deleteInternalArtifact: Handler<Deps, Endpoints['deleteInternalArtifact']> = notBuilt;
