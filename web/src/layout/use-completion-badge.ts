import type { Chat, ChatList } from '@homeport/contracts/chat/conversations';
import type { InfiniteData } from '@tanstack/react-query';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { chatsQuery } from '../api/queries.ts';
import { useText } from '../i18n/i18n.ts';
import { setTitlePrefix } from './branding.ts';
import { setFaviconBadge } from './favicon-badge.ts';

const select = (data: InfiniteData<ChatList>) => data.pages[0]?.chats ?? [];

/**
 * Marks the title and icon of a hidden tab when an answer is complete or waits for the person, until the tab is visible
 * again.
 */
export function useCompletionBadge(): void {
  const t = useText();
  const { data } = useInfiniteQuery({ ...chatsQuery({ q: '', isArchived: false }), select });
  const running = useRef<ReadonlySet<string>>(new Set());
  const waiting = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (!data) return;
    const now = new Set(data.filter((chat) => chat.running).map((chat) => chat.id));
    const hasEnded = endedAnswers(running.current, data).length > 0;
    running.current = now;
    const asking = data.filter((chat) => chat.waiting);
    const isAsked = asking.some((chat) => !waiting.current.has(chat.id));
    waiting.current = new Set(asking.map((chat) => chat.id));
    if (!(hasEnded || isAsked) || document.visibilityState === 'visible') return;
    setTitlePrefix(t(isAsked ? 'app.waitingSign' : 'app.doneSign'));
    void setFaviconBadge(true);
  }, [data, t]);
  useEffect(() => {
    const clear = () => {
      if (document.visibilityState !== 'visible') return;
      setTitlePrefix(undefined);
      void setFaviconBadge(false);
    };
    document.addEventListener('visibilitychange', clear);
    return () => document.removeEventListener('visibilitychange', clear);
  }, []);
}

/** Conversations that were running and are still listed, but no longer running. */
function endedAnswers(running: ReadonlySet<string>, chats: readonly Chat[]): Chat[] {
  return chats.filter((chat) => running.has(chat.id) && !chat.running);
}
