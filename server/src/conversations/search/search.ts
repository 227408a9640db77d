import type { ChatList } from '@homeport/contracts/chat/conversations';
import { limits } from '@homeport/contracts/limits';
import { afterText, decodeCursor, encodeCursor, type Position } from '../../db/keyset.ts';
import type { Platform } from '../../platform.ts';
import { projectArchivedColumn } from '../../projects/projects.ts';
import { type ListRequest, viewPage } from '../chat-list.ts';
import { type ChatRow, chatColumns } from '../chat-view.ts';
import { ownerQuery, searchQuery } from '../search-text.ts';
import { withSnippets } from './snippets.ts';

/** More matches of one owner than this are not sorted; the list is walked instead. */
const hitsMax = 2_000;
/** Conversations asked one by one in a statement. */
const walkStep = 100;
/** After so many conversations a page ends where it is, with a cursor: one request stays bounded. */
const walkMax = 5_000;

type Search = { ownerId: string; archived: boolean; projectId: string | null; query: string; limit: number };

/**
 * Conversations whose title or one of whose messages matches, newest activity first (contract.md section 5, `q`). Words
 * are looked for in one message or title; see `searchQuery`. A page may hold less than `limit` and still have a cursor.
 */
export async function searchChats(
  deps: Pick<Platform, 'db'>,
  ownerId: string,
  typed: string,
  request: ListRequest,
): Promise<ChatList> {
  const position = request.cursor === undefined ? undefined : decodeCursor(request.cursor);
  const words = searchQuery(typed);
  if (words === undefined) return { chats: [], nextCursor: null };
  const { archived = false, projectId = null, limit = limits.pageDefault } = request;
  const page = await walk(deps, { ownerId, archived, projectId, query: words, limit }, position);
  return withSnippets(deps, page, typed, words);
}

/** In the statements $1 is the query and $2 the owner's lexeme; the index joins the two. */
const tsquery = `(to_tsquery('simple', $1) && $2::tsquery)`;

// Materialized, and the limit outside: planned for all hits (by the index), read for as many as are wanted.
export const hitsStatement = `
  with in_messages as materialized (select chat_id from messages where search @@ ${tsquery}),
    in_titles as materialized (select id as chat_id from chats where title_search @@ ${tsquery}),
    hits as ((select chat_id from in_messages limit $3) union all (select chat_id from in_titles limit $3))
  select count(*) as hits, coalesce(array_agg(distinct chat_id), '{}') as ids from hits`;

/** Ids of the conversations that match; undefined when there are too many to be worth sorting. */
async function findHits(deps: Pick<Platform, 'db'>, search: Search): Promise<string[] | undefined> {
  const { rows } = await deps.db.pool.query<{ hits: number; ids: string[] }>(hitsStatement, [
    search.query,
    ownerQuery(search.ownerId),
    hitsMax,
  ]);
  const found = rows[0];
  return found === undefined || found.hits >= hitsMax ? undefined : found.ids;
}

const filter = `c.owner_id = $1 and c.archived = $2 and not c.temporary and case when $3::text is null then not ${projectArchivedColumn('c.project_id')} else c.project_id = $3 end
  and ($4::int8 is null or ${afterText('c.updated_at', 'c.id', '$4', '$5::text')})`;

async function readHits(
  deps: Pick<Platform, 'db'>,
  { ownerId, archived, projectId, limit }: Search,
  ids: string[],
  after: Position | undefined,
): Promise<ChatList> {
  const { rows } = await deps.db.pool.query<ChatRow>(
    `select ${chatColumns} from chats c where ${filter} and c.id = any($6)
     order by c.updated_at desc, c.id desc limit $7`,
    [ownerId, archived, projectId, after?.micros ?? null, after?.id ?? null, ids, limit + 1],
  );
  return viewPage(rows, limit);
}

// "offset 0" keeps the planner from asking the search index once per conversation.
export const walkStatement = `
  with step as materialized (
    select c.* from chats c where ${filter} order by c.updated_at desc, c.id desc limit $6
  )
  select ${chatColumns}, coalesce(c.title_search @@ q.query or m.hit, false) as hit
  from step c
  cross join (select to_tsquery('simple', $7) as query) q
  left join lateral (
    select true as hit from (select search from messages where chat_id = c.id offset 0) t where t.search @@ q.query limit 1
  ) m on true
  order by c.updated_at desc, c.id desc`;

/**
 * Searches conversations one by one, newest first: the quickest way for common words. When they turn out to be rare,
 * queries the index for all matches, and resumes the walk only if those are too many, never beyond `walkMax`.
 */
async function walk(deps: Pick<Platform, 'db'>, search: Search, after: Position | undefined): Promise<ChatList> {
  const { ownerId, archived, projectId, query, limit } = search;
  const hits: ChatRow[] = [];
  let from = after;
  let indexAsked = false;
  for (let walked = 0; walked < walkMax; walked += walkStep) {
    const values = [ownerId, archived, projectId, from?.micros ?? null, from?.id ?? null, walkStep, query];
    const { rows } = await deps.db.pool.query<ChatRow & { hit: boolean }>(walkStatement, values);
    const found = rows.filter((row) => row.hit);
    hits.push(...found.map(({ hit, ...row }) => row));
    const last = rows.at(-1);
    if (hits.length > limit || rows.length < walkStep || last === undefined) return viewPage(hits, limit);
    from = { micros: last.updatedAt, id: last.id };
    if (indexAsked || found.length >= walkStep / 2) continue;
    const ids = await findHits(deps, search);
    if (ids !== undefined) return readHits(deps, search, ids, after);
    indexAsked = true;
  }
  const { chats } = viewPage(hits, limit);
  return { chats, nextCursor: from === undefined ? null : encodeCursor(from) };
}
