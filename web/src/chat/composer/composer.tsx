import type { PlanItem } from '@homeport/contracts/chat/agent';
import { limits } from '@homeport/contracts/limits';
import { type ClipboardEvent, type KeyboardEvent, memo, type RefObject, useEffect, useRef } from 'react';
import { isSendKey, isSendNowKey, readSendKey } from '../../conversation/choices/send-key.ts';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { ConversationView } from '../../conversation/conversation-view.ts';
import { joinPasted } from '../../conversation/draft/pasted-texts.ts';
import type { NewChat } from '../../conversation/new-chat.ts';
import { useDraft } from '../../conversation/use-draft.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { type Translate, useText } from '../../i18n/i18n.ts';
import type { IncomingFiles } from '../../incoming-files.ts';
import { useIsOnline } from '../../layout/banners/online.ts';
import { useBranding } from '../../layout/branding.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { MessageEditor, ToolCall } from '../lazy-parts.ts';
import type { UsedContext } from '../panels/used-context.ts';
import type { Choices } from '../use-choices.ts';
import type { SubmissionProblem, SubmissionState } from '../use-submission.ts';
import { Autosize } from './autosize.tsx';
import classes from './composer.module.css';
import { blockedHint, ComposerButtons } from './composer-buttons.tsx';
import { ComposerTools } from './composer-tools.tsx';
import { ReceiptBanner } from './receipt-banner.tsx';
import { useSuggestionChoice } from './suggestions/use-suggestion-choice.ts';
import { useSuggestions } from './suggestions/use-suggestions.ts';
import { useAttachments, useIncomingFiles } from './use-incoming-files.ts';
import { usePastedTexts } from './use-pasted-texts.ts';
import { usePublishedHeight } from './use-published-height.ts';
import { useSendMessage } from './use-send-message.ts';
import { useTurnOptions } from './use-turn-options.ts';

type Props = {
  store: ConversationStore;
  /** The parts of the conversation view that a streaming answer doesn't change. */
  chat: ConversationView['chat'];
  inputs: ConversationView['inputs'];
  /** The model's plan, while it is being worked on. */
  plan?: readonly PlanItem[];
  /** The context so far; the same object until it changes. */
  usedContext?: UsedContext;
  isRunning: boolean;
  isStopping: boolean;
  submission: SubmissionState;
  choices: Choices;
  draftName: string;
  /** Absent where the conversation exists. */
  newChat?: NewChat;
};

const QueueChips = lazyComponent(async () => (await import('./queue-chips.tsx')).QueueChips);
const PastedChips = lazyComponent(async () => (await import('./pasted-chips.tsx')).PastedChips);
const AssistantChip = lazyComponent(async () => (await import('./assistant-chip.tsx')).AssistantChip);
const PlanList = lazyComponent(async () => (await import('../../agent/plan-list.tsx')).PlanList);
const SuggestionMenu = lazyComponent(async () => (await import('./suggestions/suggestion-menu.tsx')).SuggestionMenu);
const PromptDialog = lazyComponent(async () => (await import('../../mcp/prompt-dialog.tsx')).PromptDialog);
const FillPromptDialog = lazyComponent(
  async () => (await import('./suggestions/fill-prompt-dialog.tsx')).FillPromptDialog,
);
const AttachmentTray = lazyComponent(
  async () => (await import('../../files/attachments/attachment-tray.tsx')).AttachmentTray,
);

/** Loads the parts that must be there when the network is gone. */
function preloadParts(): void {
  for (const part of [QueueChips, PastedChips, MessageEditor, ToolCall]) part.preload();
}

/**
 * Message composer. Disabled while a message is being saved or its outcome is unknown (control-plane-api.md
 * "Saved-message acknowledgement" 5).
 */
export const Composer = memo(function Composer(props: Props) {
  const { store, chat, inputs, plan, usedContext, isRunning, isStopping, submission, choices, draftName, newChat } =
    props;
  const t = useText();
  const isOnline = useIsOnline();
  const draft = useDraft(draftName);
  const field = useRef<HTMLTextAreaElement>(null);
  const { pending, problem } = submission;
  const isEdit = pending !== undefined && pending.receipt.draftName !== draftName;
  const pasted = usePastedTexts(draft, draftName);
  const text = joinPasted(draft.text, pasted.texts);
  const isTooLong = text.length > limits.messageTextMax;
  const attachments = useAttachments(store.chatId);
  const options = useTurnOptions(store, chat, newChat, choices, draftName);
  const { assistant } = options.assistant;
  const suggestions = useSuggestions(field);
  const message = { text, files: attachments.files, options };
  const { isSettling, send, summarize } = useSendMessage(props, message, suggestions.endFilling);
  const suggestion = useSuggestionChoice({
    suggestions,
    draftText: draft.text,
    chooseAssistant: options.assistant.choose,
    summarize,
  });
  const isClosed = pending !== undefined || isSettling || submission.isLeaving;
  const take = (files: IncomingFiles) => {
    if (!isClosed) attachments.take(files);
  };
  const { isOver, onPaste } = useIncomingFiles(take);
  const isEmpty = text.trim() === '' && attachments.files.length === 0;
  const canSend = !isClosed && isOnline && !isEmpty && !isTooLong && !attachments.block;
  const trySend = (isNow = false) => {
    if (canSend) void send(isNow);
  };
  useAutofocus(field, !isClosed);
  useEffect(preloadParts, []);
  const section = useRef<HTMLElement>(null);
  usePublishedHeight(section);

  return (
    <section ref={section} aria-label={t('composer.region')} className={classes.composer}>
      <div className={classes.column}>
        {plan === undefined || plan.length === 0 ? null : <PlanList items={plan} />}
        {inputs.length > 0 ? (
          <QueueChips
            store={store}
            inputs={inputs}
            isRunning={isRunning}
            draft={{ name: draftName, isFree: !isClosed }}
          />
        ) : null}
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
              isWebOn={options.web.isOn}
              onActive={suggestions.onActive}
              onChoose={suggestion.choose}
              onDismiss={suggestions.dismiss}
            />
          ) : null}
          {assistant === undefined ? null : (
            <AssistantChip
              assistant={assistant}
              onRemove={() => {
                field.current?.focus();
                options.assistant.choose(null);
              }}
              isDisabled={isClosed}
            />
          )}
          {attachments.isShown ? (
            <AttachmentTray
              chatId={store.chatId}
              newChat={newChat}
              draftName={draftName}
              files={isClosed && isEdit ? [] : attachments.files}
              incoming={attachments.incoming}
              onTaken={attachments.clearIncoming}
              onBlock={attachments.setBlock}
              isDisabled={isClosed}
            />
          ) : null}
          {pasted.texts.length > 0 ? (
            <PastedChips
              texts={pending && !isEdit ? [] : pasted.texts}
              isDisabled={isClosed}
              onInsert={pasted.insert}
              onRemove={pasted.remove}
            />
          ) : null}
          <MessageField
            ref={field}
            value={pending && !isEdit ? pending.receipt.text : draft.text}
            onText={draft.setText}
            suggestions={suggestions}
            onPaste={(event) => {
              if (!onPaste(event)) pasted.onPaste(event);
            }}
            isRunning={isRunning}
            isDisabled={isClosed}
            onSend={trySend}
          />
          <ComposerTools
            store={store}
            chat={chat}
            newChat={newChat}
            usedContext={usedContext}
            options={options}
            isRunning={isRunning}
            isSaving={pending?.sending === true || isSettling}
            isDisabled={isClosed}
            onFiles={(files) => take({ files, folders: 0 })}
          >
            <ComposerButtons
              store={store}
              isRunning={isRunning}
              isStopping={isStopping}
              isEmpty={isEmpty}
              canSend={canSend}
              hint={t(blockedHint(isClosed, isOnline, attachments.block))}
              onSend={trySend}
            />
          </ComposerTools>
        </div>
        <p className={classes.hint} role={suggestions.isFilling ? 'status' : undefined}>
          {t(suggestions.isFilling ? 'composer.fillHint' : 'composer.hint')}
        </p>
      </div>
      {suggestion.prompt ? (
        <PromptDialog prompt={suggestion.prompt} onClose={suggestion.closePrompt} onText={suggestion.insertPrompt} />
      ) : null}
      {suggestion.filling ? (
        <FillPromptDialog
          prompt={suggestion.filling}
          onClose={suggestion.closeFilling}
          onText={suggestion.insertFilled}
        />
      ) : null}
      {isOver && !isClosed ? <div className={classes.dropHere}>{t('composer.dropHere')}</div> : null}
    </section>
  );
});

type FieldProps = {
  ref: RefObject<HTMLTextAreaElement | null>;
  value: string;
  onText: (text: string) => void;
  suggestions: ReturnType<typeof useSuggestions>;
  onPaste: (event: ClipboardEvent) => void;
  isRunning: boolean;
  isDisabled: boolean;
  onSend: (isNow: boolean) => void;
};

function MessageField({ ref, value, onText, suggestions, onPaste, isRunning, isDisabled, onSend }: FieldProps) {
  const t = useText();
  const { productName } = useBranding();
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (suggestions.onKeyDown(event)) return;
    const { isComposing, keyCode } = event.nativeEvent;
    const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
    const press = { key, shiftKey, altKey, ctrlKey, metaKey, isComposing, keyCode };
    const isNow = isRunning && isSendNowKey(press);
    if (!isNow && !isSendKey(press, readSendKey(), matchMedia('(pointer: coarse)').matches)) return;
    event.preventDefault();
    onSend(isNow);
  };
  return (
    <Autosize
      ref={ref}
      value={value}
      onChange={(event) => {
        onText(event.currentTarget.value);
        suggestions.look();
      }}
      onSelect={suggestions.look}
      onBlur={suggestions.dismiss}
      onKeyDown={onKeyDown}
      onPaste={onPaste}
      disabled={isDisabled}
      placeholder={isRunning ? t('composer.placeholderQueue') : t('composer.placeholder', { product: productName })}
      aria-label={t('composer.label')}
      {...suggestions.combobox}
      data-composer
      enterKeyHint="enter"
      className={classes.field}
    />
  );
}

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
