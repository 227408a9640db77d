import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router';
import { ApiFailure } from '../api/api-failure.ts';
import { meQuery, publicConfigQuery } from '../api/queries.ts';
import { CrashPage, NotFoundPage } from '../layout/message-page.tsx';
import { SignedInFrame } from '../layout/signed-in-frame.tsx';
import { markSignedIn } from '../signed-in-flag.ts';

type Context = { queries: QueryClient };

export const rootRoute = createRootRouteWithContext<Context>()({
  component: Outlet,
  errorComponent: CrashPage,
  notFoundComponent: NotFoundPage,
});

/** The frame around all pages that need a session. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: SignedInFrame,
  beforeLoad: async ({ context, location }) => {
    const { setup } = await context.queries.ensureQueryData(publicConfigQuery);
    if (setup.required) throw redirect({ to: '/setup' });
    const user = await findUser(context.queries, location.href);
    if (user.mustChangePassword) throw redirect({ to: '/password', search: { return: location.href } });
  },
});

/** Returns the signed-in user; redirects to the sign-in page without a session. */
export async function findUser(queries: QueryClient, returnTo: string) {
  try {
    const { user } = await queries.ensureQueryData(meQuery);
    markSignedIn(true);
    return user;
  } catch (error) {
    const mustSignIn =
      error instanceof ApiFailure && (error.code === 'unauthorized' || error.code === 'account_disabled');
    throw mustSignIn ? redirect({ to: '/sign-in', search: returnTo === '/' ? {} : { return: returnTo } }) : error;
  }
}
