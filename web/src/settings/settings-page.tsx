import 'virtual:texts/pages';
import { UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { useId, useState } from 'react';
import { releaseQuery } from '../api/queries.ts';
import { useClientSession } from '../conversation/client-session.ts';
import { useText } from '../i18n/i18n.ts';
import { administrationSections, ownSections, type SettingsSection } from '../layout/palette/settings-sections.ts';
import classes from './settings-page.module.css';

/** `/settings/*`: the list of sections, and the chosen one. */
export function SettingsPage() {
  const t = useText();
  const { user } = useClientSession();
  const listId = useId();
  const pathname = useLocation({ select: (location) => location.pathname });
  const [openAt, setOpenAt] = useState<string>();
  // Going to another section closes the list.
  const isOpen = openAt === pathname;
  const groups = user.role === 'admin' ? [...ownSections, ...administrationSections] : ownSections;
  const current = groups.find(({ to }) => pathname.startsWith(to));
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
          <Entries label={t('settings.label')} entries={ownSections} />
          {user.role === 'admin' ? <Entries label={t('settings.admin')} entries={administrationSections} /> : null}
          <Version />
        </div>
      </nav>
      <main id="content" tabIndex={-1} className={classes.content}>
        <Outlet />
      </main>
    </div>
  );
}

/** The release's version. */
function Version() {
  const t = useText();
  const { data } = useQuery(releaseQuery);
  return data?.version ? <p className={classes.version}>{t('settings.version', { version: data.version })}</p> : null;
}

function Entries({ label, entries }: { label: string; entries: readonly SettingsSection[] }) {
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
