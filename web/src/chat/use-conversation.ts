import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { useClientSession } from '../conversation/client-session.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import type { ConversationView } from '../conversation/conversation-view.ts';

/** The store of a conversation and its outline, without following it. */
export function useConversationView(chatId: string): { store: ConversationStore; view: ConversationView } {
  const { conversation } = useClientSession();
  const store = useMemo(() => conversation(chatId), [conversation, chatId]);
  return { store, view: useSyncExternalStore(store.subscribe, store.getOutline) };
}

/** The store of a conversation and its outline. It is followed only while the page can be seen: a browser opens only
 *  six connections to one server, and hidden tabs would take them all. */
export function useConversation(chatId: string): { store: ConversationStore; view: ConversationView } {
  const { store, view } = useConversationView(chatId);
  useEffect(() => {
    const followVisible = () => (document.visibilityState === 'visible' ? store.follow() : store.unfollow());
    followVisible();
    document.addEventListener('visibilitychange', followVisible);
    window.addEventListener('pageshow', followVisible);
    return () => {
      document.removeEventListener('visibilitychange', followVisible);
      window.removeEventListener('pageshow', followVisible);
      store.unfollow();
    };
  }, [store]);
  return { store, view };
}
