import type { ManagedUser } from '@homeport/contracts/admin';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../layout/dialogs/confirm-dialog.tsx';
import { Card } from '../../layout/section.tsx';
import { showToast } from '../../layout/toasts.tsx';
import { changeUser } from '../admin-queries.ts';
import { lastAdminText } from './last-admin.ts';

/** Disables or enables an account. */
export function DisableCard({ user, isMe }: { user: ManagedUser; isMe: boolean }) {
  const t = useText();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const { name, enabled } = user;
  const change = async () => {
    setAsking(false);
    setBusy(true);
    setFailure(undefined);
    try {
      await changeUser(queries, { id: user.id, enabled: !enabled });
      // Only the sign-in page still works.
      if (isMe && enabled) return location.assign('/sign-in');
      showToast(t(enabled ? 'users.disabledDone' : 'users.enabledDone', { name }));
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };
  return (
    <Card
      title={t(enabled ? 'users.disable' : 'users.enable')}
      text={t(enabled ? (isMe ? 'users.disableSelf' : 'users.disableText') : 'users.enableText')}
      action={
        <Button
          variant="default"
          aria-disabled={isBusy}
          onClick={() => {
            if (isBusy) return;
            if (enabled) setAsking(true);
            else void change();
          }}
        >
          {t(enabled ? 'users.disableAction' : 'users.enable')}
        </Button>
      }
    >
      {failure === undefined ? null : <FormFailure failure={failure} text={lastAdminText(failure, t)} />}
      {isAsking ? (
        <ConfirmDialog
          title={t('users.disableTitle', { name })}
          text={t(isMe ? 'users.disableSelfConfirm' : 'users.disableConfirm')}
          confirmLabel={t('users.disable')}
          onConfirm={() => void change()}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </Card>
  );
}
