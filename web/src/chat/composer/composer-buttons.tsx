import { ActionIcon } from '@mantine/core';
import { ArrowUp, ListPlus, Square } from 'lucide-react';
import type { TrayBlock } from '../../files/attachments/attachment-tray.tsx';
import { type TextId, useText } from '../../i18n/i18n.ts';
import { Tip } from '../../layout/tip.tsx';
import classes from './composer.module.css';

/** Why sending is not possible, on the button itself. */
export function blockedHint(isPending: boolean, isOnline: boolean, block: TrayBlock | undefined): TextId {
  if (isPending) return 'composer.pendingHint';
  if (block) return block === 'failed' ? 'composer.filesFailedHint' : 'composer.filesHint';
  return isOnline ? 'composer.emptyHint' : 'composer.offlineHint';
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
        className={classes.send}
        onClick={onSend}
      >
        {isQueue ? <ListPlus size={18} /> : <ArrowUp size={19} strokeWidth={2.25} />}
      </ActionIcon>
    </Tip>
  );
}

/** Beside the queue's button while an answer runs. */
export function SendNowButton({ canSend, onSend }: { canSend: boolean; onSend: () => void }) {
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
        onClick={onSend}
      >
        <ArrowUp size={18} />
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
          onClick={() => !isStopping && onStop()}
        >
          <Square size={13} fill="currentColor" />
        </ActionIcon>
      </Tip>
    </>
  );
}
