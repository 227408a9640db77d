import type { Invitation } from '@homeport/contracts/admin';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/api.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../layout/dialogs/confirm-dialog.tsx';
import { focusSectionTitle } from '../../layout/section.tsx';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import { invitationsQuery } from '../admin-queries.ts';
import { InvitationRow } from './invitation-row.tsx';

/** Rows of invitations. Open ones can be revoked; `onAgain` invites the person of an ended one again. */
export function InvitationRows({
  invitations,
  onAgain,
}: {
  invitations: readonly Invitation[];
  onAgain?: (invitation: Invitation) => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const [revoking, setRevoking] = useState<Invitation>();
  const revoke = async ({ id, email }: Invitation) => {
    setRevoking(undefined);
    try {
      await call('DELETE /api/invitations', { query: { id } });
      showToast(t('invitations.revokedDone', { email }));
    } catch (error) {
      showFailure(t('settings.changeFailed'), failureText(error, t));
    }
    await queries.invalidateQueries({ queryKey: invitationsQuery.queryKey });
    focusSectionTitle();
  };
  return (
    <>
      {invitations.map((invitation) => (
        <InvitationRow
          key={invitation.id}
          invitation={invitation}
          onRevoke={() => setRevoking(invitation)}
          onAgain={() => onAgain?.(invitation)}
        />
      ))}
      {revoking ? (
        <ConfirmDialog
          title={t('invitations.revokeTitle', { email: revoking.email })}
          text={t('invitations.revokeText')}
          confirmLabel={t('invitations.revoke')}
          onConfirm={() => void revoke(revoking)}
          onClose={() => setRevoking(undefined)}
        />
      ) : null}
    </>
  );
}
