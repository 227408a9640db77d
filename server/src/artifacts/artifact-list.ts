import { ApiError } from '@homeport/contracts/errors';
import type { Artifact } from '@homeport/contracts/files/artifacts';
import { limits } from '@homeport/contracts/limits';
import { pageOf } from '../db/keyset.ts';
import type { Platform } from '../platform.ts';
import { type ArtifactRow, artifactColumns, viewArtifact } from './artifacts.ts';
import type { Namespace } from './namespaces.ts';
import { parsePath, rangeBelow, searchText } from './path.ts';

export type ListRequest = {
  /** A folder, parsed. */
  folder?: string;
  q?: string;
  limit?: number;
  cursor?: string;
};
type Page = { artifacts: Artifact[]; nextCursor: string | null };
type Range = { after: string; end: string | undefined };

const columns = artifactColumns.map((name) => `a.${name}`).join(', ');
const inRange = (endedBy: string) => `a.namespace = $1 and a.path > $2 ${endedBy && `and a.path < ${endedBy}`}`;
const page = (endedBy: string) =>
  `select ${columns} from artifacts a where ${inRange(endedBy)} order by a.path limit $3`;

/** Named, so that each connection plans them once. */
export const listStatements = {
  all: { name: 'list-artifacts', text: page('') },
  below: { name: 'list-artifacts-below', text: page('$4') },
};

/** How many paths a search checks one by one before using the index: enough for common words. */
const window = 2000;
const windowStatement = (endedBy: string) => `
  select ${columns} from (
    select a.*, a.search like $4 as hit from artifacts a where ${inRange(endedBy)} order by a.path limit ${window}) a
  where a.hit order by a.path limit $3`;
/** Rare words: all hits by the namespace's trigrams, then one page of them. */
const indexStatement = (endedBy: string) => `
  with hits as materialized (select a.path from artifacts a where ${inRange(endedBy)} and a.search like $4)
  select ${columns} from (select path from hits order by path limit $3) h
  join artifacts a on a.namespace = $1 and a.path = h.path order by a.path`;

export const searchStatements = { window: windowStatement, index: indexStatement };

/** One page of a namespace, or of a folder in it, by path; with `q`, those whose path contains it, ignoring case. */
export async function listArtifacts(
  deps: Pick<Platform, 'db'>,
  namespace: Namespace,
  request: ListRequest,
): Promise<Page> {
  const { limit = limits.pageDefault, q = '' } = request;
  const range = rangeOf(request);
  const rows =
    q === '' ? await list(deps, namespace, range, limit + 1) : await search(deps, namespace, range, limit + 1, q);
  const { shown, nextCursor } = pageOf(rows, limit, (last) => encodeCursor(last.path));
  return { artifacts: shown.map(viewArtifact), nextCursor };
}

function rangeOf({ folder, cursor }: ListRequest): Range {
  const position = cursor === undefined ? '' : decodeCursor(cursor);
  if (folder === undefined) return { after: position, end: undefined };
  const { first, end } = rangeBelow(folder);
  // Paths compare by their bytes; a folder's own range begins after it.
  return { after: Buffer.compare(Buffer.from(position), Buffer.from(first)) > 0 ? position : first, end };
}

async function list(
  deps: Pick<Platform, 'db'>,
  namespace: Namespace,
  range: Range,
  count: number,
): Promise<ArtifactRow[]> {
  const statement = range.end === undefined ? listStatements.all : listStatements.below;
  const values = [namespace.key, range.after, count, ...(range.end === undefined ? [] : [range.end])];
  return (await deps.db.pool.query<ArtifactRow>({ ...statement, values })).rows;
}

async function search(
  deps: Pick<Platform, 'db'>,
  namespace: Namespace,
  range: Range,
  count: number,
  q: string,
): Promise<ArtifactRow[]> {
  const pattern = `%${searchText(q.normalize('NFC')).replace(/[\\%_]/g, '\\$&')}%`;
  const endedBy = range.end === undefined ? '' : '$5';
  const values = [namespace.key, range.after, count, pattern, ...(range.end === undefined ? [] : [range.end])];
  const run = async (text: string): Promise<ArtifactRow[]> => {
    return (await deps.db.pool.query<ArtifactRow>(text, values)).rows;
  };
  const near = await run(searchStatements.window(endedBy));
  return near.length === count ? near : run(searchStatements.index(endedBy));
}

/** Opaque to clients. */
function encodeCursor(path: string): string {
  return Buffer.from(path).toString('base64url');
}

function decodeCursor(cursor: string): string {
  const path = Buffer.from(cursor, 'base64url').toString();
  try {
    // Checked name by name: a folder can have made the path longer than the limit for given paths
    // (`moveChatArtifacts`).
    const names = path.split('/').map((name) => parsePath(name, 'cursor'));
    if (encodeCursor(names.join('/')) === cursor) return path;
  } catch {
    // The error below says it better.
  }
  throw new ApiError('invalid_request', 'The request is not valid. cursor: not a cursor of this list', {
    details: [{ path: 'cursor', message: 'Not a cursor of this list' }],
  });
}
