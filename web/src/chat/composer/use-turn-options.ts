import type { Chat } from '@homeport/contracts/chat/conversations';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { NewChat } from '../../conversation/new-chat.ts';
import { useAnsweringModel } from '../model/use-answering-model.ts';
import { useEffort } from '../model/use-effort.ts';
import type { Choices } from '../use-choices.ts';
import { useAssistantChoice } from './use-assistant-choice.ts';
import { useServerChoice } from './use-server-choice.ts';
import { useWebChoice } from './use-web-choice.ts';

/** The person's options for the next turn: assistant, model, reasoning effort and MCP servers. */
export function useTurnOptions(
  store: ConversationStore,
  chat: Chat | undefined,
  newChat: NewChat | undefined,
  choices: Choices,
  draftName: string,
) {
  // A conversation that does not exist yet has another id after a reload, but the same draft.
  const key = newChat ? draftName : store.chatId;
  const servers = useServerChoice(store, chat, choices);
  const web = useWebChoice(store, chat, choices);
  const effort = useEffort(key);
  const assistant = useAssistantChoice(store, chat, newChat, choices);
  const answering = useAnsweringModel(key, store, newChat !== undefined, chat, assistant.assistant);
  return { servers, web, effort, assistant, answering };
}

export type TurnOptions = ReturnType<typeof useTurnOptions>;
