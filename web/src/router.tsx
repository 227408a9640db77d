import { clientIdPattern } from '@homeport/contracts/limits';
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { onPasswordChangeRequired, onUnauthorized } from './api.ts';
import { ApiFailure } from './api-failure.ts';
import { ConversationPage } from './chat/conversation-page.tsx';
import { NewConversationPage } from './chat/new-conversation-page.tsx';
import { CrashPage, NotFoundPage } from './frame/message-page.tsx';
import { SignedInFrame } from './frame/signed-in-frame.tsx';
import { meQuery, publicConfigQuery } from './queries.ts';
import { markSignedIn } from './signed-in-mark.ts';
import { home, readAppPath, readPath, readPort, type WorkspaceTab } from './workspace/paths.ts';

type Context = { queries: QueryClient };

const rootRoute = createRootRouteWithContext<Context>()({
  component: Outlet,
  errorComponent: CrashPage,
  notFoundComponent: NotFoundPage,
});

const signedInRoute = createRoute({
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

async function findUser(queries: QueryClient, returnTo: string) {
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

/** What the side panel shows: the list of files, one file, the workspace, what the model saw for an answer, or the files it changed. */
type PanelSearch = {
  panel?: 'files' | 'workspace';
  file?: string;
  saw?: string;
  changed?: string;
  cite?: string;
  at?: string;
  port?: number;
};
const panelSearch = (search: Record<string, unknown>): PanelSearch => {
  // What an answer cites: the name of a file and of a page in it, as the model wrote them.
  if (typeof search.cite === 'string' && typeof search.at === 'string') {
    return { cite: search.cite.slice(0, 255), at: search.at.slice(0, 300) };
  }
  if (typeof search.file === 'string' && clientIdPattern.test(search.file)) return { file: search.file };
  if (typeof search.saw === 'string' && clientIdPattern.test(search.saw)) return { saw: search.saw };
  if (typeof search.changed === 'string' && clientIdPattern.test(search.changed)) return { changed: search.changed };
  if (search.panel === 'workspace') return { panel: 'workspace', ...appSearch(search) };
  return search.panel === 'files' ? { panel: 'files' } : {};
};

/** The app of the workspace that is shown. */
function appSearch(search: Record<string, unknown>): { port?: number; at?: string } {
  const port = readPort(search.port);
  return port === undefined ? {} : { port, at: readAppPath(search.at) };
}

const newConversationRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  validateSearch: (search: Record<string, unknown>): { project?: string; assistant?: string; temporary?: true } => ({
    ...(typeof search.project === 'string' && clientIdPattern.test(search.project) ? { project: search.project } : {}),
    ...(typeof search.assistant === 'string' && clientIdPattern.test(search.assistant)
      ? { assistant: search.assistant }
      : {}),
    ...(search.temporary === true ? { temporary: true } : {}),
  }),
  component: NewConversationPage,
});
const conversationRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/c/$chatId',
  validateSearch: (search: Record<string, unknown>): { find?: string } & PanelSearch => ({
    ...(typeof search.find === 'string' && search.find.trim() !== '' ? { find: search.find.slice(0, 200) } : {}),
    ...panelSearch(search),
  }),
  component: ConversationPage,
});
type ProjectTab = 'chats' | 'files' | 'instructions' | 'members';
const projectRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/p/$projectId',
  validateSearch: (search: Record<string, unknown>): { tab?: ProjectTab; file?: string } => ({
    ...(search.tab === 'files' || search.tab === 'instructions' || search.tab === 'members' ? { tab: search.tab } : {}),
    ...(typeof search.file === 'string' && clientIdPattern.test(search.file) ? { file: search.file } : {}),
  }),
  component: lazyRouteComponent(() => import('./projects/project-page.tsx'), 'ProjectPage'),
});
const assistantsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/assistants',
  component: lazyRouteComponent(() => import('./assistants/assistants-page.tsx'), 'AssistantsPage'),
});
const assistantRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/assistants/$assistantId',
  component: lazyRouteComponent(() => import('./assistants/assistant-page.tsx'), 'AssistantPage'),
});
type WorkspaceSearch = { tab?: WorkspaceTab; path?: string; port?: number; at?: string };
const workspaceRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/workspace',
  validateSearch: (search: Record<string, unknown>): WorkspaceSearch => ({
    ...(search.tab === 'terminal' || search.tab === 'processes' ? { tab: search.tab } : {}),
    ...(search.tab === 'apps' ? { tab: search.tab, ...appSearch(search) } : {}),
    ...(typeof search.path === 'string' && readPath(search.path) !== home ? { path: readPath(search.path) } : {}),
  }),
  component: lazyRouteComponent(() => import('./workspace/workspace-page.tsx'), 'WorkspacePage'),
});
const settingsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
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
  component: lazyRouteComponent(() => import('./settings/account-page.tsx'), 'AccountPage'),
});
const personalizationRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/personalization',
  component: lazyRouteComponent(() => import('./settings/personalization-page.tsx'), 'PersonalizationPage'),
});
const movingRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/import-export',
  component: lazyRouteComponent(() => import('./moving/moving-page.tsx'), 'MovingPage'),
});
const promptsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/prompts',
  component: lazyRouteComponent(() => import('./assistants/prompts-page.tsx'), 'PromptsPage'),
});
const skillsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/skills',
  component: lazyRouteComponent(() => import('./skills/skills-page.tsx'), 'SkillsPage'),
});
const providersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/providers',
  component: lazyRouteComponent(() => import('./settings/providers-page.tsx'), 'ProvidersPage'),
});
const modelsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/models',
  component: lazyRouteComponent(() => import('./settings/models-page.tsx'), 'ModelsPage'),
});
const tiersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/tiers',
  component: lazyRouteComponent(() => import('./settings/tiers-page.tsx'), 'TiersPage'),
});
const toolsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/tools',
  component: lazyRouteComponent(() => import('./settings/tools-page.tsx'), 'ToolsPage'),
});
const adminRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/admin',
  component: lazyRouteComponent(() => import('./admin/admin-page.tsx'), 'AdminPage'),
});
const adminIndexRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/admin/users', replace: true });
  },
});
const usersRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/users',
  component: lazyRouteComponent(() => import('./admin/users-page.tsx'), 'UsersPage'),
});
const userRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/users/$userId',
  component: lazyRouteComponent(() => import('./admin/user-page.tsx'), 'UserPage'),
});
const userAccountRoute = createRoute({
  getParentRoute: () => userRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./admin/user-account-page.tsx'), 'UserAccountPage'),
});
const userProvidersRoute = createRoute({
  getParentRoute: () => userRoute,
  path: '/providers',
  component: lazyRouteComponent(() => import('./settings/providers-page.tsx'), 'ProvidersPage'),
});
const userModelsRoute = createRoute({
  getParentRoute: () => userRoute,
  path: '/models',
  component: lazyRouteComponent(() => import('./settings/models-page.tsx'), 'ModelsPage'),
});
const userTiersRoute = createRoute({
  getParentRoute: () => userRoute,
  path: '/tiers',
  component: lazyRouteComponent(() => import('./settings/tiers-page.tsx'), 'TiersPage'),
});
const userToolsRoute = createRoute({
  getParentRoute: () => userRoute,
  path: '/tools',
  component: lazyRouteComponent(() => import('./settings/tools-page.tsx'), 'ToolsPage'),
});
const invitationsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/invitations',
  component: lazyRouteComponent(() => import('./admin/invitations-page.tsx'), 'InvitationsPage'),
});
const brandingRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/branding',
  component: lazyRouteComponent(() => import('./admin/branding-page.tsx'), 'BrandingPage'),
});
const instructionsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/instructions',
  component: lazyRouteComponent(() => import('./admin/instructions-page.tsx'), 'InstructionsPage'),
});
const singleSignOnRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/single-sign-on',
  component: lazyRouteComponent(() => import('./admin/single-sign-on-page.tsx'), 'SingleSignOnPage'),
});
const manifestRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/manifest',
  component: lazyRouteComponent(() => import('./admin/manifest-page.tsx'), 'ManifestPage'),
});
const auditRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/audit',
  component: lazyRouteComponent(() => import('./admin/audit-page.tsx'), 'AuditPage'),
});

const usageRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/usage',
  component: lazyRouteComponent(() => import('./usage/my-usage-page.tsx'), 'MyUsagePage'),
});
const allUsageRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/usage',
  component: lazyRouteComponent(() => import('./usage/all-usage-page.tsx'), 'AllUsagePage'),
});
const budgetsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/budgets',
  component: lazyRouteComponent(() => import('./usage/budgets-page.tsx'), 'BudgetsPage'),
});

const backupsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/backups',
  component: lazyRouteComponent(() => import('./admin/backups-page.tsx'), 'BackupsPage'),
});

const offeredServersRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: '/mcp',
  component: lazyRouteComponent(() => import('./admin/offered-servers-page.tsx'), 'OfferedServersPage'),
});

/** Unknown addresses, shown inside the frame. */
const nowhereRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '$',
  component: NotFoundPage,
});

type ReturnSearch = { return?: string; error?: string };
const returnSearch = (search: Record<string, unknown>): ReturnSearch => ({
  ...(typeof search.return === 'string' && isOwnPath(search.return) ? { return: search.return } : {}),
  ...(typeof search.error === 'string' ? { error: search.error } : {}),
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: returnSearch,
  beforeLoad: async ({ context }) => {
    const { setup } = await context.queries.ensureQueryData(publicConfigQuery);
    if (setup.required) throw redirect({ to: '/setup' });
  },
  component: lazyRouteComponent(() => import('./entry/sign-in-page.tsx'), 'SignInPage'),
});
const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  beforeLoad: async ({ context }) => {
    const { setup } = await context.queries.ensureQueryData(publicConfigQuery);
    if (setup.required) return;
    const user = await findUser(context.queries, '/setup');
    if (user.role !== 'admin') throw redirect({ to: '/' });
  },
  component: lazyRouteComponent(() => import('./setup/setup-page.tsx'), 'SetupPage'),
});
const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/password',
  validateSearch: returnSearch,
  beforeLoad: ({ context, search }) => findUser(context.queries, search.return ?? '/').then(() => undefined),
  component: lazyRouteComponent(() => import('./entry/password-page.tsx'), 'PasswordPage'),
});
const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./entry/invitation-page.tsx'), 'InvitationPage'),
});

const routeTree = rootRoute.addChildren([
  signedInRoute.addChildren([
    newConversationRoute,
    conversationRoute,
    projectRoute,
    assistantsRoute,
    assistantRoute,
    workspaceRoute,
    nowhereRoute,
    settingsRoute.addChildren([
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
      adminRoute.addChildren([
        adminIndexRoute,
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
    ]),
  ]),
  signInRoute,
  setupRoute,
  passwordRoute,
  invitationRoute,
]);

/** A return path must stay on this origin: `//host` and `/\host` would leave it. */
function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])/.test(path);
}

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
