import type { endpoints } from '@homeport/contracts/endpoints';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { viewArtifact } from './artifacts.ts';
import { type Asked, answerDownload, answerList, answerPreview, answerRemoval, findRow } from './handlers.ts';
import { moveArtifact } from './moves.ts';
import { assertNotArchived, getNamespace, type Scope } from './namespaces.ts';
import { filenameOf, parsePath } from './path.ts';
import { createArtifact } from './uploads.ts';

/** The requests of a workspace's command-line tool: its user's verbs, in the namespace that a header names. */

type Endpoints = typeof endpoints;

function asked({ actor, headers }: { actor: { id: string }; headers: { 'x-artifact-scope': Scope } }): Asked {
  return { userId: actor.id, scope: headers['x-artifact-scope'] };
}

export const getInternalArtifacts: Handler<Deps, Endpoints['getInternalArtifacts']> = (deps, input) =>
  answerList(deps, asked(input), input.query);

export const getInternalArtifactStat: Handler<Deps, Endpoints['getInternalArtifactStat']> = async (deps, input) => ({
  artifact: viewArtifact(await findRow(deps, asked(input), input.query)),
});

export const getInternalArtifactPreview: Handler<Deps, Endpoints['getInternalArtifactPreview']> = async (deps, input) =>
  answerPreview(deps, await findRow(deps, asked(input), input.query), input.request);

export const getInternalArtifactDownload: Handler<Deps, Endpoints['getInternalArtifactDownload']> = async (
  deps,
  input,
) => answerDownload(deps, await findRow(deps, asked(input), input.query), input.request);

export const putInternalArtifact: Handler<Deps, Endpoints['putInternalArtifact']> = async (deps, input) => {
  const { userId, scope } = asked(input);
  const { path, onConflict, mediaType = input.upload.mediaType } = input.query;
  const filename = filenameOf(parsePath(path, 'path'));
  assertNotArchived(await getNamespace(deps.db.kysely, { userId }, scope));
  const stored = await deps.artifactStore.put(input.upload.bytes);
  return { artifact: await createArtifact(deps, userId, { scope, path, onConflict, filename, mediaType }, stored) };
};

export const patchInternalArtifact: Handler<Deps, Endpoints['patchInternalArtifact']> = (deps, input) => {
  const { userId, scope } = asked(input);
  return moveArtifact(deps, { userId }, { scope, ...input.body });
};

export const deleteInternalArtifact: Handler<Deps, Endpoints['deleteInternalArtifact']> = (deps, input) =>
  answerRemoval(deps, asked(input), input.query);
