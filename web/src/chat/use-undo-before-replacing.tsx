import type { Message } from '@homeport/contracts/chat/conversations';
import { type ReactNode, useCallback, useState } from 'react';
import { usedWritingTools } from '../conversation/choices/writing-tools.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { lazyComponent } from '../layout/lazy-component.tsx';

const UndoAnswersDialog = lazyComponent(
  async () => (await import('../workspace/changes/undo-answers-dialog.tsx')).UndoAnswersDialog,
);

/** The workspace keeps the changes of so many answers. */
const answersMax = 200;

type Asked = { messageIds: readonly string[]; resolve: (goesOn: boolean) => void };

/**
 * Asked before the answers after a message are replaced: `replaces` resolves once their files are as the person wants
 * them, with false if the person would rather not replace them.
 */
export function useTakingBack(store: ConversationStore): {
  replaces: (messageId: string) => Promise<boolean>;
  dialog: ReactNode;
} {
  const [asked, setAsked] = useState<Asked>();
  const replaces = useCallback(
    (messageId: string): Promise<boolean> => {
      const messageIds = answersAfter(store.getView().messages, messageId);
      if (messageIds.length === 0) return Promise.resolve(true);
      return new Promise((resolve) => setAsked({ messageIds, resolve }));
    },
    [store],
  );
  const answer = (goesOn: boolean) => {
    setAsked(undefined);
    asked?.resolve(goesOn);
  };
  const dialog = asked && (
    <UndoAnswersDialog
      chatId={store.chatId}
      messageIds={asked.messageIds}
      onContinue={() => answer(true)}
      onCancel={() => answer(false)}
    />
  );
  return { replaces, dialog };
}

/** The answers behind a message that may have changed files, newest first. */
function answersAfter(messages: readonly Message[], messageId: string): string[] {
  const behind = messages.slice(messages.findIndex(({ id }) => id === messageId) + 1);
  const written = behind.filter((message) => message.role === 'assistant' && usedWritingTools(message));
  return written
    .map(({ id }) => id)
    .toReversed()
    .slice(0, answersMax);
}
