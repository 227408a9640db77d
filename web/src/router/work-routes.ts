import { clientPages } from '@homeport/contracts/client-pages';
import { clientIdPattern } from '@homeport/contracts/limits';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ConversationPage } from '../chat/lazy-conversation-page.ts';
import { NewConversationPage } from '../chat/new-conversation-page.tsx';
import { home, readAppPath, readPath, readPort, type WorkspaceTab } from '../workspace/files/paths.ts';
import { signedInRoute } from './signed-in-route.ts';

/**
 * Content of the side panel: the list of files, one file, the workspace, the prompt context of an answer, or its changed
 * files.
 */
type PanelSearch = {
  panel?: 'files' | 'workspace';
  file?: string;
  saw?: string;
  changed?: string;
  cite?: string;
  at?: string;
  port?: number;
  path?: string;
};
const panelSearch = (search: Record<string, unknown>): PanelSearch => {
  // A citation: the names of a file and of a page in it, as the model wrote them.
  if (typeof search.cite === 'string' && typeof search.at === 'string') {
    return { cite: search.cite.slice(0, 255), at: search.at.slice(0, 300) };
  }
  if (typeof search.file === 'string' && clientIdPattern.test(search.file)) return { file: search.file };
  if (typeof search.saw === 'string' && clientIdPattern.test(search.saw)) return { saw: search.saw };
  if (typeof search.changed === 'string' && clientIdPattern.test(search.changed)) return { changed: search.changed };
  if (search.panel === 'workspace') return { panel: 'workspace', ...pathSearch(search), ...appSearch(search) };
  return search.panel === 'files' ? { panel: 'files' } : {};
};

/** The place in the workspace that is shown. */
function pathSearch(search: Record<string, unknown>): { path?: string } {
  const path = readPath(search.path);
  return path === home ? {} : { path };
}

/** The app of the workspace that is shown. */
function appSearch(search: Record<string, unknown>): { port?: number; at?: string } {
  const port = readPort(search.port);
  return port === undefined ? {} : { port, at: readAppPath(search.at) };
}

const newConversationRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: clientPages.start,
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
  path: clientPages.conversation,
  validateSearch: (search: Record<string, unknown>): { find?: string } & PanelSearch => ({
    ...(typeof search.find === 'string' && search.find.trim() !== '' ? { find: search.find.slice(0, 200) } : {}),
    ...panelSearch(search),
  }),
  component: ConversationPage,
});
type ProjectTab = 'chats' | 'files' | 'instructions' | 'members';
const projectRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: clientPages.project,
  validateSearch: (search: Record<string, unknown>): { tab?: ProjectTab; file?: string } => ({
    ...(search.tab === 'files' || search.tab === 'instructions' || search.tab === 'members' ? { tab: search.tab } : {}),
    ...(typeof search.file === 'string' && clientIdPattern.test(search.file) ? { file: search.file } : {}),
  }),
  component: lazyRouteComponent(() => import('../projects/project-page.tsx'), 'ProjectPage'),
});
const assistantsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: clientPages.assistants,
  component: lazyRouteComponent(() => import('../assistants/assistants-page.tsx'), 'AssistantsPage'),
});
const assistantRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: clientPages.assistant,
  validateSearch: (search: Record<string, unknown>): { file?: string } =>
    typeof search.file === 'string' && clientIdPattern.test(search.file) ? { file: search.file } : {},
  component: lazyRouteComponent(() => import('../assistants/assistant-page.tsx'), 'AssistantPage'),
});
type WorkspaceSearch = { tab?: WorkspaceTab; path?: string; port?: number; at?: string };
const workspaceRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: clientPages.workspace,
  validateSearch: (search: Record<string, unknown>): WorkspaceSearch => ({
    ...(search.tab === 'terminal' || search.tab === 'processes' ? { tab: search.tab } : {}),
    ...(search.tab === 'apps' ? { tab: search.tab, ...appSearch(search) } : {}),
    ...pathSearch(search),
  }),
  component: lazyRouteComponent(() => import('../workspace/workspace-page.tsx'), 'WorkspacePage'),
});

/** Conversations and what belongs to them. */
export const workRoutes = [
  newConversationRoute,
  conversationRoute,
  projectRoute,
  assistantsRoute,
  assistantRoute,
  workspaceRoute,
] as const;
