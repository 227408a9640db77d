import type { Chat, ChatList } from '@homeport/contracts/conversations';
import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { call } from '../api.ts';
import { failureText } from '../failure-text.ts';
import { useText } from '../i18n.ts';
import { useWorkbench } from '../workbench.ts';
import { showFailure, showToast } from './toasts.tsx';

/** Changes to a conversation out of the list: shown at once, taken back when the server refuses. */
export function useChatChanges() {
  const t = useText();
  const queries = useQueryClient();
  const { forget, conversation } = useWorkbench();

  /** Shows `change` in every loaded list, runs `request`, then asks the lists anew. */
  const apply = async (change: (chats: Chat[]) => Chat[], request: () => Promise<unknown>): Promise<boolean> => {
    await queries.cancelQueries({ queryKey: ['chats'] });
    queries.setQueriesData<InfiniteData<ChatList>>({ queryKey: ['chats'] }, (data) =>
      data ? { ...data, pages: data.pages.map((page) => ({ ...page, chats: change(page.chats) })) } : data,
    );
    try {
      await request();
      return true;
    } catch (error) {
      showFailure(t('nav.changeFailed'), failureText(error, t));
      return false;
    } finally {
      await queries.invalidateQueries({ queryKey: ['chats'] });
    }
  };

  const rename = async (chat: Chat, title: string) => {
    const change = (chats: Chat[]) => chats.map((other) => (other.id === chat.id ? { ...other, title } : other));
    if (await apply(change, () => call('PATCH /api/chats', { body: { id: chat.id, title } })))
      conversation(chat.id).follow();
  };

  const setArchived = async (chat: Chat, archived: boolean, isUndo = false) => {
    const change = (chats: Chat[]) => chats.filter((other) => other.id !== chat.id);
    const isDone = await apply(change, () => call('PATCH /api/chats', { body: { id: chat.id, archived } }));
    if (!isDone) return;
    conversation(chat.id).follow();
    if (isUndo) return;
    const undo = { label: t('nav.undo'), run: () => void setArchived(chat, !archived, true) };
    showToast(t(archived ? 'nav.archivedToast' : 'nav.restoredToast', { title: chat.title }), undo);
  };

  const remove = async (chat: Chat) => {
    const change = (chats: Chat[]) => chats.filter((other) => other.id !== chat.id);
    const isDone = await apply(change, () => call('DELETE /api/chats', { query: { id: chat.id } }));
    if (isDone) forget(chat.id);
    return isDone;
  };

  return {
    rename: (chat: Chat, title: string) => void rename(chat, title),
    setArchived: (chat: Chat, archived: boolean) => void setArchived(chat, archived),
    remove,
  };
}
