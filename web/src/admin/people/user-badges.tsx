import type { ManagedUser } from '@homeport/contracts/admin';
import { useText } from '../../i18n/i18n.ts';
import classes from '../admin.module.css';

/** Special facts about an account, one word each. */
export function UserBadges({ user, isMe = false }: { user: ManagedUser; isMe?: boolean }) {
  const t = useText();
  return (
    <>
      {isMe ? <span className={classes.badge}>{t('users.you')}</span> : null}
      {user.role === 'admin' ? <span className={classes.badge}>{t('users.roleAdmin')}</span> : null}
      {user.enabled ? null : (
        <span className={classes.badge} data-kind="off">
          {t('users.disabled')}
        </span>
      )}
      {user.hasPassword ? null : (
        <span className={classes.badge} data-kind="plain">
          {t('users.ssoOnly')}
        </span>
      )}
      {user.mustChangePassword ? (
        <span className={classes.badge} data-kind="plain">
          {t('users.mustChange')}
        </span>
      ) : null}
    </>
  );
}
