import { useMemo, useRef } from 'react';
import { type CallOptions, call } from '../api/api.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { showFailure } from '../layout/toasts.tsx';
import { createSerialQueue } from '../serial-queue.ts';

/** A person's choices for the next answers of a conversation, and their pending saves. */
export type Choices = {
  /** True once the server has stored them; shows a toast on failure. */
  save: (fields: Fields) => Promise<boolean>;
  /** Pending saves: resolves true if all succeed. A message sent earlier would not use the choices. */
  saving: () => Promise<boolean> | undefined;
};
type Fields = Pick<NonNullable<CallOptions<'PATCH /api/chats'>['body']>, 'assistantId' | 'mcpServerIds' | 'web'>;

export function useChoices({ chatId }: ConversationStore): Choices {
  const t = useText();
  const open = useRef<Promise<boolean>>(undefined);
  return useMemo(() => {
    const changes = createSerialQueue();
    const save = async (fields: Fields): Promise<boolean> => {
      try {
        await changes.run(() => call('PATCH /api/chats', { body: { id: chatId, ...fields } }));
        return true;
      } catch (error) {
        showFailure(t('nav.changeFailed'), failureText(error, t));
        return false;
      }
    };
    return {
      save: (fields) => {
        const saved = save(fields);
        const all = Promise.all([open.current, saved]).then((each) => !each.includes(false));
        open.current = all;
        void all.then(() => {
          if (open.current === all) open.current = undefined;
        });
        return saved;
      },
      saving: () => open.current,
    };
  }, [chatId, t]);
}
