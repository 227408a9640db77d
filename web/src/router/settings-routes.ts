import { clientPages } from '@homeport/contracts/client-pages';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { signedInRoute } from './signed-in-route.ts';

/** One small chunk for rare pages: each further `import()` with its files would be part of the first page load. */
const rarePages = () => import('./rare-pages.ts');

const settingsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: clientPages.settings,
  component: lazyRouteComponent(() => import('../settings/settings-page.tsx'), 'SettingsPage'),
});
const settingsIndexRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/account', replace: true });
  },
});
const accountRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('../settings/account-page.tsx'), 'AccountPage'),
});
const personalizationRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/personalization',
  component: lazyRouteComponent(() => import('../settings/personalization-page.tsx'), 'PersonalizationPage'),
});
const movingRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/import-export',
  component: lazyRouteComponent(() => import('../import-export/import-export-page.tsx'), 'ImportExportPage'),
});
const promptsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/prompts',
  component: lazyRouteComponent(() => import('../assistants/prompts/prompts-page.tsx'), 'PromptsPage'),
});
const skillsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/skills',
  component: lazyRouteComponent(() => import('../skills/skills-page.tsx'), 'SkillsPage'),
});
const providersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/providers',
  component: lazyRouteComponent(() => import('../settings/providers-page.tsx'), 'ProvidersPage'),
});
const modelsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/models',
  component: lazyRouteComponent(() => import('../settings/models-page.tsx'), 'ModelsPage'),
});
const tiersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/tiers',
  component: lazyRouteComponent(() => import('../settings/tiers/tiers-page.tsx'), 'TiersPage'),
});
const toolsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/tools',
  component: lazyRouteComponent(() => import('../settings/tools-page.tsx'), 'ToolsPage'),
});
const sharesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/shares',
  component: lazyRouteComponent(rarePages, 'SharesPage'),
});
const adminRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/admin',
  component: lazyRouteComponent(() => import('../admin/admin-page.tsx'), 'AdminPage'),
});
const adminIndexRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/admin/overview', replace: true });
  },
});
const overviewRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/overview',
  component: lazyRouteComponent(rarePages, 'OverviewPage'),
});
const checkRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/check',
  component: lazyRouteComponent(rarePages, 'CheckPage'),
});
const usersRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/users',
  validateSearch: ({ show, sort }: Record<string, unknown>): { show?: string; sort?: string } => ({
    ...(typeof show === 'string' ? { show } : {}),
    ...(typeof sort === 'string' ? { sort } : {}),
  }),
  component: lazyRouteComponent(() => import('../admin/people/users-page.tsx'), 'UsersPage'),
});
const userRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/users/$userId',
  component: lazyRouteComponent(() => import('../admin/people/user-page.tsx'), 'UserPage'),
});
const userAccountRoute = createRoute({
  getParentRoute: () => userRoute,
  path: '/',
  component: lazyRouteComponent(() => import('../admin/people/user-account-page.tsx'), 'UserAccountPage'),
});
const userProvidersRoute = createRoute({
  getParentRoute: () => userRoute,
  path: '/providers',
  component: lazyRouteComponent(() => import('../settings/providers-page.tsx'), 'ProvidersPage'),
});
const userModelsRoute = createRoute({
  getParentRoute: () => userRoute,
  path: '/models',
  component: lazyRouteComponent(() => import('../settings/models-page.tsx'), 'ModelsPage'),
});
const userTiersRoute = createRoute({
  getParentRoute: () => userRoute,
  path: '/tiers',
  component: lazyRouteComponent(() => import('../settings/tiers/tiers-page.tsx'), 'TiersPage'),
});
const userToolsRoute = createRoute({
  getParentRoute: () => userRoute,
  path: '/tools',
  component: lazyRouteComponent(() => import('../settings/tools-page.tsx'), 'ToolsPage'),
});
const invitationsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/invitations',
  component: lazyRouteComponent(rarePages, 'InvitationsPage'),
});
const brandingRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/branding',
  component: lazyRouteComponent(rarePages, 'BrandingPage'),
});
const instructionsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/instructions',
  component: lazyRouteComponent(rarePages, 'InstructionsPage'),
});
const singleSignOnRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/single-sign-on',
  component: lazyRouteComponent(rarePages, 'SingleSignOnPage'),
});
const manifestRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/manifest',
  component: lazyRouteComponent(rarePages, 'ManifestPage'),
});
const auditRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/audit',
  component: lazyRouteComponent(rarePages, 'AuditPage'),
});

const usageRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/usage',
  component: lazyRouteComponent(() => import('../usage/my-usage-page.tsx'), 'MyUsagePage'),
});
const tokensRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/tokens',
  component: lazyRouteComponent(rarePages, 'TokensPage'),
});
const allUsageRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/usage',
  component: lazyRouteComponent(rarePages, 'AllUsagePage'),
});
const budgetsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/budgets',
  component: lazyRouteComponent(rarePages, 'BudgetsPage'),
});

const backupsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/backups',
  component: lazyRouteComponent(rarePages, 'BackupsPage'),
});

const offeredServersRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/mcp',
  component: lazyRouteComponent(rarePages, 'OfferedServersPage'),
});

/** A person's settings and the administration. */
export const settingsRoutes = settingsRoute.addChildren([
  settingsIndexRoute,
  accountRoute,
  personalizationRoute,
  promptsRoute,
  skillsRoute,
  movingRoute,
  providersRoute,
  modelsRoute,
  tiersRoute,
  toolsRoute,
  usageRoute,
  tokensRoute,
  sharesRoute,
  adminRoute.addChildren([
    adminIndexRoute,
    overviewRoute,
    checkRoute,
    usersRoute,
    userRoute.addChildren([userAccountRoute, userProvidersRoute, userModelsRoute, userTiersRoute, userToolsRoute]),
    invitationsRoute,
    brandingRoute,
    instructionsRoute,
    singleSignOnRoute,
    manifestRoute,
    auditRoute,
    allUsageRoute,
    budgetsRoute,
    backupsRoute,
    offeredServersRoute,
  ]),
]);
