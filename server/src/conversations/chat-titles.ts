import { limits } from '@homeport/contracts/limits';
import { type RawBuilder, sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { countingCalls, type LedgerRow } from '../usage/ledger.ts';
import { indexedText, ownerLexeme } from './search-text.ts';

/** Titles of conversations, their origin, and their search words. */

/** The title's source; undefined if the conversation is deleted or temporary. */
export async function findTitleSource(db: Queryable, chatId: string): Promise<TitleSource | undefined> {
  const query = db.selectFrom('chats').select('title_source').where('id', '=', chatId).where('temporary', '=', false);
  const row = await query.executeTakeFirst();
  return row?.title_source;
}

/** Replaces an instant title with a model's; returns whether it did. A title that a person typed stays. */
export async function setModelTitle(
  db: Queryable,
  chatId: string,
  title: string,
  calls: readonly LedgerRow[] = [],
): Promise<boolean> {
  const stored = storedTitle(title);
  const { rows } = await sql`
    with named as (
      update chats c set ${sql.join(titleSets(stored, 'model'))}
      where id = ${chatId} and title_source = 'instant' and ${stored}::text <> '' returning id
    ), ${countingCalls(calls)}
    select id from named`.execute(db);
  return rows.length === 1;
}

export type TitleSource = 'none' | 'instant' | 'model' | 'person';

export function storedTitle(title: string): string {
  return [...title.trim()].slice(0, limits.titleMax).join('');
}

/** Updates a title's search words, unless it has changed meanwhile. */
export async function indexTitle(trx: Queryable, chatId: string, title: string): Promise<void> {
  await sql`update chats c set title_search = ${titleVector(title)} where id = ${chatId} and title = ${title}`.execute(
    trx,
  );
}

/** The columns of a new title. */
export function titleSets(title: string, source: Exclude<TitleSource, 'none'>): RawBuilder<unknown>[] {
  return [sql`title = ${title}`, sql`title_source = ${source}`, sql`title_search = ${titleVector(title)}`];
}

function titleVector(title: string): RawBuilder<unknown> {
  const words = indexedText(title);
  if (words === '') return sql`null`;
  return sql`to_tsvector('simple', ${words}) || array_to_tsvector(array[${sql.lit(ownerLexeme(''))} || owner_id])`;
}
