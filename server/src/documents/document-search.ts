import { findHits, searchWords } from '@homeport/contracts/text/search-words';
import { sql } from 'kysely';
import type { Namespace } from '../artifacts/namespaces.ts';
import { filenameOf } from '../artifacts/path.ts';
import { searchText } from '../conversations/search-text.ts';
import type { Queryable } from '../db/pool.ts';
import { onFoundRow } from '../db/row-lookup.ts';
import { extractorVersion } from './document.ts';

/** The documents of a conversation or project, and search in them. */

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
  { userId, chatId }: { userId: string; chatId: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from chats c join artifacts a
      on a.namespace = case when c.project_id is null then 'chat:' || c.id else 'project:' || c.project_id end
    where c.id = ${chatId} and ${onFoundRow(sql`c.owner_id = ${userId}`)} and (c.project_id is null or exists (
      select from project_members m where m.project_id = c.project_id and m.user_id = ${userId})) and ${readable}
    limit 1`.execute(db);
  return rows.length > 0;
}

/** Returns files that are unread or still being read, newest first. */
export async function unreadFiles(db: Queryable, namespace: Namespace, most: number): Promise<FileOfDocument[]> {
  const { rows } = await sql<FileOfDocument>`
    select a.id, a.path, a.size, a.sha256, a.media_type as "mediaType" from artifacts a
    where a.namespace = ${namespace.key} and ${readable} and not exists (
      select from documents d where d.sha256 = a.sha256 and d.version = ${extractorVersion} and d.state <> 'working')
    order by a.created_at desc limit ${most}`.execute(db);
  return rows;
}

export type Match = { id: string; file: string; page: number; label: string; snippet: string };

/** Words that more pieces than this have are in everything: they decide nothing, and are not looked up. */
const commonFrom = 2_000;
/** So many of them are, where a question has no others. */
const fewestWords = 3;
const mostWords = 24;
const prefixFrom = 4;

/**
 * Finds the best pages for a question in words, one piece of each. Rare words weigh more, in any language. Word
 * frequencies are those that PostgreSQL collected when it last analyzed the table.
 */
export async function searchDocuments(
  db: Queryable,
  namespace: Namespace,
  query: string,
  most: number,
): Promise<Match[]> {
  const words = [...new Set(searchText(query).split(' '))].filter(Boolean).slice(0, mostWords);
  if (words.length === 0) return [];
  const stems = [...new Set(words.map(stemOf))];
  const { rows } = await sql<{ id: string; path: string; page: number; label: string; text: string }>`
    with files as materialized (
      select distinct on (sha256) sha256, id, path from artifacts where namespace = ${namespace.key} order by sha256, created_at),
    size as materialized (
      select count(*) * coalesce((select c.reltuples / nullif(d.reltuples, 0) from pg_class c, pg_class d
        where c.oid = 'document_chunks'::regclass and d.oid = 'documents'::regclass), 0) as pieces from files),
    common as materialized (
      select lexeme, share * size.pieces as hits from size, pg_stats s
        cross join lateral unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) as known (lexeme, share)
      where s.schemaname = any(current_schemas(false)) and s.tablename = 'document_chunks' and s.attname = 'words'
        and lexeme is not null),
    asked as materialized (
      select stem, (select coalesce(sum(hits), 0) from common
        where case when length(stem) >= ${prefixFrom} then starts_with(lexeme, stem) else lexeme = stem end) as expected
      from unnest(${stems}::text[]) as stem),
    words as materialized (
      select case when length(stem) >= ${prefixFrom} then '''' || stem || ''':*' else '''' || stem || '''' end as word
      from asked order by (expected >= ${commonFrom}), expected
      limit greatest(${fewestWords}, (select count(*) from asked where expected < ${commonFrom}))),
    hits as materialized (
      select word, h.sha256, h.page, h.piece from words cross join lateral (
        select c.sha256, c.page, c.piece from document_chunks c
        where c.words @@ to_tsquery('simple', word) and c.version = ${extractorVersion}
          and c.sha256 in (select sha256 from files) limit ${commonFrom}) h),
    weights as (
      select word, case when count(*) >= ${commonFrom} then 0.01 else 1 / ln(2 + count(*)) end as weight
      from hits group by word),
    pieces as (
      select sha256, page, piece, sum(weight) as score from hits join weights using (word) group by 1, 2, 3),
    best as (
      select distinct on (sha256, page) sha256, page, piece, score from pieces order by sha256, page, score desc, piece),
    chosen as (select * from best order by score desc, sha256, page limit ${most * 4})
    select f.id, f.path, b.page, c.label, c.text from chosen b join files f using (sha256)
    join document_chunks c on c.sha256 = b.sha256 and c.version = ${extractorVersion} and c.page = b.page and c.piece = b.piece
    order by b.score + 0.1 * ts_rank_cd(c.words, to_tsquery('simple', ${words.map(asQuery).join(' | ')}), 1) desc,
      f.path, b.page limit ${most}`.execute(db);
  const marked = searchWords(query);
  return rows.map(({ id, path, page, label, text }) => ({
    id,
    file: filenameOf(path),
    page,
    label,
    snippet: snippetAround(text, marked),
  }));
}

/**
 * Without its last letters, which are what most languages change: a word is found in its other forms, shorter and
 * longer.
 */
function stemOf(word: string): string {
  const letters = [...word];
  const ending = letters.length >= 7 ? 2 : letters.length >= 5 ? 1 : 0;
  return letters.slice(0, letters.length - ending).join('');
}

/** A longer word also finds what begins like it: its other forms, in many languages. */
function asQuery(word: string): string {
  return [...word].length >= prefixFrom ? `'${word}':*` : `'${word}'`;
}

const snippetLength = 600;

/** Long enough to tell whether the page answers the question; around the word that the piece has least often. */
function snippetAround(text: string, words: readonly string[]): string {
  const places = words.map((word) => findHits(text, [word])).filter((hits) => hits.length > 0);
  const rarest = places.sort((a, b) => a.length - b.length)[0]?.[0]?.start ?? 0;
  const start = Math.max(0, Math.min(rarest - snippetLength / 3, text.length - snippetLength));
  const cut = text.slice(start, start + snippetLength).toWellFormed();
  return `${start > 0 ? '…' : ''}${cut.trim()}${start + snippetLength < text.length ? '…' : ''}`;
}
