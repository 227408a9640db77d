import type { ChatList, ListedChat } from '@homeport/contracts/chat/conversations';
import { searchWords, snippetOf } from '@homeport/contracts/text/search-words';
import type { Platform } from '../../platform.ts';

/** Maximum number of conversations of a page that get a snippet. */
const snippetsMax = 50;
/** Newest messages of a conversation among which the match is looked for. */
const messagesMax = 500;
/** Characters of a message's stored parts that are read. */
const partsMax = 32_768;

/** Adds to each conversation of a page a line of its newest message that matches `query`, as typed in `typed`. */
export async function withSnippets(
  deps: Pick<Platform, 'db'>,
  page: ChatList,
  typed: string,
  query: string,
): Promise<ChatList> {
  const words = searchWords(typed);
  const ids = page.chats.slice(0, snippetsMax).map((chat) => chat.id);
  if (ids.length === 0 || words.length === 0) return page;
  const { rows } = await deps.db.pool.query<{ id: string; parts: string }>(snippetStatement, [
    ids,
    query,
    messagesMax,
    partsMax,
  ]);
  const found = new Map(rows.map(({ id, parts }) => [id, snippetOf(textIn(parts), words)]));
  const chats = page.chats.map((chat): ListedChat => {
    const snippet = found.get(chat.id);
    return snippet ? { ...chat, snippet } : chat;
  });
  return { ...page, chats };
}

// The inner limit keeps the planner from asking the search index once per conversation.
const snippetStatement = `
  select c.id, left(m.parts, $4) as parts from unnest($1::text[]) as c (id)
  cross join lateral (
    select parts from (select parts, search from messages where chat_id = c.id order by seq desc limit $3) newest
    where newest.search @@ to_tsquery('simple', $2) limit 1
  ) m`;

const textPart = /"type":"text"[^{}"]*"text":"((?:[^"\\]|\\.)*)/g;

/** Extracts the text of text parts from JSON that can be cut anywhere. */
function textIn(parts: string): string {
  const texts = [...parts.matchAll(textPart)].map(([, text = '']) => unescapeJson(text));
  return texts.join('\n');
}

/** The inside of a JSON string literal; a broken escape at the cut is dropped. */
function unescapeJson(text: string): string {
  try {
    return JSON.parse(`"${text.replace(/\\u[0-9a-f]{0,3}$/i, '')}"`) as string;
  } catch {
    return '';
  }
}
