import { findHits, searchWords } from '@homeport/contracts/text/search-words';
import { sql } from 'kysely';
import type { Namespace } from '../artifacts/namespaces.ts';
import { filenameOf } from '../artifacts/path.ts';
import { usable } from '../assistants/sharing.ts';
import type { Queryable } from '../db/pool.ts';
import { onFoundRow } from '../db/row-lookup.ts';
import { extractorVersion } from './document.ts';
import { type Identifier, identifiersOf, placeOf, scoresOf, type Term, termsOf } from './document-ranking.ts';

/** The documents of a conversation, its project and its assistant, and search in them. */

export type FileOfDocument = { id: string; path: string; size: number; sha256: string; mediaType: string };

/** Files with these names or types can have text worth searching; reading them reveals the format. */
const readableNames =
  '\\.(pdf|docx|xlsx|pptx|odt|ods|odp|epub|rtf|html?|xhtml|eml|csv|tsv|txt|md|markdown|rst|adoc|tex|log|json|xml|ya?ml)$';
const readable = sql`(a.media_type like 'text/%' or a.media_type in ('application/pdf', 'application/rtf',
  'application/epub+zip', 'message/rfc822') or a.media_type like 'application/vnd.oasis.opendocument.%'
  or a.media_type like 'application/vnd.openxmlformats-officedocument.%' or a.search ~ ${readableNames})`;

/** True when there is anything that the tools could search. One statement: every turn asks. */
export async function hasDocuments(
  db: Queryable,
  { userId, chatId, assistantId }: { userId: string; chatId: string; assistantId: string | null },
): Promise<boolean> {
  const { rows } = await sql`
    (select from chats c join artifacts a
      on a.namespace = case when c.project_id is null then 'chat:' || c.id else 'project:' || c.project_id end
    where c.id = ${chatId} and ${onFoundRow(sql`c.owner_id = ${userId}`)} and (c.project_id is null or exists (
      select from project_members m where m.project_id = c.project_id and m.user_id = ${userId})) and ${readable}
    limit 1)
    union all (select from assistants s join artifacts a on a.namespace = 'assistant:' || s.id
      where s.id = ${assistantId} and ${usable('s', userId)} and ${readable} limit 1)`.execute(db);
  return rows.length > 0;
}

/** Returns files that are unread or still being read, newest first. */
export async function unreadFiles(
  db: Queryable,
  namespaces: readonly Namespace[],
  most: number,
): Promise<FileOfDocument[]> {
  const { rows } = await sql<FileOfDocument>`
    select a.id, a.path, a.size, a.sha256, a.media_type as "mediaType" from artifacts a
    where a.namespace = any(${keysOf(namespaces)}) and ${readable} and not exists (
      select from documents d where d.sha256 = a.sha256 and d.version = ${extractorVersion} and d.state <> 'working')
    order by a.created_at desc limit ${most}`.execute(db);
  return rows;
}

function keysOf(namespaces: readonly Namespace[]): string[] {
  return namespaces.map(({ key }) => key);
}

export type Match = { id: string; file: string; page: number; label: string; snippet: string };

/** Words that more pieces than this have are in everything: they decide nothing, and are not looked up. */
const commonFrom = 2_000;
/** So many of them are, where a question has no others. */
const fewestWords = 3;
/** Pieces with the most and rarest words of the question, which are then ranked by their text. */
const candidatesMax = 100;

/**
 * Finds the best pages for a question in words, one piece of each: the index finds candidates by their rare words, and
 * BM25 ranks them. Word frequencies are those that PostgreSQL collected when it last analyzed the table.
 */
export async function searchDocuments(
  db: Queryable,
  namespaces: readonly Namespace[],
  query: string,
  most: number,
): Promise<Match[]> {
  const terms = termsOf(query);
  if (terms.length === 0) return [];
  const identifiers = identifiersOf(query);
  const { rows } = await findCandidates(db, namespaces, terms, identifiers);
  const pieces = Number(rows[0]?.pieces ?? 0);
  const counts = Object.entries(rows[0]?.found ?? {});
  // Counting ends at the bound: such a word can be in every piece.
  const found = new Map(counts.map(([stem, count]) => [stem, count >= commonFrom ? Math.max(count, pieces) : count]));
  const scores = scoresOf(rows, terms, identifiers, { found, pieces });
  const ranked = rows
    .map((row, index) => ({ ...row, score: scores[index] ?? 0 }))
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.page - b.page));
  const pages = new Set<string>();
  const matches: Match[] = [];
  const marked = searchWords(query);
  for (const { id, path, page, label, text } of ranked) {
    const key = `${id} ${page}`;
    if (pages.has(key)) continue;
    pages.add(key);
    matches.push({ id, file: filenameOf(path), page, label, snippet: snippetAround(text, marked, identifiers) });
    if (matches.length === most) break;
  }
  return matches;
}

type CandidateRow = {
  id: string;
  path: string;
  page: number;
  label: string;
  text: string;
  /** Pieces that have each stem; the same in all rows, as is `pieces`. */
  found: Record<string, number>;
  pieces: string | number;
};

function findCandidates(
  db: Queryable,
  namespaces: readonly Namespace[],
  terms: readonly Term[],
  identifiers: readonly Identifier[],
) {
  const stems = terms.map(({ stem }) => stem);
  const queries = terms.map(({ stem, isExact }) => (isExact ? `'${stem}'` : `'${stem}':*`));
  const phrases = identifiers
    .filter(({ words }) => words.length > 1)
    .map(({ words }) => words.map((word) => `'${word}'`).join(' <-> '));
  return sql<CandidateRow>`
    with files as materialized (
      select distinct on (sha256) sha256, id, path from artifacts where namespace = any(${keysOf(namespaces)}) order by sha256, created_at),
    size as materialized (
      select count(*) * coalesce((select c.reltuples / nullif(d.reltuples, 0) from pg_class c, pg_class d
        where c.oid = 'document_chunks'::regclass and d.oid = 'documents'::regclass), 0) as pieces from files),
    pages as materialized (
      select coalesce(sum(d.pages), 0) as pieces from files join documents d using (sha256)
      where d.version = ${extractorVersion} and d.state = 'ready'),
    common as materialized (
      select lexeme, share * size.pieces as hits from size, pg_stats s
        cross join lateral unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) as known (lexeme, share)
      where s.schemaname = any(current_schemas(false)) and s.tablename = 'document_chunks' and s.attname = 'words'
        and lexeme is not null),
    asked as materialized (
      select stem, word, (select coalesce(sum(hits), 0) from common
        where case when word like '%:*' then starts_with(lexeme, stem) else lexeme = stem end) as expected
      from unnest(${stems}::text[], ${queries}::text[]) as asked (stem, word)),
    words as materialized (
      (select stem, word from asked order by (expected >= ${commonFrom}), expected
        limit greatest(${fewestWords}, (select count(*) from asked where expected < ${commonFrom})))
      union all select phrase, phrase from unnest(${phrases}::text[]) as phrase),
    hits as materialized (
      select stem, h.sha256, h.page, h.piece from words cross join lateral (
        select c.sha256, c.page, c.piece from document_chunks c
        where c.words @@ to_tsquery('simple', word) and c.version = ${extractorVersion}
          and c.sha256 in (select sha256 from files) limit ${commonFrom}) h),
    weights as materialized (
      select stem, count(*) as found, case when count(*) >= ${commonFrom} then 0.01
        else ln(1 + (greatest(pages.pieces, count(*)) - count(*) + 0.5) / (count(*) + 0.5)) end as weight
      from hits, pages group by stem, pages.pieces),
    chosen as (
      select sha256, page, piece from hits join weights using (stem) group by 1, 2, 3
      order by sum(weight) desc, sha256, page, piece limit ${candidatesMax})
    select f.id, f.path, b.page, c.label, c.text, pages.pieces,
      (select coalesce(json_object_agg(stem, found), '{}') from weights) as found
    from pages cross join chosen b join files f using (sha256)
    join document_chunks c on c.sha256 = b.sha256 and c.version = ${extractorVersion} and c.page = b.page
      and c.piece = b.piece`.execute(db);
}

const snippetLength = 600;

/**
 * Long enough to tell whether the page answers the question; around a number or name as it was typed, else around the
 * word that the piece has least often.
 */
function snippetAround(text: string, words: readonly string[], identifiers: readonly Identifier[]): string {
  const lower = text.toLowerCase();
  const exact = identifiers.map((identifier) => placeOf(lower, identifier.text)).find((at) => at !== -1);
  const places = words.map((word) => findHits(text, [word])).filter((hits) => hits.length > 0);
  const rarest = exact ?? places.sort((a, b) => a.length - b.length)[0]?.[0]?.start ?? 0;
  const start = Math.max(0, Math.min(rarest - snippetLength / 3, text.length - snippetLength));
  const cut = text.slice(start, start + snippetLength).toWellFormed();
  return `${start > 0 ? '…' : ''}${cut.trim()}${start + snippetLength < text.length ? '…' : ''}`;
}
