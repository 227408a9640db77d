import type { Invitation } from '@homeport/contracts/admin';
import { Button } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { MailPlus } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/api.ts';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import { FormFailure } from '../../forms/notice.tsx';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../layout/dialogs/confirm-dialog.tsx';
import { MoreButton } from '../../layout/more-button.tsx';
import { EmptyState, focusSectionTitle, Section } from '../../layout/section.tsx';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import classes from '../admin.module.css';
import { invitationsQuery } from '../admin-queries.ts';
import { InvitationRow } from './invitation-row.tsx';
import { InviteDialog } from './invite-dialog.tsx';

/** `/settings/admin/invitations` */
export function InvitationsPage() {
  const t = useText();
  const queries = useQueryClient();
  const query = useInfiniteQuery(invitationsQuery);
  const [inviting, setInviting] = useState<{ again: Invitation | undefined }>();
  const [revoking, setRevoking] = useState<Invitation>();
  const invitations = query.data?.pages.flatMap((page) => page.invitations) ?? [];
  const invite = (
    <Button leftSection={<MailPlus size={16} aria-hidden />} onClick={() => setInviting({ again: undefined })}>
      {t('invitations.add')}
    </Button>
  );
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
    <Section
      title={t('settings.invitations')}
      text={t('invitations.text')}
      action={invitations.length > 0 ? invite : undefined}
    >
      {query.error ? <FormFailure failure={query.error} /> : null}
      {query.data || query.error ? null : <Loading />}
      {query.data && invitations.length === 0 ? (
        <EmptyState title={t('invitations.emptyTitle')} text={t('invitations.emptyText')} action={invite} />
      ) : null}
      {invitations.length > 0 ? (
        <ul className={classes.list} aria-label={t('settings.invitations')}>
          {invitations.map((invitation) => (
            <InvitationRow
              key={invitation.id}
              invitation={invitation}
              onRevoke={() => setRevoking(invitation)}
              onAgain={() => setInviting({ again: invitation })}
            />
          ))}
        </ul>
      ) : null}
      <MoreButton query={query} />
      {inviting ? <InviteDialog again={inviting.again} onClose={() => setInviting(undefined)} /> : null}
      {revoking ? (
        <ConfirmDialog
          title={t('invitations.revokeTitle', { email: revoking.email })}
          text={t('invitations.revokeText')}
          confirmLabel={t('invitations.revoke')}
          onConfirm={() => void revoke(revoking)}
          onClose={() => setRevoking(undefined)}
        />
      ) : null}
    </Section>
  );
}
