import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useClientSession } from '../../conversation/client-session.ts';
import { useText } from '../../i18n/i18n.ts';
import { Card, Section } from '../../layout/section.tsx';
import classes from '../admin.module.css';
import { userQuery } from '../admin-queries.ts';
import { formatDay } from '../format.ts';
import { AccessCard } from './access-card.tsx';
import { DeleteUserCard } from './delete-user-card.tsx';
import { DisableCard } from './disable-card.tsx';
import { SetPasswordForm } from './set-password-form.tsx';
import { UserBadges } from './user-badges.tsx';
import { UserForm } from './user-form.tsx';

/** `/settings/admin/users/<id>` */
export function UserAccountPage() {
  const t = useText();
  const { userId } = useParams({ from: '/signed-in/settings/admin/users/$userId' });
  const { user: me } = useClientSession();
  const { data: user } = useQuery(userQuery(userId));
  if (!user) return null;
  const isMe = user.id === me.id;
  const facts = [
    user.email,
    t('users.since', { date: formatDay(user.createdAt) }),
    user.lastSeenAt === null ? t('users.neverSeen') : t('users.lastSeen', { date: formatDay(user.lastSeenAt) }),
  ];
  return (
    <Section title={user.name} text={facts.join(' ·\u00a0')}>
      <div className={classes.badges}>
        <UserBadges user={user} isMe={isMe} />
      </div>
      <Card title={t('account.profile')}>
        <UserForm key={user.id} user={user} isMe={isMe} />
      </Card>
      <AccessCard user={user} />
      <Card title={t('account.password')} text={t(user.hasPassword ? 'users.passwordText' : 'users.passwordNone')}>
        <SetPasswordForm user={user} isMe={isMe} />
      </Card>
      <DisableCard user={user} isMe={isMe} />
      {isMe ? null : <DeleteUserCard user={user} />}
    </Section>
  );
}
