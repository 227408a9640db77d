import { createHash, randomUUIDv7 } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { ApiError } from '@homeport/contracts/errors';
import type { WebSource } from '@homeport/contracts/web-search';
import { sql } from 'kysely';
import { assertOwnedChat } from '../conversations/chats.ts';
import { readParts } from '../conversations/messages.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import { isPrivateAddress } from '../egress/destination.ts';
import { citedNumbers, findQuotes, fold, hasWords } from './quotes.ts';

/** Pages and search results kept with the answer that read them. The only writer of `web_sources`. */

/** The answer that reads, and its owner. */
export type Reading = { chatId: string; messageId: string; ownerId: string };
export type NewSource = {
  url: string;
  askedUrl: string;
  title: string;
  text: string;
  publishedAt?: string | undefined;
  isPage: boolean;
};
export type StoredSource = {
  number: number;
  url: string;
  title: string;
  text: string;
  publishedAt: string | null;
  isPage: boolean;
  readAt: Date;
};

const columns = `number, url, title, text, published_at as "publishedAt", is_page as "isPage", read_at as "readAt"`;
const cacheMinutes = 15;
const citedMax = 200;
const titleMax = 500;

/**
 * Stores what an answer has read; an address that it knows already keeps its number, and a page replaces a result.
 * Returns the numbers in the same order.
 */
export async function storeSources(
  db: Pick<Database, 'kysely'>,
  reading: Reading,
  sources: readonly NewSource[],
): Promise<number[]> {
  const { chatId, messageId, ownerId } = reading;
  return inTransaction(db, async (trx) => {
    // Numbers of one conversation are given one after the other.
    await sql`select from chats where id = ${chatId} for no key update`.execute(trx);
    const numbers: number[] = [];
    for (const source of sources) {
      const hash = createHash('sha256').update(source.text).digest('hex');
      const title = source.title.slice(0, titleMax).toWellFormed();
      const { rows } = await sql<{ number: number }>`
        with known as (
          select id from web_sources where message_id = ${messageId}
            and (url = ${source.url} or asked_url = ${source.askedUrl}) order by number limit 1 for update
        ), updated as (
          update web_sources w set is_page = true, url = ${source.url}, title = ${title}, text = ${source.text},
            hash = ${hash}, published_at = ${source.publishedAt ?? null}, read_at = now()
          from known where w.id = known.id and ${source.isPage}::boolean
        ), inserted as (
          insert into web_sources (id, chat_id, message_id, owner_id, number, is_page, url, asked_url, title, text, hash, published_at)
          select ${randomUUIDv7()}, ${chatId}, ${messageId}, ${ownerId},
            (select coalesce(max(number), 0) + 1 from web_sources where chat_id = ${chatId}),
            ${source.isPage}::boolean, ${source.url}, ${source.askedUrl}, ${title}, ${source.text}, ${hash}, ${source.publishedAt ?? null}
          where not exists (select from known) returning number
        )
        select number from inserted
        union all select w.number from web_sources w join known on known.id = w.id`.execute(trx);
      numbers.push(rows[0]?.number ?? 0);
    }
    return numbers;
  });
}

/** A source of the conversation by the number under which the model knows it. */
export async function findSource(db: Queryable, chatId: string, number: number): Promise<StoredSource | undefined> {
  const { rows } = await sql<StoredSource>`
    select ${sql.raw(columns)} from web_sources where chat_id = ${chatId} and number = ${number}`.execute(db);
  return rows[0];
}

/** A page that this person's models have read in the last minutes, in any conversation. */
export async function findRecentPage(db: Queryable, ownerId: string, url: string): Promise<StoredSource | undefined> {
  const { rows } = await sql<StoredSource>`
    select ${sql.raw(columns)} from web_sources
    where owner_id = ${ownerId} and is_page and (url = ${url} or asked_url = ${url})
      and read_at > now() - ${cacheMinutes} * interval '1 minute'
    order by read_at desc limit 1`.execute(db);
  return rows[0];
}

/** True once this answer has read something from the web. */
export async function hasRead(db: Queryable, messageId: string): Promise<boolean> {
  const found = await db.selectFrom('web_sources').select('id').where('message_id', '=', messageId).limit(1).execute();
  return found.length > 0;
}

/**
 * True if the conversation has this address: as a source, as a link in one, or in a message of the person. Any other
 * one was made up by the model, perhaps to carry something away. A link into the private network counts only on a page
 * of the same origin.
 */
export async function isKnownAddress(db: Queryable, chatId: string, raw: string, address: URL): Promise<boolean> {
  const url = address.href;
  const linkedFrom = isPrivateAddress(url) ? `${address.origin}/` : '';
  const { rows } = await sql<{ isKnown: boolean }>`
    select exists (select from web_sources where chat_id = ${chatId} and (url = ${url} or asked_url = ${url}
        or (starts_with(url, ${linkedFrom}) and strpos(text, ${`(${url})`}) > 0)))
      or exists (select from messages where chat_id = ${chatId} and role = 'user' and strpos(parts, ${raw}) > 0)
      as "isKnown"`.execute(db);
  return rows[0]?.isKnown === true;
}

/** Sources of an answer: the pages it has read and all that it cites, with its quotes checked word for word. */
export async function readSources(
  { kysely }: Pick<Database, 'kysely'>,
  ownerId: string,
  { chatId, messageId }: { chatId: string; messageId: string },
): Promise<WebSource[]> {
  await assertOwnedChat(kysely, ownerId, chatId);
  const message = kysely.selectFrom('messages').select('id').where('id', '=', messageId).where('chat_id', '=', chatId);
  if ((await message.executeTakeFirst()) === undefined) throw new ApiError('not_found', 'Message not found');
  const parts = await readParts(kysely, messageId);
  const answer = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const cited = citedNumbers(answer, citedMax);
  const { rows } = await sql<StoredSource & { id: string; hash: string }>`
    select id, hash, ${sql.raw(columns)} from web_sources
    where (message_id = ${messageId} and is_page) or (chat_id = ${chatId} and number = any(${cited}::int[]))
    order by number`.execute(kysely);
  const quotes = Map.groupBy(findQuotes(answer), ({ number }) => number);
  const sources: WebSource[] = [];
  for (const { readAt, ...source } of rows) {
    const own = quotes.get(source.number) ?? [];
    sources.push({ ...source, readAt: readAt.toISOString(), quotes: await checkedQuotes(source.text, own) });
  }
  return sources;
}

const misquotesMax = 20;
type Misquote = { number: number; quote: string };

/** The sources that a text cites, by number; the numbers that are none; and quotes that are not in their source. */
export async function checkCitations(
  { kysely }: Pick<Database, 'kysely'>,
  chatId: string,
  text: string,
): Promise<{ cited: StoredSource[]; unknown: number[]; misquotes: Misquote[] }> {
  const numbers = citedNumbers(text, citedMax);
  const { rows: cited } = await sql<StoredSource>`
    select ${sql.raw(columns)} from web_sources
    where chat_id = ${chatId} and number = any(${numbers}::int[]) order by number`.execute(kysely);
  const known = new Set(cited.map(({ number }) => number));
  const quotes = Map.groupBy(findQuotes(text), ({ number }) => number);
  const misquotes: Misquote[] = [];
  for (const { number, text: source } of cited) {
    for (const quote of await checkedQuotes(source, quotes.get(number) ?? [])) {
      if (!quote.found && misquotes.length < misquotesMax) misquotes.push({ number, quote: quote.text });
    }
  }
  return { cited, unknown: numbers.filter((number) => !known.has(number)), misquotes };
}

/** Yields to the event loop after each quote: one takes up to 2 ms. */
async function checkedQuotes(source: string, quotes: readonly { text: string }[]): Promise<WebSource['quotes']> {
  if (quotes.length === 0) return [];
  const folded = fold(source);
  const checked: WebSource['quotes'] = [];
  for (const { text } of quotes) {
    checked.push({ text, found: hasWords(folded, text) });
    await setImmediate();
  }
  return checked;
}

/** Sources of a conversation for the export of an account, one at a time. */
export async function* exportedSources(db: Queryable, chatId: string): AsyncGenerator<object> {
  for (let after = 0; ; ) {
    const { rows } = await sql<StoredSource & { messageId: string; hash: string }>`
      select message_id as "messageId", hash, ${sql.raw(columns)} from web_sources
      where chat_id = ${chatId} and number > ${after} order by number limit 20`.execute(db);
    for (const row of rows) yield { ...row, readAt: row.readAt.toISOString() };
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.number;
  }
}
