import type { Chat } from '@homeport/contracts/chat/conversations';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { NewChat } from '../../conversation/new-chat.ts';
import { assistantQuery } from '../../layout/records/assistant-queries.ts';
import type { Choices } from '../use-choices.ts';

/** The assistant of the next answer; for a conversation that does not exist yet, from the URL. */
export function useAssistantChoice(
  store: ConversationStore,
  chat: Chat | undefined,
  newChat: NewChat | undefined,
  choices: Choices,
) {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<string | null>();
  const stored = newChat ? (newChat.assistantId ?? null) : (chat?.assistantId ?? null);
  const id = chosen === undefined ? stored : chosen;
  const { data } = useQuery({ ...assistantQuery(id ?? ''), enabled: id !== null });
  // The stored choice replaces the local one.
  useEffect(() => setChosen(undefined), [stored]);
  const choose = async (assistantId: string | null) => {
    if (newChat) {
      const search = ({ assistant: _, ...rest }: { assistant?: string; project?: string; temporary?: true }) =>
        assistantId === null ? rest : { ...rest, assistant: assistantId };
      return navigate({ to: '/', search, replace: true });
    }
    setChosen(assistantId);
    if (await choices.save({ assistantId })) store.follow();
    else setChosen(undefined);
  };
  return {
    id,
    /** Null when the reader may not use it any more; undefined until it is known. */
    assistant: id === null ? undefined : data,
    choose: (assistantId: string | null) => void choose(assistantId),
    /** A conversation that was made for files, before its first message, may have another one. */
    settle: () => choices.save({ assistantId: id }),
  };
}
