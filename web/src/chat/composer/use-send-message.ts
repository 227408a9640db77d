import { useState } from 'react';
import { useClientSession } from '../../conversation/client-session.ts';
import { compactConversation } from '../../conversation/compaction.ts';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { ConversationView } from '../../conversation/conversation-view.ts';
import { type AttachedFile, fileParts } from '../../conversation/draft/attached-files.ts';
import { parseCompact } from '../../conversation/draft/suggestions.ts';
import type { NewChat } from '../../conversation/new-chat.ts';
import { inputOf, sendQueuedNow } from '../../conversation/steering.ts';
import { createReceipt } from '../../conversation/submission.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { showFailure } from '../../layout/toasts.tsx';
import type { Choices } from '../use-choices.ts';
import type { SubmissionState } from '../use-submission.ts';
import type { TurnOptions } from './use-turn-options.ts';

type Place = {
  store: ConversationStore;
  chat: ConversationView['chat'];
  newChat?: NewChat;
  isRunning: boolean;
  submission: SubmissionState;
  choices: Choices;
  draftName: string;
};
type Message = { text: string; files: readonly AttachedFile[]; options: TurnOptions };

/**
 * Sends the composer's message, or summarizes the conversation for `/compact`. `isSettling` is true while a message waits
 * for choices that are still being saved.
 */
export function useSendMessage(place: Place, message: Message, onSubmit: () => void) {
  const { store, chat, newChat, isRunning, submission, choices, draftName } = place;
  const { text, files: attached, options } = message;
  const t = useText();
  const { drafts } = useClientSession();
  const [isSettling, setSettling] = useState(false);

  const isSettled = (saving: Promise<boolean>) => {
    setSettling(true);
    return saving.finally(() => setSettling(false));
  };
  const sendNow = async (messageId: string) => {
    const input = inputOf(store.getView().inputs, messageId);
    const failure = input && (await sendQueuedNow(store, input.id));
    if (failure !== undefined) showFailure(t('queue.sendNowFailed'), failureText(failure, t));
  };
  const summarize = async (focus: string) => {
    const written = drafts.read(draftName);
    try {
      await compactConversation(store, focus);
      if (drafts.read(draftName) === written) drafts.replace(draftName, '');
    } catch (error) {
      showFailure(t('thread.summaryFailed'), failureText(error, t));
    }
  };
  /** `isNow`: into the running answer instead of the queue. */
  const send = async (isNow: boolean) => {
    const compact = chat && !newChat && attached.length === 0 ? parseCompact(text) : undefined;
    if (compact) return summarize(compact.focus);
    const { assistant, servers, web } = options;
    const files = fileParts(attached);
    if (newChat && files.length > 0) void assistant.settle();
    const saving = choices.saving();
    if (saving && !(await isSettled(saving))) return;
    options.answering.remember();
    const receipt = createReceipt({
      chatId: store.chatId,
      text,
      files,
      decision: options.answering.decision,
      effort: options.effort.chosen,
      mcpServerIds: servers.forNewChat,
      web: web.forNewChat,
      isQueued: isRunning,
      newChat: newChat && assistant.assistant === null ? { ...newChat, assistantId: undefined } : newChat,
      draftName,
    });
    onSubmit();
    if (!(await submission.submit(receipt))) return;
    servers.keep();
    web.keep();
    if (isNow) await sendNow(receipt.messageId);
  };
  return { isSettling, send, summarize };
}
