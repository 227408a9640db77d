import { limits } from '@homeport/contracts/limits';
import { type KeyboardEvent, useState } from 'react';
import { Autosize } from '../../chat/composer/autosize.tsx';
import composer from '../../chat/composer/composer.module.css';
import { SendButton, StopButton } from '../../chat/composer/composer-buttons.tsx';
import { ReceiptBanner } from '../../chat/composer/receipt-banner.tsx';
import { isSendKey, readSendKey } from '../../conversation/choices/send-key.ts';
import { useDraft } from '../../conversation/use-draft.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { useIsOnline } from '../../layout/banners/online.ts';
import { showFailure } from '../../layout/toasts.tsx';
import type { AssistantValues } from '../assistant-values.ts';
import classes from './preview.module.css';
import { canPreview } from './preview-chat.ts';
import { previewDraft, type usePreview } from './use-preview.ts';

type Props = { chatId: string; values: AssistantValues; preview: ReturnType<typeof usePreview> };

/** Composer for messages to the previewed assistant. */
export function PreviewComposer({ chatId, values, preview }: Props) {
  const t = useText();
  const isOnline = useIsOnline();
  const [isSending, setSending] = useState(false);
  const { view, submission, store, send } = preview;
  const { pending, problem } = submission;
  const draft = useDraft(previewDraft(chatId));
  const isRunning = view.response !== null;
  const isReady = canPreview(values, t);
  const isTooLong = draft.text.length > limits.messageTextMax;
  const isClosed = pending !== undefined || isSending;
  const canSend = !isRunning && !isClosed && isOnline && isReady && !isTooLong && draft.text.trim() !== '';
  const submit = async () => {
    if (!canSend) return;
    setSending(true);
    await send(draft.text).finally(() => setSending(false));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const { isComposing, keyCode } = event.nativeEvent;
    const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
    const press = { key, shiftKey, altKey, ctrlKey, metaKey, isComposing, keyCode };
    if (!isSendKey(press, readSendKey(), matchMedia('(pointer: coarse)').matches)) return;
    event.preventDefault();
    void submit();
  };
  const stop = () => store.stop().catch((error: unknown) => showFailure(t('composer.stop'), failureText(error, t)));
  const fault = isTooLong
    ? t('composer.tooLong', { max: limits.messageTextMax })
    : problem?.kind === 'refused'
      ? failureText(problem.failure, t)
      : undefined;
  return (
    <div className={classes.composer}>
      {pending && (!pending.sending || pending.failure) ? (
        <ReceiptBanner pending={pending} onRetry={() => void submission.retry()} onDiscard={submission.discard} />
      ) : null}
      {fault === undefined ? null : (
        <p role="alert" className={composer.problem}>
          {fault}
        </p>
      )}
      <div className={`${composer.box} ${classes.box}`} data-disabled={isClosed || undefined}>
        <Autosize
          value={draft.text}
          onChange={(event) => draft.setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          disabled={isClosed}
          placeholder={t('preview.placeholder')}
          aria-label={t('preview.label')}
          data-composer
          enterKeyHint="enter"
          className={`${composer.field} ${classes.field}`}
        />
        {isRunning ? (
          <StopButton isStopping={view.isStopping} onStop={() => void stop()} />
        ) : (
          <SendButton
            isQueue={false}
            canSend={canSend}
            hint={t(isReady ? (isOnline ? 'composer.emptyHint' : 'composer.offlineHint') : 'preview.faulty')}
            onSend={() => void submit()}
          />
        )}
      </div>
    </div>
  );
}
