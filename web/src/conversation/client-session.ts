import type { User } from '@homeport/contracts/fields';
import type { QueryClient } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { call, getConversation, openActivity, openStream, sendSubmission } from '../api/api.ts';
import { settleChoices } from './choices/sent-choices.ts';
import { ConversationStore } from './conversation-store.ts';
import { DraftStore } from './draft/drafts.ts';
import { clearSent } from './draft/sent-draft.ts';
import { ReceiptStore } from './receipts.ts';
import { SeenStore } from './seen-conversations.ts';
import { followActivity } from './stream/activity-stream.ts';
import { createStreamTurns } from './stream/stream-turns.ts';

/** Between two reads of an answer's stream; the screen is redrawn less often. */
const streamPauseMs = 32;

/** Client state of the signed-in user. Replaced on a change of user; receipts and drafts stay in storage. */
export type ClientSession = {
  user: User;
  receipts: ReceiptStore;
  drafts: DraftStore;
  seen: SeenStore;
  /** The store of a conversation; the same one while it is used, so that going back to it is instant. */
  conversation: (chatId: string) => ConversationStore;
  forget: (chatId: string) => void;
  /** Subscribes to activity on other devices. Returns an unsubscribe function. */
  listen: () => () => void;
};

/** Throttle interval in milliseconds for refetching the lists. */
const refreshInterval = 500;

/** Conversations kept in memory; the least recently opened leaves first. */
const keptConversations = 12;

export function createClientSession(user: User, queries: QueryClient): ClientSession {
  const drafts = new DraftStore(user.id, localStorage);
  const receipts = new ReceiptStore(user.id, {
    storage: localStorage,
    locks: navigator.locks,
    send: sendSubmission,
    dropChat: (id) => call('DELETE /api/chats', { query: { id } }),
    clearDraft: (receipt) => {
      clearSent(drafts, receipt);
      settleChoices(drafts, receipt);
    },
  });
  const stores = new Map<string, ConversationStore>();
  const refreshLists = throttle(() => void queries.invalidateQueries({ queryKey: ['chats'] }), refreshInterval);
  // Other windows of this browser ask their lists at once, and a conversation that is open there catches up by its
  // list.
  const windows = new BroadcastChannel(`homeport:${user.id}`);
  windows.onmessage = refreshLists;
  const onActivity = () => {
    windows.postMessage('activity');
    refreshLists();
  };
  const turns = createStreamTurns(navigator.locks, user.id);
  const create = (chatId: string) =>
    new ConversationStore(chatId, {
      open: openStream,
      turns,
      pause: () => new Promise((resolve) => setTimeout(resolve, streamPauseMs)),
      load: getConversation,
      stop: (id, assistantId) => call('POST /api/chat/:chatId/stop', { params: { chatId: id }, body: { assistantId } }),
      onActivity,
      network: window,
    });
  return {
    user,
    receipts,
    drafts,
    seen: new SeenStore(user.id, localStorage),
    conversation: (chatId) => {
      const store = stores.get(chatId) ?? create(chatId);
      stores.delete(chatId);
      stores.set(chatId, store);
      const oldest = stores.keys().next().value;
      if (stores.size > keptConversations && oldest !== undefined) stores.delete(oldest);
      return store;
    },
    forget: (chatId) => void stores.delete(chatId),
    listen: () =>
      followActivity({
        open: openActivity,
        locks: navigator.locks,
        name: user.id,
        page: document,
        network: window,
        onActivity,
      }),
  };
}

/** Throttles a function: calls it immediately, and once more after `interval` ms if it was called meanwhile. */
function throttle(work: () => void, interval: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isCalled = false;
  const begin = () => {
    isCalled = false;
    work();
    timer = setTimeout(() => {
      timer = undefined;
      if (isCalled) begin();
    }, interval);
  };
  return () => {
    isCalled = true;
    if (timer === undefined) begin();
  };
}

export const ClientSessionContext = createContext<ClientSession | null>(null);

export function useClientSession(): ClientSession {
  const workbench = use(ClientSessionContext);
  if (!workbench) throw new Error('No user is signed in here');
  return workbench;
}
