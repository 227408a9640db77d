import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { inTransaction, type Queryable } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import {
  type DocumentKind,
  type DocumentProblem,
  type DocumentWarning,
  extractorVersion,
  type IndexedDocument,
} from './document.ts';

/**
 * Extracted documents, by the hash of their content and the version of the readers. This file alone writes `documents`
 * and `document_chunks`. A reading process holds a claim; an expired claim is taken over, so that a crash leaves
 * nothing unread.
 */

export type DocumentInfo =
  | { state: 'ready'; kind: DocumentKind; pages: number; tokens: number; warnings: DocumentWarning[] }
  | { state: 'failed'; problem: DocumentProblem }
  | { state: 'working' };

type Row = {
  sha256: string;
  state: DocumentInfo['state'];
  kind: DocumentKind | null;
  pages: number | null;
  tokens: number | null;
  warnings: DocumentWarning[];
  problem: DocumentProblem | null;
};

const claimSeconds = 240;
/** A timeout can be the fault of a busy machine, so reading is retried after this. */
const retrySeconds = 3_600;
/** Then a file is left alone. A crash of the service counts twice: it is followed by one more attempt. */
const mostAttempts = 4;
const gaveUp: DocumentProblem = { code: 'too_much_memory', message: 'Reading the file failed several times.' };

const batchCharacters = 400_000;

/** Contents that no process has begun to read are missing in the result. */
export async function findDocuments(db: Queryable, contents: readonly string[]): Promise<Map<string, DocumentInfo>> {
  const { rows } = await sql<Row>`
    select sha256, state, kind, pages, tokens, warnings, problem from documents
    where sha256 = any(${contents}) and version = ${extractorVersion}
      and not (state = 'failed' and coalesce(claimed_until < now(), false))`.execute(db);
  return new Map(rows.map((row) => [row.sha256, infoOf(row)]));
}

function infoOf({ state, kind, pages, tokens, warnings, problem }: Row): DocumentInfo {
  if (state === 'ready') return { state, kind: kind ?? 'text', pages: pages ?? 0, tokens: tokens ?? 0, warnings };
  return state === 'failed' ? { state, problem: problem ?? gaveUp } : { state };
}

/**
 * Claims this content for reading; undefined when another process has the claim, it was read, or it no longer exists.
 */
export async function claimDocument(db: Queryable, sha256: string): Promise<string | undefined> {
  const claim = randomUUID();
  const { rows } = await sql<{ attempts: number }>`
    insert into documents (sha256, version, state, claim, claimed_until)
    select sha256, ${extractorVersion}, 'working', ${claim}, now() + ${claimSeconds} * interval '1 second'
    from blobs where sha256 = ${sha256}
    on conflict (sha256, version) do update
    set state = 'working', claim = excluded.claim, claimed_until = excluded.claimed_until,
      attempts = documents.attempts + case when documents.state = 'working' then 2 else 1 end
    where documents.state <> 'ready' and documents.claimed_until < now()
    returning attempts`.execute(db);
  const attempts = rows[0]?.attempts;
  if (attempts === undefined) return undefined;
  if (attempts <= mostAttempts) return claim;
  await failDocument(db, { sha256, claim }, gaveUp);
  return undefined;
}

type Claimed = { sha256: string; claim: string };

/** Keeps the text, and drops that of other versions. False when the claim was lost or the content is gone. */
export async function saveDocument(
  deps: Pick<Platform, 'db'>,
  { sha256, claim }: Claimed,
  document: IndexedDocument,
): Promise<boolean> {
  return inTransaction(deps.db, async (trx) => {
    const { rows } = await sql`
      select from documents where sha256 = ${sha256} and version = ${extractorVersion} and claim = ${claim}
      for update`.execute(trx);
    if (rows.length === 0) return false;
    for (const batch of batchesOf(document)) await insertChunks(trx, sha256, batch);
    const { kind, tokens, pages, warnings } = document;
    await sql`
      update documents set state = 'ready', claim = null, claimed_until = null, kind = ${kind}, pages = ${pages.length},
        tokens = ${tokens}, warnings = ${JSON.stringify(warnings)}
      where sha256 = ${sha256} and version = ${extractorVersion}`.execute(trx);
    await sql`delete from documents where sha256 = ${sha256} and version < ${extractorVersion}`.execute(trx);
    return true;
  });
}

export async function failDocument(db: Queryable, { sha256, claim }: Claimed, problem: DocumentProblem): Promise<void> {
  await sql`
    update documents set state = 'failed', claim = null, problem = ${JSON.stringify(problem)},
      claimed_until = case when ${problem.code === 'too_slow'} then now() + ${retrySeconds} * interval '1 second' end
    where sha256 = ${sha256} and version = ${extractorVersion} and claim = ${claim}`.execute(db);
}

/** Releases the claim after a temporary failure, as if reading had not begun. */
export async function forgetClaim(db: Queryable, { sha256, claim }: Claimed): Promise<void> {
  await sql`
    delete from documents where sha256 = ${sha256} and version = ${extractorVersion} and claim = ${claim}`.execute(db);
}

export type ReadPage = { page: number; label: string; text: string };

/** The pages from `first` to `last`, as far as there are any. */
export async function readPages(db: Queryable, sha256: string, first: number, last: number): Promise<ReadPage[]> {
  const { rows } = await sql<ReadPage>`
    select page, min(label) as label, string_agg(text, '' order by piece) as text from document_chunks
    where sha256 = ${sha256} and version = ${extractorVersion} and page between ${first} and ${last}
    group by page order by page`.execute(db);
  return rows;
}

/** The first page that is called so, upper or lower case. */
export async function findPage(db: Queryable, sha256: string, label: string): Promise<number | undefined> {
  const { rows } = await sql<{ page: number | null }>`
    select min(page) as page from document_chunks
    where sha256 = ${sha256} and version = ${extractorVersion} and lower(label) = lower(${label})`.execute(db);
  return rows[0]?.page ?? undefined;
}

type Chunk = { page: number; piece: number; label: string; text: string; words: string };

function* batchesOf({ pages }: IndexedDocument): Generator<Chunk[]> {
  let batch: Chunk[] = [];
  let size = 0;
  for (const [index, { label, pieces }] of pages.entries()) {
    for (const [piece, { text, words }] of pieces.entries()) {
      batch.push({ page: index + 1, piece, label, text, words });
      size += text.length;
      if (size < batchCharacters) continue;
      yield batch;
      batch = [];
      size = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

async function insertChunks(trx: Queryable, sha256: string, chunks: readonly Chunk[]): Promise<void> {
  const column = <Key extends keyof Chunk>(key: Key) => chunks.map((chunk) => chunk[key]);
  await sql`
    insert into document_chunks (sha256, version, page, piece, label, text, words)
    select ${sha256}, ${extractorVersion}, page, piece, label, text, to_tsvector('simple', words)
    from unnest(${column('page')}::int[], ${column('piece')}::int[], ${column('label')}::text[], ${column('text')}::text[],
      ${column('words')}::text[]) as chunk (page, piece, label, text, words)`.execute(trx);
}
