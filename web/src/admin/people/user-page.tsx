import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useParams } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { CatalogueOwnerContext } from '../../catalogue/catalogue-api.ts';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { EmptyState, Section, SectionTabsContext } from '../../layout/section.tsx';
import classes from '../admin.module.css';
import { userQuery } from '../admin-queries.ts';
import { useIsManaged } from './account-fields.tsx';

const tabs = [
  { to: '/settings/admin/users/$userId', text: 'users.tabAccount', isExact: true },
  { to: '/settings/admin/users/$userId/providers', text: 'settings.providers', isExact: false },
  { to: '/settings/admin/users/$userId/models', text: 'settings.models', isExact: false },
  { to: '/settings/admin/users/$userId/tiers', text: 'settings.tiers', isExact: false },
  { to: '/settings/admin/users/$userId/tools', text: 'settings.tools', isExact: false },
] as const;
/** The managed edition has one catalogue, under Providers, Models and Tiers in the settings. */
const managedTabs = [tabs[0], tabs[4]];

/** `/settings/admin/users/<id>/*`: one user and everything that belongs to them. */
export function UserPage() {
  const t = useText();
  const { userId } = useParams({ from: '/signed-in/settings/admin/users/$userId' });
  const { data: user, error, refetch } = useQuery(userQuery(userId));
  const isManaged = useIsManaged();
  const back = (
    <Link to="/settings/admin/users" className={classes.back}>
      <ArrowLeft size={15} aria-hidden />
      {t('settings.users')}
    </Link>
  );
  if (user === null) {
    return (
      <>
        {back}
        <Section title={t('users.unknownTitle')} text={t('users.unknownText')}>
          <EmptyState
            text={t('users.unknownHint')}
            action={
              <Button component={Link} to="/settings/admin/users">
                {t('users.unknownAction')}
              </Button>
            }
          />
        </Section>
      </>
    );
  }
  if (!user) {
    return (
      <>
        {back}
        <Section title={t('settings.users')} text={t('users.text')}>
          {error ? <FormFailure failure={error} /> : <Loading />}
          {error ? (
            <Button variant="default" onClick={() => void refetch()}>
              {t('app.retry')}
            </Button>
          ) : null}
        </Section>
      </>
    );
  }
  const shown = isManaged ? managedTabs : tabs;
  const tabLinks = (
    <nav aria-label={t('users.tabs', { name: user.name })}>
      <ul className={classes.tabs}>
        {shown.map(({ to, text, isExact }) => (
          <li key={to}>
            <Link
              to={to}
              params={{ userId }}
              activeOptions={{ exact: isExact }}
              activeProps={{ 'aria-current': 'page' }}
              className={classes.tab}
            >
              {t(text)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
  return (
    <CatalogueOwnerContext value={{ userId, name: user.name }}>
      {back}
      <SectionTabsContext value={tabLinks}>
        <Outlet />
      </SectionTabsContext>
    </CatalogueOwnerContext>
  );
}
