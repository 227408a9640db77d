import type { ManagedUser } from '@homeport/contracts/admin';
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { useText } from '../../i18n/i18n.ts';
import classes from '../admin.module.css';
import { formatDay } from '../format.ts';
import people from './people.module.css';
import { UserBadges } from './user-badges.tsx';

/** One user in the list; the whole row links to the account. The own account can't be selected. */
export function UserRow({
  user,
  isMe,
  isPicked,
  onPick,
}: {
  user: ManagedUser;
  isMe: boolean;
  isPicked: boolean;
  onPick: (isOn: boolean) => void;
}) {
  const t = useText();
  return (
    <li className={classes.row} data-off={user.enabled ? undefined : true}>
      <label className={people.pickArea}>
        <input
          type="checkbox"
          className={people.pick}
          checked={isPicked}
          disabled={isMe}
          onChange={(event) => onPick(event.currentTarget.checked)}
          aria-label={t('users.select', { name: user.name })}
        />
      </label>
      <div className={classes.about}>
        <div className={classes.name}>
          <Link to="/settings/admin/users/$userId" params={{ userId: user.id }} className={classes.cover}>
            <bdi>{user.name}</bdi>
          </Link>
          <UserBadges user={user} isMe={isMe} />
        </div>
        <div className={classes.detail}>
          <span>{user.email}</span>
          <span>
            {user.lastSeenAt === null
              ? t('users.neverSeen')
              : t('users.lastSeen', { date: formatDay(user.lastSeenAt) })}
          </span>
        </div>
      </div>
      <ChevronRight size={17} aria-hidden className={classes.chevron} />
    </li>
  );
}
