import type { Invitation } from '@homeport/contracts/admin';
import { Button } from '@mantine/core';
import { useText } from '../../i18n/i18n.ts';
import classes from '../admin.module.css';
import { formatTime } from '../format.ts';

/** One invitation: its state, its dates, and the button to revoke it or to invite again. */
export function InvitationRow({
  invitation,
  onRevoke,
  onAgain,
}: {
  invitation: Invitation;
  onRevoke: () => void;
  onAgain: () => void;
}) {
  const t = useText();
  const { email, name, role, state, createdAt, expiresAt } = invitation;
  const isOpen = state === 'pending';
  const facts = [
    name,
    t('invitations.since', { date: formatTime(createdAt) }),
    isOpen ? t('invitations.until', { date: formatTime(expiresAt) }) : null,
  ].filter((fact) => fact !== null);
  return (
    <li className={classes.row} data-off={isOpen || state === 'accepted' ? undefined : true}>
      <div className={classes.about}>
        <div className={classes.name}>
          {email}
          <span className={classes.badge} data-kind={state === 'pending' ? undefined : 'plain'}>
            {t(`invitations.state.${state}`)}
          </span>
          {role === 'admin' ? <span className={classes.badge}>{t('users.roleAdmin')}</span> : null}
        </div>
        <div className={classes.detail}>
          {facts.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </div>
      </div>
      {isOpen ? (
        <Button
          size="compact-sm"
          variant="subtle"
          aria-label={t('invitations.revokeNamed', { email })}
          onClick={onRevoke}
        >
          {t('invitations.revokeAction')}
        </Button>
      ) : null}
      {state === 'expired' || state === 'revoked' ? (
        <Button
          size="compact-sm"
          variant="subtle"
          aria-label={t('invitations.againNamed', { email })}
          onClick={onAgain}
        >
          {t('invitations.again')}
        </Button>
      ) : null}
    </li>
  );
}
