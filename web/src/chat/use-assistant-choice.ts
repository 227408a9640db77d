import type { Chat } from '@homeport/contracts/conversations';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call } from '../api.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import type { NewChat } from '../conversation/new-chat.ts';
import { failureText } from '../failure-text.ts';
import { assistantQuery } from '../frame/assistant-queries.ts';
import { showFailure } from '../frame/toasts.tsx';
import { useText } from '../i18n.ts';

/** The assistant that answers next; of a conversation that does not exist yet, the address says which. */
export function useAssistantChoice(store: ConversationStore, chat: Chat | undefined, newChat: NewChat | undefined) {
  const t = useText();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<string | null>();
  const stored = newChat ? (newChat.assistantId ?? null) : (chat?.assistantId ?? null);
  const id = chosen === undefined ? stored : chosen;
  const { data } = useQuery({ ...assistantQuery(id ?? ''), enabled: id !== null });
  const { chatId } = store;
  // What the server tells takes the place of what was chosen here.
  useEffect(() => setChosen(undefined), [stored]);
  const save = (assistantId: string | null) => call('PATCH /api/chats', { body: { id: chatId, assistantId } });
  const choose = async (assistantId: string | null) => {
    if (newChat) {
      const search = ({ assistant: _, ...rest }: { assistant?: string; project?: string; temporary?: true }) =>
        assistantId === null ? rest : { ...rest, assistant: assistantId };
      return navigate({ to: '/', search, replace: true });
    }
    setChosen(assistantId);
    try {
      await save(assistantId);
      store.follow();
    } catch (error) {
      setChosen(undefined);
      showFailure(t('nav.changeFailed'), failureText(error, t));
    }
  };
  return {
    id,
    /** Null when the reader may not use it any more; undefined until it is known. */
    assistant: id === null ? undefined : data,
    choose: (assistantId: string | null) => void choose(assistantId),
    /**
     * A conversation that was made for files, before its first message, may have another one. False when it could not
     * be told.
     */
    settle: async (): Promise<boolean> => {
      try {
        await save(id);
        return true;
      } catch (error) {
        showFailure(t('nav.changeFailed'), failureText(error, t));
        return false;
      }
    },
  };
}
