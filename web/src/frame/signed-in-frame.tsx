import { ActionIcon } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { PanelLeft, SquarePen } from 'lucide-react';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { useText } from '../i18n.ts';
import { meQuery } from '../queries.ts';
import { createWorkbench, WorkbenchContext } from '../workbench.ts';
import { useBranding, usePageTitle } from './branding.ts';
import { useIsOnline } from './online.ts';
import { Sidebar } from './sidebar.tsx';
import classes from './signed-in-frame.module.css';

const SideDrawer = lazy(async () => ({ default: (await import('./side-drawer.tsx')).SideDrawer }));

const narrow = '(max-width: 52rem)';

/** What surrounds every page of a signed-in user: sidebar (a drawer on narrow screens), skip link, offline banner. */
export function SignedInFrame() {
  const t = useText();
  const queries = useQueryClient();
  const user = useQuery(meQuery).data?.user;
  const workbench = useMemo(() => (user ? createWorkbench(user, queries) : null), [user, queries]);
  useEffect(() => {
    const refresh = (event: StorageEvent) => {
      workbench?.receipts.refresh(event);
      workbench?.drafts.refresh(event);
    };
    window.addEventListener('storage', refresh);
    return () => window.removeEventListener('storage', refresh);
  }, [workbench]);
  if (!workbench) return null;
  return (
    <WorkbenchContext value={workbench}>
      <a href="#content" className="skip-link">
        {t('app.skipToContent')}
      </a>
      <Layout />
    </WorkbenchContext>
  );
}

function Layout() {
  const t = useText();
  const isNarrow = useMediaQuery(narrow, window.matchMedia(narrow).matches, { getInitialValueInEffect: false });
  const isOnline = useIsOnline();
  const [isOpen, setOpen] = useState(false);
  const { href } = useLocation();
  // Every navigation closes the drawer
  useEffect(() => setOpen(false), [href]);
  return (
    <div className={classes.frame}>
      {isNarrow ? (
        <>
          <TopBar onOpen={() => setOpen(true)} />
          <Suspense>
            <SideDrawer isOpen={isOpen} onClose={() => setOpen(false)} />
          </Suspense>
        </>
      ) : (
        <div className={classes.side}>
          <Sidebar />
        </div>
      )}
      <div className={classes.content}>
        {isOnline ? null : (
          <div role="status" className={classes.offline}>
            {t('app.offline')}
          </div>
        )}
        <Outlet />
      </div>
    </div>
  );
}

function TopBar({ onOpen }: { onOpen: () => void }) {
  const t = useText();
  const { productName } = useBranding();
  const title = usePageTitle();
  return (
    <header className={classes.bar}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('nav.open')} onClick={onOpen}>
        <PanelLeft size={20} />
      </ActionIcon>
      <span className={classes.product}>
        <bdi>{title ?? productName}</bdi>
      </span>
      <ActionIcon component={Link} to="/" variant="subtle" color="gray" size="lg" aria-label={t('nav.newConversation')}>
        <SquarePen size={19} />
      </ActionIcon>
    </header>
  );
}
