import { ActionIcon } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useParams } from '@tanstack/react-router';
import { PanelLeft, SquarePen } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { meQuery } from '../api/queries.ts';
import { ClientSessionContext, createClientSession } from '../conversation/client-session.ts';
import { useText } from '../i18n/i18n.ts';
import { MaintenanceBanner } from './banners/maintenance-banner.tsx';
import { OfflineBanner } from './banners/offline-banner.tsx';
import { ProxySessionBanner } from './banners/proxy-session-banner.tsx';
import { useBranding, usePageTitle } from './branding.ts';
import { lazyComponent } from './lazy-component.tsx';
import { ConversationMenu } from './menus/conversation-menu.tsx';
import { collectKeys } from './palette/early-keys.ts';
import { useCommands, useShortcuts } from './palette/use-commands.ts';
import { SideRail } from './sidebar/side-rail.tsx';
import { Sidebar } from './sidebar/sidebar.tsx';
import classes from './signed-in-frame.module.css';
import { useCompletionBadge } from './use-completion-badge.ts';

const SideDrawer = lazyComponent(async () => (await import('./sidebar/side-drawer.tsx')).SideDrawer);

const Palette = lazyComponent(async () => (await import('./palette/palette.tsx')).Palette);
const ShortcutSheet = lazyComponent(async () => (await import('./palette/shortcut-sheet.tsx')).ShortcutSheet);

const PlainFailures = lazyComponent(async () => (await import('./records/plain-failures.tsx')).PlainFailures);

const narrow = '(max-width: 52rem)';

/** The frame around every page of a signed-in user: sidebar (a drawer on narrow screens), skip link, offline banner. */
export function SignedInFrame() {
  const t = useText();
  const queries = useQueryClient();
  const user = useQuery(meQuery).data?.user;
  const workbench = useMemo(() => (user ? createClientSession(user, queries) : null), [user, queries]);
  useEffect(() => {
    const refresh = (event: StorageEvent) => {
      workbench?.receipts.refresh(event);
      workbench?.drafts.refresh(event);
    };
    window.addEventListener('storage', refresh);
    return () => window.removeEventListener('storage', refresh);
  }, [workbench]);
  useEffect(() => workbench?.listen(), [workbench]);
  if (!workbench) return null;
  return (
    <ClientSessionContext value={workbench}>
      <a href="#content" className="skip-link">
        {t('app.skipToContent')}
      </a>
      <Layout />
      {user?.role === 'admin' ? null : <PlainFailures />}
    </ClientSessionContext>
  );
}

function Layout() {
  const isNarrow = useMediaQuery(narrow, window.matchMedia(narrow).matches, { getInitialValueInEffect: false });
  const [isOpen, setOpen] = useState(false);
  const [isHidden, setHidden] = useState(readIsHidden);
  const [overlay, setOverlay] = useState<'palette' | 'help'>();
  const { href } = useLocation();
  const hide = (next: boolean) => {
    setHidden(next);
    storeIsHidden(next);
  };
  const commands = useCommands({
    palette: () => setOverlay((shown) => (shown === 'palette' ? undefined : 'palette')),
    help: () => setOverlay('help'),
    sidebar: () => (isNarrow ? setOpen(!isOpen) : hide(!isHidden)),
  });
  useShortcuts(commands);
  useCompletionBadge();
  // Every navigation closes the drawer.
  useEffect(() => setOpen(false), [href]);
  useEffect(() => (overlay === 'palette' ? collectKeys(() => setOverlay(undefined)) : undefined), [overlay]);
  const close = () => setOverlay(undefined);
  return (
    <div className={classes.frame}>
      {isNarrow ? (
        <>
          <TopBar onOpen={() => setOpen(true)} />
          <SideDrawer isOpen={isOpen} onClose={() => setOpen(false)} />
        </>
      ) : isHidden ? (
        <SideRail onOpen={() => hide(false)} />
      ) : (
        <div className={classes.side}>
          <Sidebar onClose={() => hide(true)} />
        </div>
      )}
      <div className={classes.content}>
        <OfflineBanner />
        <ProxySessionBanner />
        <MaintenanceBanner />
        <Outlet />
      </div>
      {overlay === 'palette' ? <Palette commands={commands} onClose={close} /> : null}
      {overlay === 'help' ? <ShortcutSheet onClose={close} /> : null}
    </div>
  );
}

const hiddenKey = 'sidebar-hidden';

function readIsHidden(): boolean {
  return localStorage.getItem(hiddenKey) !== null;
}

function storeIsHidden(isHidden: boolean): void {
  try {
    if (isHidden) localStorage.setItem(hiddenKey, '1');
    else localStorage.removeItem(hiddenKey);
  } catch {
    // Not stored: it lasts as long as the page.
  }
}

function TopBar({ onOpen }: { onOpen: () => void }) {
  const t = useText();
  const { productName } = useBranding();
  const { chatId } = useParams({ strict: false });
  const title = usePageTitle();
  return (
    <header className={classes.bar}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('nav.open')} onClick={onOpen}>
        <PanelLeft size={20} />
      </ActionIcon>
      <span className={classes.product}>
        <bdi>{title ?? productName}</bdi>
      </span>
      <span className={classes.barEnd}>
        {chatId === undefined ? null : <ConversationMenu chatId={chatId} />}
        <ActionIcon
          component={Link}
          to="/"
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('nav.newConversation')}
        >
          <SquarePen size={19} />
        </ActionIcon>
      </span>
    </header>
  );
}
