/** Paths of the browser client's pages: its router renders them, and the server serves the client's HTML for them. */
export const clientPages = {
  start: '/',
  conversation: '/c/$chatId',
  project: '/p/$projectId',
  assistants: '/assistants',
  assistant: '/assistants/$assistantId',
  workspace: '/workspace',
  /** With all below it. */
  settings: '/settings',
  signIn: '/sign-in',
  setup: '/setup',
  password: '/password',
  invitation: '/invitation',
} as const;

const patterns = Object.values(clientPages).map((path) =>
  path === clientPages.settings ? `${path}(?:/.*)?` : path.replace(/\$\w+/, '[^/]+'),
);
const pattern = new RegExp(`^(?:${patterns.join('|')})$`);

/** True if the client has a page at this path; a trailing slash is ignored. */
export function isClientPage(path: string): boolean {
  return pattern.test(path === '/' ? path : path.replace(/\/$/, ''));
}
