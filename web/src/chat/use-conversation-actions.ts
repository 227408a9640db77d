import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call } from '../api.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { effortOf, effortsName } from '../conversation/effort.ts';
import { withQuote } from '../conversation/quote.ts';
import { beginResponse, createReceipt, effortFields, resumeResponse } from '../conversation/submission.ts';
import type { ThreadActions } from '../conversation/thread-actions.ts';
import { useWorkbench } from '../conversation/workbench.ts';
import { failureText } from '../failure-text.ts';
import { showFailure } from '../frame/toasts.tsx';
import { useText } from '../i18n.ts';
import { editDraftName } from './message-editor.tsx';
import type { Choices } from './use-choices.ts';
import { useModelNames } from './use-model-names.ts';
import type { SubmissionState } from './use-submission.ts';

/** Whether the next answer knows of all that was chosen for it. */
async function areSaved(choices: Choices): Promise<boolean> {
  return (await choices.saving()) ?? true;
}

type ThreadParts = {
  store: ConversationStore;
  choices: Choices;
  submit: SubmissionState['submit'];
  replaces: (messageId: string) => Promise<boolean>;
};

/** What can be done with the messages of a conversation. */
export function useConversationActions({ store, choices, submit, replaces }: ThreadParts): ThreadActions {
  const t = useText();
  const { drafts } = useWorkbench();
  const navigate = useNavigate();
  const modelName = useModelNames();
  return useMemo(
    () => ({
      chatId: store.chatId,
      follow: () => store.follow(),
      regenerate: async (messageId, modelId) => {
        if (!(await areSaved(choices)) || !(await replaces(messageId))) return;
        await beginResponse(store, {
          messageId,
          regenerate: true,
          ...(modelId === undefined ? {} : { modelId }),
          ...effortFields(effortOf(drafts.read(effortsName), store.chatId)),
        });
      },
      quote: (text) => {
        drafts.replace(store.chatId, withQuote(drafts.read(store.chatId), text));
        document.querySelector<HTMLElement>('[data-composer]')?.focus();
      },
      resume: (messageId) => void resumeResponse(store, messageId),
      goOn: async () => {
        if (!(await areSaved(choices))) return;
        await submit(
          createReceipt({
            chatId: store.chatId,
            text: t('message.continue'),
            files: [],
            decision: { kind: 'keep' },
            effort: effortOf(drafts.read(effortsName), store.chatId),
            isQueued: false,
            draftName: editDraftName('continue'),
          }),
        );
      },
      showContext: (messageId) =>
        void navigate({
          to: '/c/$chatId',
          params: { chatId: store.chatId },
          search: { saw: messageId },
          resetScroll: false,
        }),
      showChanges: (messageId) =>
        void navigate({
          to: '/c/$chatId',
          params: { chatId: store.chatId },
          search: { changed: messageId },
          resetScroll: false,
        }),
      selectBranch: (messageId) =>
        void call('PATCH /api/chats', { body: { id: store.chatId, activeMessageId: messageId } }).then(
          () => store.restart(),
          (error: unknown) => showFailure(t('nav.changeFailed'), failureText(error, t)),
        ),
      resend: async ({ messageId, parentId, text, files }) =>
        (await areSaved(choices)) &&
        (await replaces(messageId)) &&
        submit(
          createReceipt({
            chatId: store.chatId,
            text,
            files,
            parentId,
            decision: { kind: 'keep' },
            effort: effortOf(drafts.read(effortsName), store.chatId),
            isQueued: false,
            draftName: editDraftName(messageId),
          }),
        ),
      modelName,
    }),
    [store, choices, modelName, submit, replaces, drafts, navigate, t],
  );
}
