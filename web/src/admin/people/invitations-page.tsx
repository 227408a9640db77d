import type { Invitation } from '@homeport/contracts/admin';
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { MailPlus } from 'lucide-react';
import { useState } from 'react';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { MoreButton } from '../../layout/more-button.tsx';
import { EmptyState, Section } from '../../layout/section.tsx';
import classes from '../admin.module.css';
import { invitationsQuery } from '../admin-queries.ts';
import { InvitationRows } from './invitation-rows.tsx';
import { InviteDialog } from './invite-dialog.tsx';

/** `/settings/admin/invitations` */
export function InvitationsPage() {
  const t = useText();
  const query = useInfiniteQuery(invitationsQuery);
  const [inviting, setInviting] = useState<{ again: Invitation | undefined }>();
  const invitations = query.data?.pages.flatMap((page) => page.invitations) ?? [];
  const invite = (
    <Button leftSection={<MailPlus size={16} aria-hidden />} onClick={() => setInviting({ again: undefined })}>
      {t('invitations.add')}
    </Button>
  );
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
          <InvitationRows invitations={invitations} onAgain={(again) => setInviting({ again })} />
        </ul>
      ) : null}
      <MoreButton query={query} />
      {inviting ? <InviteDialog again={inviting.again} onClose={() => setInviting(undefined)} /> : null}
    </Section>
  );
}
