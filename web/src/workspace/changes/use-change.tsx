import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import { filesKey } from '../files/workspace-files.ts';
import { type Answer, type ChangeRequest, changesQuery, changeWorkspace, shortList } from './changes-api.ts';

const ConfirmDialog = lazyComponent(
  async () => (await import('../../layout/dialogs/confirm-dialog.tsx')).ConfirmDialog,
);

export type ChangeControl = {
  change: (wish: ChangeRequest) => void;
  isBusy: boolean;
  /** Question before files that were changed since are overwritten. */
  dialog: ReactNode;
};

/** Undoes and redoes; asks first if files were changed since. */
export function useChange(answer: Answer): ChangeControl {
  const t = useText();
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [asked, setAsked] = useState<{ wish: ChangeRequest; paths: string[] }>();
  const change = async (wish: ChangeRequest, force = false): Promise<void> => {
    setBusy(true);
    setAsked(undefined);
    try {
      const { conflicts, skipped: left, changes } = await changeWorkspace(answer, wish, force);
      if (changes) queries.setQueryData(changesQuery(answer).queryKey, changes);
      if (conflicts.length > 0) setAsked({ wish, paths: conflicts });
      if (left.length > 0) showToast(t('changes.skipped', { count: left.length, paths: shortList(left) }));
      void queries.invalidateQueries({ queryKey: filesKey });
    } catch (error) {
      showFailure(t('changes.failed'), failureText(error, t));
    } finally {
      setBusy(false);
    }
  };
  const dialog = asked ? (
    <ConfirmDialog
      title={t('changes.forceTitle')}
      text={t('changes.forceText', { paths: shortList(asked.paths) })}
      confirmLabel={t('changes.force')}
      onConfirm={() => void change(asked.wish, true)}
      onClose={() => setAsked(undefined)}
    />
  ) : null;
  return { change: (wish) => void change(wish), isBusy, dialog };
}
