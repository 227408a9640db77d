import type { EndpointName } from '@homeport/contracts/endpoints';
import { nothing, type Sample } from './authorization-sample.ts';

/** Requests of workspaces, which are switched off in this world, and of what runs inside of them. */

const off: Sample = { ...nothing, own: 503 };
const inside: Sample = { ...nothing, own: 401 };

export const workspaceSamples = {
  getWorkspaceStatus: off,
  postWorkspaceStatus: off,
  deleteWorkspaceStatus: off,
  getWorkspaceFiles: off,
  postWorkspaceFile: off,
  patchWorkspaceFile: off,
  postWorkspaceFolder: off,
  deleteWorkspaceFile: off,
  getWorkspaceDownload: off,
  getInternalConversations: inside,
  getInternalArtifacts: inside,
  getInternalArtifactStat: inside,
  getInternalArtifactPreview: inside,
  getInternalArtifactDownload: inside,
  putInternalArtifact: inside,
  patchInternalArtifact: inside,
  deleteInternalArtifact: inside,
};

/** Rows whose handlers are still to come. */
export const beingBuilt: readonly EndpointName[] = Object.keys(workspaceSamples) as (keyof typeof workspaceSamples)[];
