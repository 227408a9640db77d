import { UnstyledButton } from '@mantine/core';
import { ChevronsUpDown } from 'lucide-react';
import { useClientSession } from '../../conversation/client-session.ts';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { useMenu } from '../menus/use-menu.ts';
import classes from './account-menu.module.css';

const AccountMenuItems = lazyComponent(async () => (await import('./account-menu-items.tsx')).AccountMenuItems);

/** The signed-in user, with the account menu. */
export function AccountMenu() {
  const t = useText();
  const { user } = useClientSession();
  const { place, buttonProps } = useMenu(AccountMenuItems);
  return (
    <>
      <UnstyledButton className={classes.account} {...buttonProps}>
        <span className={classes.avatar} aria-hidden>
          {initials(user.name)}
        </span>
        <span className="visually-hidden">{t('nav.account')}</span>
        <span className={classes.name}>{user.name}</span>
        <ChevronsUpDown size={15} aria-hidden className={classes.chevron} />
      </UnstyledButton>
      {place ? <AccountMenuItems {...place} /> : null}
    </>
  );
}

function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => Array.from(word ?? '')[0] ?? '',
  );
  return letters.join('').toUpperCase();
}
