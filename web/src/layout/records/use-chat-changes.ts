import type { Chat, ChatList } from '@homeport/contracts/chat/conversations';
import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../api/api.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { titleText } from '../../i18n/title-text.ts';
import { showFailure, showToast } from '../toasts.tsx';

/** Simultaneous requests when many conversations change together. */
const atOnce = 4;

/** Changes to conversations from the list: shown at once, reverted if the server refuses. */
export function useChatChanges() {
  const t = useText();
  const queries = useQueryClient();
  const { forget, conversation } = useClientSession();

  return useMemo(() => {
    /** Shows `change` in every loaded list, runs `request` for each, then refetches the lists. Returns what worked. */
    const apply = async (
      chats: readonly Chat[],
      change: (listed: Chat[]) => Chat[],
      request: (chat: Chat) => Promise<unknown>,
    ): Promise<Chat[]> => {
      await queries.cancelQueries({ queryKey: ['chats'] });
      queries.setQueriesData<InfiniteData<ChatList>>({ queryKey: ['chats'] }, (data) =>
        data ? { ...data, pages: data.pages.map((page) => ({ ...page, chats: change(page.chats) })) } : data,
      );
      const done: Chat[] = [];
      const failures: unknown[] = [];
      for (let start = 0; start < chats.length; start += atOnce) {
        const part = chats.slice(start, start + atOnce);
        const results = await Promise.allSettled(part.map(request));
        part.forEach((chat, index) => {
          const result = results[index];
          if (result?.status === 'rejected') failures.push(result.reason);
          else done.push(chat);
        });
      }
      if (failures.length > 0) {
        const again = { label: t('app.retry'), run: () => void apply(chats.filter(isMissing(done)), change, request) };
        showFailure(t('nav.changeFailed'), failureText(failures[0], t), again);
      }
      void queries.invalidateQueries({ queryKey: ['chats'] });
      return done;
    };

    const rename = async (chat: Chat, title: string) => {
      const change = (chats: Chat[]) => chats.map((other) => (other.id === chat.id ? { ...other, title } : other));
      const done = await apply([chat], change, ({ id }) => call('PATCH /api/chats', { body: { id, title } }));
      if (done.length > 0) conversation(chat.id).follow();
    };

    const setArchived = async (chats: readonly Chat[], archived: boolean, isUndo = false) => {
      const change = (listed: Chat[]) => listed.filter(isMissing(chats));
      const done = await apply(chats, change, ({ id }) => call('PATCH /api/chats', { body: { id, archived } }));
      for (const chat of done) conversation(chat.id).follow();
      const [first] = done;
      if (isUndo || !first) return;
      const undo = { label: t('nav.undo'), run: () => void setArchived(done, !archived, true) };
      const title = titleText(first.title, t);
      if (done.length === 1) showToast(t(archived ? 'nav.archivedToast' : 'nav.restoredToast', { title }), undo);
      else showToast(t(archived ? 'nav.archivedMany' : 'nav.restoredMany', { count: done.length }), undo);
    };

    const remove = async (chats: readonly Chat[]) => {
      const change = (listed: Chat[]) => listed.filter(isMissing(chats));
      const done = await apply(chats, change, ({ id }) => call('DELETE /api/chats', { query: { id } }));
      for (const chat of done) forget(chat.id);
      return done;
    };

    return { rename, setArchived, remove };
  }, [t, queries, forget, conversation]);
}

function isMissing(chats: readonly Chat[]): (chat: Chat) => boolean {
  const ids = new Set(chats.map((chat) => chat.id));
  return (chat) => !ids.has(chat.id);
}
