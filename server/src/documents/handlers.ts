import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import { getArtifact } from '../artifacts/artifacts.ts';
import { getNamespace } from '../artifacts/namespaces.ts';
import { parsePath } from '../artifacts/path.ts';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { readPages } from './document-store.ts';

/** So long an answer waits for a file that nobody has read yet; most are read by then. */
const patienceMs = 2_000;
const firstCharacters = 1_000;
const mostPageCharacters = 200_000;

const nothing = { kind: null, pages: null, tokens: null, firstLines: null, page: null, warnings: [], problem: null };

export const getArtifactText: Handler<Deps, (typeof endpoints)['getArtifactText']> = async (deps, input) => {
  const { actor, query, request } = input;
  const { kysely } = deps.db;
  const target = query.id === undefined ? { path: parsePath(query.path ?? '', 'path') } : { id: query.id };
  const row = await getArtifact(kysely, await getNamespace(kysely, { userId: actor.id }, query), target);
  const known = await deps.documents.read(row, patienceMs, request.signal);
  if (known.state === 'working') return { ...nothing, state: 'working' as const };
  if (known.state === 'failed') return { ...nothing, state: 'failed' as const, problem: known.problem };
  const asked = query.page ?? 1;
  const [page] = await readPages(kysely, row.sha256, asked, asked);
  if (page === undefined) throw new ApiError('not_found', `This file has ${known.pages} pages`);
  return {
    ...known,
    firstLines: query.page === undefined ? page.text.slice(0, firstCharacters).toWellFormed() : null,
    page:
      query.page === undefined
        ? null
        : { number: asked, label: page.label, text: page.text.slice(0, mostPageCharacters).toWellFormed() },
    problem: null,
  };
};
