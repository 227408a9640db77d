import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call } from '../api/api.ts';
import { effortOf, effortsName } from '../conversation/choices/effort.ts';
import { decisionOf, decisionsName } from '../conversation/choices/model-decision.ts';
import { useClientSession } from '../conversation/client-session.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { withQuote } from '../conversation/draft/quote.ts';
import { beginResponse, createReceipt, effortFields, resumeResponse } from '../conversation/submission.ts';
import type { ThreadActions } from '../conversation/thread-actions.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { showFailure } from '../layout/toasts.tsx';
import { useModelNames } from './model/use-model-names.ts';
import { editDraftName } from './thread/edit-draft-name.ts';
import type { Choices } from './use-choices.ts';
import type { SubmissionState } from './use-submission.ts';

/** Whether all choices for the next answer are stored. */
async function areSaved(choices: Choices): Promise<boolean> {
  return (await choices.saving()) ?? true;
}

type ReceiptFields = Parameters<typeof createReceipt>[0];

type ThreadParts = {
  store: ConversationStore;
  choices: Choices;
  submit: SubmissionState['submit'];
  replaces: (messageId: string) => Promise<boolean>;
};

/** Actions on the messages of a conversation. */
export function useConversationActions({ store, choices, submit, replaces }: ThreadParts): ThreadActions {
  const t = useText();
  const { drafts } = useClientSession();
  const navigate = useNavigate();
  const modelName = useModelNames();
  return useMemo(() => {
    const { chatId } = store;
    const send = (written: Pick<ReceiptFields, 'text' | 'files' | 'parentId' | 'draftName'>) =>
      submit(
        createReceipt({
          chatId,
          decision: decisionOf(drafts.read(decisionsName), chatId),
          effort: effortOf(drafts.read(effortsName), chatId),
          isQueued: false,
          ...written,
        }),
      );
    const openBeside = (search: { saw: string } | { changed: string }) =>
      void navigate({ to: '/c/$chatId', params: { chatId }, search, resetScroll: false });
    return {
      chatId,
      follow: () => store.follow(),
      regenerate: async (messageId, modelId) => {
        if (!(await areSaved(choices)) || !(await replaces(messageId))) return;
        await beginResponse(store, {
          messageId,
          regenerate: true,
          ...(modelId === undefined ? {} : { modelId }),
          ...effortFields(effortOf(drafts.read(effortsName), chatId)),
        });
      },
      quote: (text) => {
        drafts.replace(chatId, withQuote(drafts.read(chatId), text));
        document.querySelector<HTMLElement>('[data-composer]')?.focus();
      },
      ask: (request) => {
        drafts.replace(chatId, `${drafts.read(chatId)}\n\n${request}`.trimStart());
        document.querySelector<HTMLElement>('[data-composer]')?.focus();
      },
      resume: (messageId) => void resumeResponse(store, messageId),
      goOn: async () => {
        if (!(await areSaved(choices))) return;
        await send({ text: t('message.continue'), files: [], draftName: editDraftName('continue') });
      },
      showContext: (messageId) => openBeside({ saw: messageId }),
      showChanges: (messageId) => openBeside({ changed: messageId }),
      selectBranch: (messageId) =>
        void call('PATCH /api/chats', { body: { id: chatId, activeMessageId: messageId } }).then(
          () => store.restart(),
          (error: unknown) => showFailure(t('nav.changeFailed'), failureText(error, t)),
        ),
      resend: async ({ messageId, parentId, text, files }) =>
        (await areSaved(choices)) &&
        (await replaces(messageId)) &&
        send({ text, files, parentId, draftName: editDraftName(messageId) }),
      modelName,
    };
  }, [store, choices, modelName, submit, replaces, drafts, navigate, t]);
}
