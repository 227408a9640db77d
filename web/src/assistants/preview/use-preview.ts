import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../../api/api.ts';
import { catalogueQuery } from '../../api/queries.ts';
import { useModelNames } from '../../chat/model/use-model-names.ts';
import { useConversationView } from '../../chat/use-conversation.ts';
import { useSubmission } from '../../chat/use-submission.ts';
import { enabledModels } from '../../conversation/choices/model-choice.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import { withQuote } from '../../conversation/draft/quote.ts';
import { beginResponse, createReceipt, decisionFields, resumeResponse } from '../../conversation/submission.ts';
import type { ThreadActions } from '../../conversation/thread-actions.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { showFailure } from '../../layout/toasts.tsx';
import type { AssistantValues } from '../assistant-values.ts';
import { previewContext, previewDecision } from './preview-chat.ts';

export const previewDraft = (chatId: string) => `preview:${chatId}`;

/**
 * A temporary conversation that is created with its first message and deleted on leaving. Before each answer, it gets
 * the current values of the form.
 */
export function usePreview(chatId: string, values: AssistantValues) {
  const t = useText();
  const navigate = useNavigate();
  const { drafts, forget } = useClientSession();
  const { store, view } = useConversationView(chatId);
  const { data } = useQuery(catalogueQuery);
  const modelName = useModelNames();
  const [isMade, setMade] = useState(false);
  const [saw, setSaw] = useState<string>();
  const submission = useSubmission(store);
  const saved = useRef<string>(undefined);
  const latest = useRef(values);
  useEffect(() => {
    latest.current = values;
  });
  useEffect(
    () => () => {
      drafts.replace(previewDraft(chatId), '');
      if (saved.current === undefined) return;
      const stopped = store.getView().response ? store.stop() : Promise.resolve();
      // If the deletion fails, the server deletes the temporary conversation after a day.
      const remove = () => call('DELETE /api/chats', { query: { id: chatId } }).catch(() => {});
      void stopped.catch(() => {}).then(remove);
      forget(chatId);
    },
    [chatId, drafts, forget, store],
  );
  const decide = () => previewDecision(latest.current, enabledModels(data?.providers ?? []));
  /** Stores the form's values in the conversation. False if that failed. */
  const save = async (): Promise<boolean> => {
    const next = previewContext(latest.current);
    const text = JSON.stringify(next);
    try {
      if (saved.current === undefined)
        await call('POST /api/chats', { body: { id: chatId, temporary: true, ...next } });
      else if (saved.current !== text) await call('PATCH /api/chats', { body: { id: chatId, ...next } });
      saved.current = text;
      return true;
    } catch (error) {
      showFailure(t('preview.failed'), failureText(error, t));
      return false;
    }
  };
  const send = async (text: string, edited: { parentId?: string | null } = {}): Promise<boolean> => {
    if (!(await save())) return false;
    const isSent = await submission.submit(
      createReceipt({
        chatId,
        text,
        files: [],
        decision: decide(),
        mcpServerIds: latest.current.mcpServerIds,
        isQueued: false,
        draftName: previewDraft(chatId),
        ...edited,
      }),
    );
    setMade(true);
    return isSent;
  };
  const latestOwn = useRef({ save, decide, send });
  useEffect(() => {
    latestOwn.current = { save, decide, send };
  });
  const actions = useMemo<ThreadActions>(
    () => ({
      chatId,
      follow: () => store.follow(),
      regenerate: async (messageId, modelId) => {
        const { save, decide } = latestOwn.current;
        if (!(await save())) return;
        const decision = modelId === undefined ? decide() : ({ kind: 'once', modelId } as const);
        await beginResponse(store, { messageId, regenerate: true, ...decisionFields(decision) });
      },
      quote: (text) => {
        drafts.replace(previewDraft(chatId), withQuote(drafts.read(previewDraft(chatId)), text));
        document.querySelector<HTMLElement>('[data-composer]')?.focus();
      },
      resume: (messageId) => void resumeResponse(store, messageId),
      goOn: () => void latestOwn.current.send(t('message.continue')),
      showContext: setSaw,
      showChanges: (changed) => void navigate({ to: '/c/$chatId', params: { chatId }, search: { changed } }),
      selectBranch: (activeMessageId) =>
        void call('PATCH /api/chats', { body: { id: chatId, activeMessageId } }).then(
          () => store.restart(),
          (error: unknown) => showFailure(t('nav.changeFailed'), failureText(error, t)),
        ),
      resend: ({ parentId, text }) => latestOwn.current.send(text, { parentId }),
      modelName,
    }),
    [chatId, store, drafts, navigate, modelName, t],
  );
  return { store, view, submission, isMade, send, actions, saw, closeSaw: () => setSaw(undefined) };
}
