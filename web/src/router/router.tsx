import type { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter } from '@tanstack/react-router';
import { onPasswordChangeRequired, onUnauthorized } from '../api/api.ts';
import { meQuery } from '../api/queries.ts';
import { NotFoundPage } from '../layout/message-page.tsx';
import { entryRoutes } from './entry-routes.ts';
import { settingsRoutes } from './settings-routes.ts';
import { rootRoute, signedInRoute } from './signed-in-route.ts';
import { workRoutes } from './work-routes.ts';

/** Unknown addresses, shown inside the frame. */
const nowhereRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '$',
  component: NotFoundPage,
});

const routeTree = rootRoute.addChildren([
  signedInRoute.addChildren([...workRoutes, nowhereRoute, settingsRoutes]),
  ...entryRoutes,
]);

export function createAppRouter(queries: QueryClient) {
  const router = createRouter({ routeTree, context: { queries }, defaultPreload: 'intent', scrollRestoration: false });
  onUnauthorized(() => {
    queries.removeQueries({ queryKey: meQuery.queryKey });
    const { href, pathname } = router.state.location;
    if (pathname !== '/sign-in' && pathname !== '/setup' && pathname !== '/invitation')
      void router.navigate({ to: '/sign-in', search: href === '/' ? {} : { return: href } });
  });
  onPasswordChangeRequired(() => {
    const { href, pathname } = router.state.location;
    if (pathname !== '/password') void router.navigate({ to: '/password', search: { return: href } });
  });
  return router;
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
