import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import { getArtifact } from '../artifacts/artifacts.ts';
import { getNamespace } from '../artifacts/namespaces.ts';
import { parsePath } from '../artifacts/path.ts';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { findPage, readPages } from './document-store.ts';

/** Maximum wait for an unread file; most are read within it. */
const waitMs = 2_000;
const firstCharacters = 1_000;
/** The first page can be a picture, so several are searched. */
const firstPages = 5;
const mostPageCharacters = 200_000;

const nothing = { kind: null, pages: null, tokens: null, firstLines: null, page: null, warnings: [], problem: null };

export const getArtifactText: Handler<Deps, (typeof endpoints)['getArtifactText']> = async (deps, input) => {
  const { actor, query, request } = input;
  const { kysely } = deps.db;
  const target = query.id === undefined ? { path: parsePath(query.path ?? '', 'path') } : { id: query.id };
  const row = await getArtifact(kysely, await getNamespace(kysely, { userId: actor.id }, query), target);
  const known = await deps.documents.read(row, actor.id, waitMs, request.signal);
  if (known.state === 'working') return { ...nothing, state: 'working' as const };
  if (known.state === 'failed') return { ...nothing, state: 'failed' as const, problem: known.problem };
  const asked = query.label === undefined ? query.page : await findPage(kysely, row.sha256, query.label);
  if (asked === undefined && query.label !== undefined) throw new ApiError('not_found', 'The file has no such page');
  if (asked === undefined) {
    const first = await readPages(kysely, row.sha256, 1, firstPages);
    const text = first.find((page) => page.text !== '')?.text ?? '';
    return { ...nothing, ...known, firstLines: text.slice(0, firstCharacters).toWellFormed() };
  }
  const [page] = await readPages(kysely, row.sha256, asked, asked);
  if (page === undefined) throw new ApiError('not_found', `There is no page ${asked}: the file has ${known.pages}`);
  const text = page.text.slice(0, mostPageCharacters).toWellFormed();
  return { ...nothing, ...known, page: { number: asked, label: page.label, text } };
};
