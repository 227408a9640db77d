import type { Chat } from '@homeport/contracts/chat/conversations';
import { useState } from 'react';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { Choices } from '../use-choices.ts';

/**
 * The MCP servers whose tools a conversation uses: null for all that are trusted. Of a new one they are set with its
 * first message.
 */
export function useServerChoice(store: ConversationStore, chat: Chat | undefined, choices: Choices) {
  const [chosen, setChosen] = useState<string[] | null>();
  const save = async (mcpServerIds: string[] | null) => {
    if (await choices.save({ mcpServerIds })) store.follow();
    else setChosen(undefined);
  };
  return {
    ids: chosen === undefined ? (chat?.mcpServerIds ?? null) : chosen,
    choose: (ids: string[] | null) => {
      setChosen(ids);
      if (chat) void save(ids);
    },
    /** For the first message; undefined where nothing was chosen, or the conversation holds the choice already. */
    forNewChat: chat ? undefined : chosen,
    /** The conversation exists now: it keeps the choice. */
    keep: () => {
      if (!chat && chosen !== undefined) void save(chosen);
    },
  };
}
