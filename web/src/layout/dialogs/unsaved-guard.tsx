import { useBlocker } from '@tanstack/react-router';
import { useText } from '../../i18n/i18n.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

/** Asks before unsaved changes are lost by a link, the back button or closing the page. */
export function UnsavedGuard({ isDirty }: { isDirty: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return <DiscardDialog onDiscard={blocker.proceed} onStay={blocker.reset} />;
}

export function DiscardDialog({ onDiscard, onStay }: { onDiscard: () => void; onStay: () => void }) {
  const t = useText();
  return (
    <ConfirmDialog
      title={t('form.discardTitle')}
      text={t('form.discardText')}
      confirmLabel={t('form.discard')}
      onConfirm={onDiscard}
      onClose={onStay}
    />
  );
}
