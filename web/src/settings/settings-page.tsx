import '../page-texts.ts';
import { UnstyledButton } from '@mantine/core';
import { Link, type LinkProps, Outlet, useLocation } from '@tanstack/react-router';
import {
  Boxes,
  ChevronDown,
  FileCode2,
  KeyRound,
  Layers,
  type LucideIcon,
  MailPlus,
  Palette,
  Plug,
  ScrollText,
  UserRound,
  UsersRound,
  Wrench,
} from 'lucide-react';
import { useId, useState } from 'react';
import { useWorkbench } from '../conversation/workbench.ts';
import { type TextId, useText } from '../i18n.ts';
import classes from './settings-page.module.css';

type Entry = { to: LinkProps['to']; text: TextId; Icon: LucideIcon };

const own: readonly Entry[] = [
  { to: '/settings/account', text: 'settings.account', Icon: UserRound },
  { to: '/settings/providers', text: 'settings.providers', Icon: Plug },
  { to: '/settings/models', text: 'settings.models', Icon: Boxes },
  { to: '/settings/tiers', text: 'settings.tiers', Icon: Layers },
  { to: '/settings/tools', text: 'settings.tools', Icon: Wrench },
];
const administration: readonly Entry[] = [
  { to: '/settings/admin/users', text: 'settings.users', Icon: UsersRound },
  { to: '/settings/admin/invitations', text: 'settings.invitations', Icon: MailPlus },
  { to: '/settings/admin/single-sign-on', text: 'settings.singleSignOn', Icon: KeyRound },
  { to: '/settings/admin/branding', text: 'settings.branding', Icon: Palette },
  { to: '/settings/admin/manifest', text: 'settings.manifest', Icon: FileCode2 },
  { to: '/settings/admin/audit', text: 'settings.audit', Icon: ScrollText },
];

/** `/settings/*`: the list of sections, and the chosen one. */
export function SettingsPage() {
  const t = useText();
  const { user } = useWorkbench();
  const listId = useId();
  const pathname = useLocation({ select: (location) => location.pathname });
  const [openAt, setOpenAt] = useState<string>();
  // Going to another section closes the list.
  const isOpen = openAt === pathname;
  const groups = user.role === 'admin' ? [...own, ...administration] : own;
  const current = groups.find(({ to }) => to !== undefined && pathname.startsWith(to));
  return (
    <div className={classes.page}>
      <nav aria-label={t('settings.label')} className={classes.nav}>
        <UnstyledButton
          className={classes.toggle}
          aria-expanded={isOpen}
          aria-controls={listId}
          onClick={() => setOpenAt(isOpen ? undefined : pathname)}
        >
          {current ? <current.Icon size={16} aria-hidden /> : null}
          <span className="visually-hidden">{t('settings.section')}</span>
          <span className={classes.toggleText}>{t(current?.text ?? 'settings.label')}</span>
          <ChevronDown size={16} aria-hidden />
        </UnstyledButton>
        <div id={listId} className={classes.groups} data-open={isOpen || undefined}>
          <Entries label={t('settings.label')} entries={own} />
          {user.role === 'admin' ? <Entries label={t('settings.admin')} entries={administration} /> : null}
        </div>
      </nav>
      <main id="content" tabIndex={-1} className={classes.content}>
        <Outlet />
      </main>
    </div>
  );
}

function Entries({ label, entries }: { label: string; entries: readonly Entry[] }) {
  const t = useText();
  const labelId = useId();
  return (
    <div className={classes.group}>
      <p className={classes.label} id={labelId}>
        {label}
      </p>
      <ul className={classes.sections} aria-labelledby={labelId}>
        {entries.map(({ to, text, Icon }) => (
          <li key={to}>
            <Link to={to} className={classes.link} activeProps={{ 'aria-current': 'page' }}>
              <Icon size={16} aria-hidden />
              {t(text)}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
