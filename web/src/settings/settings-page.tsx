import 'virtual:texts/pages';
import 'virtual:texts/topics';
import { UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { releaseQuery } from '../api/queries.ts';
import { useText } from '../i18n/i18n.ts';
import {
  findSection,
  hasTabs,
  isClosed,
  type SettingsGroup,
  type SettingsSection,
  settingsGroups,
} from '../layout/palette/settings-sections.ts';
import { SectionTabsContext } from '../layout/section.tsx';
import { useAccess } from '../layout/use-access.ts';
import { ClosedPage } from './closed-page.tsx';
import classes from './settings-page.module.css';

/** `/settings/*`: the groups of pages, and the chosen page. */
export function SettingsPage() {
  const t = useText();
  const access = useAccess();
  const pathname = useLocation({ select: (location) => location.pathname });
  const groups = settingsGroups(access);
  const current = findSection(groups, pathname);
  return (
    <div className={classes.page}>
      <nav aria-label={t('settings.label')} className={classes.nav}>
        <PageMenu key={pathname} groups={groups} current={current?.page} />
        <ul className={classes.groups}>
          {groups.map((group) => (
            <Group key={group.text} group={group} isCurrent={group.text === current?.group.text} />
          ))}
        </ul>
        <Version />
      </nav>
      <main id="content" tabIndex={-1} className={classes.content}>
        <SectionTabsContext value={current && hasTabs(current.group) ? <Tabs group={current.group} /> : null}>
          {isClosed(pathname, access) ? <ClosedPage /> : <Outlet />}
        </SectionTabsContext>
      </main>
    </div>
  );
}

/** On narrow screens, one button with the name of the page that opens the list of all pages. */
function PageMenu({ groups, current }: { groups: readonly SettingsGroup[]; current: SettingsSection | undefined }) {
  const t = useText();
  const listId = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className={classes.menu}>
      <UnstyledButton
        className={classes.toggle}
        aria-expanded={isOpen}
        {...(isOpen ? { 'aria-controls': listId } : {})}
        onClick={() => setOpen(!isOpen)}
      >
        {current ? <current.Icon size={16} aria-hidden /> : null}
        <span className="visually-hidden">{t('settings.section')}</span>
        <span className={classes.toggleText}>{t(current?.text ?? 'settings.label')}</span>
        <ChevronDown size={16} aria-hidden />
      </UnstyledButton>
      {isOpen ? (
        <div id={listId} className={classes.list}>
          {groups.map((group) => (
            <PagesOfGroup key={group.text} group={group} />
          ))}
        </div>
      ) : null}
    </div>
  );
}

function PagesOfGroup({ group }: { group: SettingsGroup }) {
  const t = useText();
  const labelId = useId();
  return (
    <div>
      <p className={classes.label} id={labelId}>
        {t(group.text)}
      </p>
      <ul className={classes.pages} aria-labelledby={labelId}>
        {group.pages.map(({ to, text, tab = text, Icon }) => (
          <li key={to}>
            <PageLink to={to}>
              <Icon size={16} aria-hidden />
              {t(tab)}
            </PageLink>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A group in the list of wide screens; the current one is followed by its pages, unless they are tabs. */
function Group({ group, isCurrent }: { group: SettingsGroup; isCurrent: boolean }) {
  const t = useText();
  const [first] = group.pages;
  const isList = isCurrent && group.pages.length > 1 && !hasTabs(group);
  if (!first) return null;
  return (
    <li>
      <Link
        to={first.to}
        className={classes.link}
        data-current={isCurrent || undefined}
        {...(isCurrent ? { 'aria-current': isList ? 'true' : 'page' } : {})}
      >
        <group.Icon size={16} aria-hidden />
        {t(group.text)}
      </Link>
      {isList ? (
        <ul className={classes.pages} aria-label={t('settings.pagesOf', { group: t(group.text) })}>
          {group.pages.map(({ to, text }) => (
            <li key={to}>
              <PageLink to={to}>{t(text)}</PageLink>
            </li>
          ))}
        </ul>
      ) : null}
    </li>
  );
}

function PageLink({ to, children }: { to: SettingsSection['to']; children: ReactNode }) {
  return (
    <Link to={to} className={classes.link} activeProps={{ 'aria-current': 'page' }}>
      {children}
    </Link>
  );
}

/** The pages of a small group, below the heading of each. */
function Tabs({ group }: { group: SettingsGroup }) {
  const t = useText();
  return (
    <nav aria-label={t('settings.pagesOf', { group: t(group.text) })}>
      <ul className={classes.tabs}>
        {group.pages.map(({ to, text, tab = text }) => (
          <li key={to}>
            <Link to={to} className={classes.tab} activeProps={{ 'aria-current': 'page' }}>
              {t(tab)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The release's version. */
function Version() {
  const t = useText();
  const { data } = useQuery(releaseQuery);
  return data?.version ? <p className={classes.version}>{t('settings.version', { version: data.version })}</p> : null;
}
