import { ActionIcon } from '@mantine/core';
import { ArrowUp, ListPlus, Square } from 'lucide-react';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { TrayBlock } from '../../files/attachments/attachment-tray.tsx';
import { failureText } from '../../i18n/failure-text.ts';
import { type TextId, useText } from '../../i18n/i18n.ts';
import { Tip } from '../../layout/tip.tsx';
import { showFailure } from '../../layout/toasts.tsx';
import classes from './composer.module.css';

/** Text on the button for the reason that sending is not possible. */
export function blockedHint(isPending: boolean, isOnline: boolean, block: TrayBlock | undefined): TextId {
  if (isPending) return 'composer.pendingHint';
  if (block) return block === 'failed' ? 'composer.filesFailedHint' : 'composer.filesHint';
  return isOnline ? 'composer.emptyHint' : 'composer.offlineHint';
}

type Props = {
  store: ConversationStore;
  isRunning: boolean;
  isStopping: boolean;
  isEmpty: boolean;
  canSend: boolean;
  /** Reason for which sending is not possible. */
  hint: string;
  onSend: (isNow: boolean) => void;
};

/** Buttons that stop the running answer, send into it, and send or queue the message. */
export function ComposerButtons({ store, isRunning, isStopping, isEmpty, canSend, hint, onSend }: Props) {
  const t = useText();
  const stop = () => store.stop().catch((error: unknown) => showFailure(t('composer.stop'), failureText(error, t)));
  return (
    <>
      {isRunning ? <StopButton isStopping={isStopping} onStop={() => void stop()} /> : null}
      {isRunning && !isEmpty ? <SendNowButton canSend={canSend} onSend={() => onSend(true)} /> : null}
      {isRunning && isEmpty ? null : (
        <SendButton isQueue={isRunning} canSend={canSend} hint={hint} onSend={() => onSend(false)} />
      )}
    </>
  );
}

export function SendButton({
  isQueue,
  canSend,
  hint,
  onSend,
}: {
  isQueue: boolean;
  canSend: boolean;
  hint: string;
  onSend: () => void;
}) {
  const t = useText();
  const label = t(isQueue ? 'composer.queue' : 'composer.send');
  return (
    <Tip align="end" label={canSend ? label : hint}>
      <ActionIcon
        size={34}
        radius="xl"
        aria-label={label}
        aria-disabled={!canSend}
        data-inactive={!canSend || undefined}
        data-worded={isQueue || undefined}
        className={classes.send}
        onClick={onSend}
      >
        {isQueue ? <ListPlus size={18} /> : <ArrowUp size={19} strokeWidth={2.25} />}
        {isQueue ? <span className={classes.word}>{t('composer.queueShort')}</span> : null}
      </ActionIcon>
    </Tip>
  );
}

/** Shown next to the queue's button while an answer runs. */
function SendNowButton({ canSend, onSend }: { canSend: boolean; onSend: () => void }) {
  const t = useText();
  const label = t('composer.sendNow');
  return (
    <Tip align="end" label={label}>
      <ActionIcon
        size={34}
        radius="xl"
        variant="default"
        aria-label={label}
        aria-disabled={!canSend}
        className={classes.stop}
        data-worded
        onClick={onSend}
      >
        <ArrowUp size={18} />
        <span className={classes.word}>{t('composer.sendNowShort')}</span>
      </ActionIcon>
    </Tip>
  );
}

export function StopButton({ isStopping, onStop }: { isStopping: boolean; onStop: () => void }) {
  const t = useText();
  const label = t(isStopping ? 'composer.stopping' : 'composer.stop');
  return (
    <>
      {isStopping ? (
        <span role="status" className={classes.saving}>
          {label}
        </span>
      ) : null}
      <Tip align="end" label={label}>
        <ActionIcon
          size={34}
          radius="xl"
          variant="default"
          aria-label={label}
          aria-disabled={isStopping}
          className={classes.stop}
          data-worded
          onClick={() => !isStopping && onStop()}
        >
          <Square size={13} fill="currentColor" />
          {isStopping ? null : <span className={classes.word}>{t('composer.stop')}</span>}
        </ActionIcon>
      </Tip>
    </>
  );
}
