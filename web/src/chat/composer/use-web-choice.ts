import type { Chat } from '@homeport/contracts/chat/conversations';
import { useState } from 'react';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { Choices } from '../use-choices.ts';

/** Whether models may use the web in a conversation. Of a new one it is set with its first message. */
export function useWebChoice(store: ConversationStore, chat: Chat | undefined, choices: Choices) {
  const [chosen, setChosen] = useState<boolean>();
  const save = async (isOn: boolean) => {
    if (await choices.save({ web: isOn ? null : false })) store.follow();
    else setChosen(undefined);
  };
  return {
    isOn: chosen ?? chat?.web !== false,
    choose: (isOn: boolean) => {
      setChosen(isOn);
      if (chat) void save(isOn);
    },
    /** For the first message; undefined where the web is on, or the conversation holds the choice already. */
    forNewChat: !chat && chosen === false ? (false as const) : undefined,
    /** The conversation exists now: it keeps the choice. */
    keep: () => {
      if (!chat && chosen === false) void save(false);
    },
  };
}

export type WebChoice = Pick<ReturnType<typeof useWebChoice>, 'isOn' | 'choose'>;
