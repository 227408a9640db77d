import { ApiError } from '@homeport/contracts/errors';
import { sql, type Transaction } from 'kysely';
import { type ImportedChat, importChats } from '../conversations/imported-chats.ts';
import { type ImportedMessage, importMessages } from '../conversations/messages.ts';
import type { Tables } from '../db/tables/tables.ts';
import { manifestError } from './manifest/manifest.ts';
import type { Report } from './report.ts';

/** Adds the conversations whose id is new; existing ones stay as they are, even those of other owners. */
export async function applyConversations(
  transaction: Transaction<Tables>,
  { chats, messages }: { chats: readonly ImportedChat[]; messages: readonly ImportedMessage[] },
  report: Report,
): Promise<void> {
  if (chats.length === 0) return;
  await assertOwners(transaction, chats);
  const created = new Set(await importChats(transaction, chats));
  report.applied.conversations.created += created.size;
  report.applied.conversations.skipped += chats.length - created.size;
  const own = created.size === chats.length ? messages : messages.filter(({ chatId }) => created.has(chatId));
  await assertFreeIds(transaction, own);
  if (own.length > 0 && (await importMessages(transaction, own)) < own.length) throw idTaken([]);
  const counts = new Map<string, number>();
  for (const { chatId } of own) counts.set(chatId, (counts.get(chatId) ?? 0) + 1);
  for (const { n, id, title, ownerEmail } of chats) {
    if (!created.has(id)) continue;
    const summary = `conversation "${title}" of ${ownerEmail}, ${counts.get(id) ?? 0} messages`;
    report.change(`conversations.${n}`, 'create', summary);
  }
}

async function assertOwners(transaction: Transaction<Tables>, chats: readonly ImportedChat[]): Promise<void> {
  const emails = [...new Set(chats.map((chat) => chat.ownerEmail))];
  const rows = await transaction.selectFrom('users').select('email').where('email', 'in', emails).execute();
  const known = new Set(rows.map((row) => row.email));
  const details = chats
    .filter((chat) => !known.has(chat.ownerEmail))
    .map(({ n }) => ({ path: `conversations.${n}.ownerEmail`, message: 'No user has this address' }));
  if (details.length > 0) throw manifestError(details);
}

/** Message ids are unique in the whole installation, among messages and queued inputs. */
async function assertFreeIds(transaction: Transaction<Tables>, messages: readonly ImportedMessage[]): Promise<void> {
  const ids = messages.map((message) => message.id);
  const { rows } = await sql<{ id: string }>`
    select id from messages where id = any(${ids}) union all
    select id from inputs where id = any(${ids}) union all
    select assistant_id from inputs where assistant_id = any(${ids})`.execute(transaction);
  if (rows.length === 0) return;
  const taken = new Set(rows.map((row) => row.id));
  throw idTaken(messages.filter((message) => taken.has(message.id)));
}

function idTaken(messages: readonly ImportedMessage[]): ApiError {
  const message = 'This id belongs to a message of another conversation';
  const details = messages
    .slice(0, 50)
    .map(({ n, place }) => ({ path: `conversations.${n}.messages.${place}.id`, message }));
  return new ApiError('id_taken', `${details[0]?.path ?? 'conversations'}: ${message}`, { details });
}
