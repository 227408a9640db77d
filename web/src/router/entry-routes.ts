import { clientPages } from '@homeport/contracts/client-pages';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { publicConfigQuery } from '../api/queries.ts';
import { findUser, rootRoute } from './signed-in-route.ts';

type ReturnSearch = { return?: string; error?: string };
const returnSearch = (search: Record<string, unknown>): ReturnSearch => ({
  ...(typeof search.return === 'string' && isOwnPath(search.return) ? { return: search.return } : {}),
  ...(typeof search.error === 'string' ? { error: search.error } : {}),
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: clientPages.signIn,
  validateSearch: returnSearch,
  beforeLoad: async ({ context }) => {
    const { setup } = await context.queries.ensureQueryData(publicConfigQuery);
    if (setup.required) throw redirect({ to: '/setup' });
  },
  component: lazyRouteComponent(() => import('../sign-in/sign-in-page.tsx'), 'SignInPage'),
});
const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: clientPages.setup,
  beforeLoad: async ({ context }) => {
    const { setup } = await context.queries.ensureQueryData(publicConfigQuery);
    if (setup.required) return;
    const user = await findUser(context.queries, '/setup');
    if (user.role !== 'admin') throw redirect({ to: '/' });
  },
  component: lazyRouteComponent(() => import('../setup/setup-page.tsx'), 'SetupPage'),
});
const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: clientPages.password,
  validateSearch: returnSearch,
  beforeLoad: ({ context, search }) => findUser(context.queries, search.return ?? '/').then(() => undefined),
  component: lazyRouteComponent(() => import('../sign-in/password-page.tsx'), 'PasswordPage'),
});
const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: clientPages.invitation,
  component: lazyRouteComponent(() => import('../sign-in/invitation-page.tsx'), 'InvitationPage'),
});

const shareRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/s/$token',
  component: lazyRouteComponent(() => import('../shares/share-page.tsx'), 'SharePage'),
});

/** A return path must stay on this origin: `//host` and `/\host` would leave it. */
function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])/.test(path);
}

/** Pages that need no session, or lead to one. */
export const entryRoutes = [signInRoute, setupRoute, passwordRoute, invitationRoute, shareRoute] as const;
