import { call } from '../api/api.ts';
import type { ConversationStore } from './conversation-store.ts';

/** Has the earlier messages summarized, or the newest summary made again, and follows it. Throws `ApiFailure`. */
export async function compactConversation(store: ConversationStore, focus = ''): Promise<void> {
  const { chatId } = store;
  const body = focus === '' ? { id: chatId } : { id: chatId, focus };
  const { assistantId } = await call('POST /api/chats/compact', { body });
  const last = store.getView().messages.at(-1)?.id ?? '';
  store.expectResponse({ assistantId, messageId: last, kind: 'compaction' });
}
