import type { PlanItem } from '@homeport/contracts/chat/agent';
import { limits } from '@homeport/contracts/limits';
import type { McpPrompt } from '@homeport/contracts/mcp/content';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, memo, type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { isSendKey, isSendNowKey, readSendKey } from '../../conversation/choices/send-key.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import { compactConversation } from '../../conversation/compaction.ts';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { ConversationView } from '../../conversation/conversation-view.ts';
import { fileParts, filesName, parseAttached, uploadingChats } from '../../conversation/draft/attached-files.ts';
import { joinPasted } from '../../conversation/draft/pasted-texts.ts';
import { parseCompact } from '../../conversation/draft/suggestions.ts';
import type { NewChat } from '../../conversation/new-chat.ts';
import { inputOf, sendQueuedNow } from '../../conversation/steering.ts';
import { createReceipt, type ModelDecision } from '../../conversation/submission.ts';
import type { TrayBlock } from '../../files/attachments/attachment-tray.tsx';
import { failureText } from '../../i18n/failure-text.ts';
import { type Translate, useText } from '../../i18n/i18n.ts';
import type { IncomingFiles } from '../../incoming-files.ts';
import { useIsOnline } from '../../layout/banners/online.ts';
import { useBranding } from '../../layout/branding.ts';
import { lazyPart } from '../../layout/lazy-part.tsx';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import { EffortChoice } from '../model/effort-choice.tsx';
import { ModelPicker } from '../model/model-picker.tsx';
import { useAnsweringModel } from '../model/use-answering-model.ts';
import { useEffort } from '../model/use-effort.ts';
import { ContextGauge, type UsedContext } from '../panels/context-gauge.tsx';
import type { Choices } from '../use-choices.ts';
import type { SubmissionProblem, SubmissionState } from '../use-submission.ts';
import { AttachButton } from './attach-button.tsx';
import { Autosize } from './autosize.tsx';
import classes from './composer.module.css';
import { blockedHint, SendButton, SendNowButton, StopButton } from './composer-buttons.tsx';
import { PastedChips } from './pasted-chips.tsx';
import { QueueChips } from './queue-chips.tsx';
import { ReceiptBanner } from './receipt-banner.tsx';
import type { Suggestion } from './suggestion-menu.tsx';
import { useAssistantChoice } from './use-assistant-choice.ts';
import { useDraft } from './use-draft.ts';
import { useIncomingFiles } from './use-incoming-files.ts';
import { usePastedTexts } from './use-pasted-texts.ts';
import { useServerChoice } from './use-server-choice.ts';
import { useSuggestions } from './use-suggestions.ts';

type Props = {
  store: ConversationStore;
  /** The parts of the conversation view that a streaming answer doesn't change. */
  chat: ConversationView['chat'];
  inputs: ConversationView['inputs'];
  /** The model's plan, while it is being worked on. */
  plan?: readonly PlanItem[] | undefined;
  /** The context so far; the same object until it changes. */
  usedContext?: UsedContext;
  isRunning: boolean;
  isStopping: boolean;
  submission: SubmissionState;
  choices: Choices;
  draftName: string;
  /** Absent where the conversation exists. */
  newChat?: NewChat | undefined;
};

const AssistantChip = lazyPart(async () => (await import('./assistant-chip.tsx')).AssistantChip);
const PlanList = lazyPart(async () => (await import('../../agent/plan-list.tsx')).PlanList);
const SuggestionMenu = lazyPart(async () => (await import('./suggestion-menu.tsx')).SuggestionMenu);
const PromptDialog = lazyPart(async () => (await import('../../mcp/prompt-dialog.tsx')).PromptDialog);
const AttachmentTray = lazyPart(
  async () => (await import('../../files/attachments/attachment-tray.tsx')).AttachmentTray,
);

/**
 * Message composer. Disabled while a message is being saved or its outcome is unknown (control-plane-api.md
 * "Saved-message acknowledgement" 5).
 */
export const Composer = memo(function Composer(props: Props) {
  const { store, chat, inputs, plan, usedContext, isRunning, isStopping, submission, choices, draftName, newChat } =
    props;
  const t = useText();
  const navigate = useNavigate();
  const { productName } = useBranding();
  const isOnline = useIsOnline();
  const { drafts } = useClientSession();
  const draft = useDraft(draftName);
  const [decision, setDecision] = useState<ModelDecision>({ kind: 'keep' });
  const [isSettling, setSettling] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const { pending, problem } = submission;
  const isEdit = pending !== undefined && pending.receipt.draftName !== draftName;
  const pasted = usePastedTexts(draft, draftName);
  const shown = pending && !isEdit ? pending.receipt.text : draft.text;
  const text = joinPasted(draft.text, pasted.texts);
  const isTooLong = text.length > limits.messageTextMax;
  const attached = parseAttached(useDraft(filesName(store.chatId)).text);
  const [incoming, setIncoming] = useState<IncomingFiles>();
  const [showsTray, setShowsTray] = useState(() => uploadingChats.has(store.chatId));
  const [block, setBlock] = useState<TrayBlock>();
  const forgetIncoming = useCallback(() => setIncoming(undefined), []);
  const isClosed = pending !== undefined || isSettling || submission.isLeaving;
  const take = (files: IncomingFiles) => {
    if (isClosed) return;
    setIncoming(files);
    setShowsTray(true);
  };
  const { isOver, onPaste } = useIncomingFiles(take);
  const servers = useServerChoice(store, chat, choices);
  const effort = useEffort(store.chatId);
  const assistant = useAssistantChoice(store, chat, newChat, choices);
  const answering = useAnsweringModel(decision, chat, assistant.assistant);
  const suggestions = useSuggestions(field);
  const [asking, setAsking] = useState<McpPrompt>();
  const isEmpty = text.trim() === '' && attached.length === 0;
  const canSend = !isClosed && isOnline && !isEmpty && !isTooLong && !block;

  useAutofocus(field, !isClosed);
  const send = async (isNow = false) => {
    if (!canSend) return;
    const compact = chat && !newChat && attached.length === 0 ? parseCompact(text) : undefined;
    if (compact) return summarize(compact.focus);
    const { chatId } = store;
    const files = fileParts(attached);
    if (newChat && files.length > 0) void assistant.settle();
    const saving = choices.saving();
    if (saving && !(await isSettled(saving))) return;
    const choice = { decision, effort: effort.chosen, mcpServerIds: servers.forNewChat };
    const receipt = createReceipt({
      chatId,
      text,
      files,
      ...choice,
      isQueued: isRunning,
      newChat: newChat && assistant.assistant === null ? { ...newChat, assistantId: undefined } : newChat,
      draftName,
    });
    suggestions.endFilling();
    if (!(await submission.submit(receipt))) return;
    setDecision({ kind: 'keep' });
    servers.keep();
    if (isNow) await sendNow(receipt.messageId);
  };
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
  const stop = () => store.stop().catch((error: unknown) => showFailure(t('composer.stop'), failureText(error, t)));
  const onSuggestion = (suggestion: Suggestion) => {
    if (suggestion.kind === 'compact') {
      suggestions.insert('/compact ');
      // Typed whole, it is meant; a focus can be added where it was only begun.
      if (draft.text.trim() === '/compact') void summarize('');
      return;
    }
    if (suggestion.kind === 'assistant') {
      suggestions.insert('');
      return assistant.choose(suggestion.assistant.id);
    }
    if (suggestion.kind === 'skill') {
      if (suggestion.skill.isReady) return suggestions.insert(`/${suggestion.skill.name} `);
      suggestions.insert('');
      return void navigate({ to: '/settings/skills' });
    }
    if (suggestion.kind === 'server-prompt') {
      suggestions.insert('');
      return setAsking(suggestion.prompt);
    }
    suggestions.insert(suggestion.prompt.text);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (suggestions.onKeyDown(event)) return;
    const { isComposing, keyCode } = event.nativeEvent;
    const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
    const press = { key, shiftKey, altKey, ctrlKey, metaKey, isComposing, keyCode };
    const isNow = isRunning && isSendNowKey(press);
    if (!isNow && !isSendKey(press, readSendKey(), matchMedia('(pointer: coarse)').matches)) return;
    event.preventDefault();
    void send(isNow);
  };

  return (
    <section aria-label={t('composer.region')} className={classes.composer}>
      <div className={classes.column}>
        {plan === undefined || plan.length === 0 ? null : <PlanList items={plan} />}
        <QueueChips
          store={store}
          inputs={inputs}
          isRunning={isRunning}
          draft={{ name: draftName, isFree: !isClosed }}
        />
        {pending && (!pending.sending || pending.failure) ? (
          <ReceiptBanner pending={pending} onRetry={() => void submission.retry()} onDiscard={submission.discard} />
        ) : null}
        <Notices texts={notices({ problem, isTooLong, isKept: draft.isKept && pasted.isKept }, t)} />
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a click beside the text goes to the text */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard reaches the field itself */}
        <div
          className={classes.box}
          data-disabled={isClosed || undefined}
          onClick={(event) => event.target === event.currentTarget && field.current?.focus()}
        >
          {suggestions.trigger && !isClosed ? (
            <SuggestionMenu
              trigger={suggestions.trigger}
              list={suggestions.list}
              canCompact={chat !== undefined && !newChat && suggestions.trigger.start === 0}
              projectId={chat?.projectId ?? null}
              onActive={suggestions.onActive}
              onChoose={onSuggestion}
              onDismiss={suggestions.dismiss}
            />
          ) : null}
          {assistant.assistant === undefined ? null : (
            <AssistantChip
              assistant={assistant.assistant}
              onRemove={() => {
                field.current?.focus();
                assistant.choose(null);
              }}
              isDisabled={isClosed}
            />
          )}
          {showsTray || attached.length > 0 ? (
            <AttachmentTray
              chatId={store.chatId}
              newChat={newChat}
              draftName={draftName}
              files={isClosed && isEdit ? [] : attached}
              incoming={incoming}
              onTaken={forgetIncoming}
              onBlock={setBlock}
              isDisabled={isClosed}
            />
          ) : null}
          <PastedChips
            texts={pending && !isEdit ? [] : pasted.texts}
            isDisabled={isClosed}
            onInsert={pasted.insert}
            onRemove={pasted.remove}
          />
          <Autosize
            ref={field}
            value={shown}
            onChange={(event) => {
              draft.setText(event.currentTarget.value);
              suggestions.look();
            }}
            onSelect={suggestions.look}
            onBlur={suggestions.dismiss}
            onKeyDown={onKeyDown}
            onPaste={(event) => {
              if (!onPaste(event)) pasted.onPaste(event);
            }}
            disabled={isClosed}
            placeholder={
              isRunning ? t('composer.placeholderQueue') : t('composer.placeholder', { product: productName })
            }
            aria-label={t('composer.label')}
            {...suggestions.combobox}
            data-composer
            enterKeyHint="enter"
            className={classes.field}
          />
          <div className={classes.tools}>
            <AttachButton
              chat={newChat ? undefined : chat}
              serverIds={servers.ids}
              onServers={servers.choose}
              onFiles={(files) => take({ files, folders: 0 })}
              onEffort={effort.ask}
              isDisabled={isClosed}
            />
            <ModelPicker chat={chat} answering={answering} onChange={setDecision} isDisabled={isClosed} />
            <EffortChoice chat={chat} answering={answering} effort={effort} isDisabled={isClosed} />
            {chat && usedContext ? (
              <ContextGauge
                store={store}
                model={answering.model}
                context={usedContext}
                isDisabled={isRunning || isClosed}
              />
            ) : null}
            <span className={classes.gap} />
            {pending?.sending || isSettling ? (
              <span role="status" className={classes.saving}>
                {t('composer.saving')}
              </span>
            ) : null}
            {isRunning ? <StopButton isStopping={isStopping} onStop={() => void stop()} /> : null}
            {isRunning && !isEmpty ? <SendNowButton canSend={canSend} onSend={() => void send(true)} /> : null}
            {isRunning && isEmpty ? null : (
              <SendButton
                isQueue={isRunning}
                canSend={canSend}
                hint={t(blockedHint(isClosed, isOnline, block))}
                onSend={() => void send()}
              />
            )}
          </div>
        </div>
        <p className={classes.hint} role={suggestions.isFilling ? 'status' : undefined}>
          {t(suggestions.isFilling ? 'composer.fillHint' : 'composer.hint')}
        </p>
      </div>
      {asking ? (
        <PromptDialog
          prompt={asking}
          onClose={() => setAsking(undefined)}
          onText={(text, leftOut) => {
            setAsking(undefined);
            if (leftOut > 0) showToast(t('composer.promptLeftOut', { count: leftOut }));
            // The dialog gives the focus back first.
            requestAnimationFrame(() => suggestions.put(text));
          }}
        />
      ) : null}
      {isOver && !isClosed ? <div className={classes.dropHere}>{t('composer.dropHere')}</div> : null}
    </section>
  );
});

function Notices({ texts }: { texts: readonly string[] }) {
  return texts.map((text) => (
    <p key={text} role="alert" className={classes.problem}>
      {text}
    </p>
  ));
}

function notices(
  state: { problem: SubmissionProblem | undefined; isTooLong: boolean; isKept: boolean },
  t: Translate,
): string[] {
  const { problem, isTooLong, isKept } = state;
  const texts: string[] = [];
  if (problem?.kind === 'refused') texts.push(failureText(problem.failure, t));
  if (problem?.kind === 'busy') texts.push(t('composer.busy'));
  if (problem?.kind === 'not-stored') texts.push(t('composer.notStored'));
  if (isTooLong) texts.push(t('composer.tooLong', { max: limits.messageTextMax }));
  if (!isKept) texts.push(t('composer.draftNotStored'));
  return texts;
}

/**
 * Puts the cursor into the field at first and after each save, where that does not open an on-screen keyboard. Not while
 * a conversation is being renamed: the double click that begins this opens it, too.
 */
function useAutofocus(field: RefObject<HTMLTextAreaElement | null>, isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen || matchMedia('(pointer: coarse)').matches) return;
    if (!document.activeElement?.matches('[data-renaming]')) field.current?.focus({ preventScroll: true });
  }, [isOpen, field]);
}
