import { randomUUID } from 'node:crypto';
import type { BrowserContext, Page } from '@playwright/test';
import { addModels, administrator, type Caller } from '../product.ts';
import { expect, giveCookie, type Installation, signInElsewhere } from './fixtures.ts';

/** Every page of an administrator whose conversation, project, user and catalogue are not empty. */
export async function signedInPages(
  context: BrowserContext,
  installation: Installation,
  provider: string,
): Promise<string[]> {
  const caller = await signInElsewhere(installation.url, administrator.email);
  await giveCookie(context, installation.url, caller);
  await fillCatalogue(caller, provider);
  const chat = randomUUID();
  await caller.must('POST', '/api/chats', { id: chat, title: 'A walk' });
  const { project } = (await caller.must('POST', '/api/projects', { name: 'Garden' })) as { project: { id: string } };
  const { assistant } = (await caller.must('POST', '/api/assistants', {
    name: 'Editor',
    parameters: { temperature: 0.5 },
    starters: ['Shorten this:'],
  })) as { assistant: { id: string } };
  const { user } = (await caller.must('GET', '/api/me')) as { user: { id: string } };
  const ofUser = ['', '/providers', '/models', '/tiers', '/tools'];
  return [
    '/',
    `/c/${chat}`,
    ...['', '?tab=files', '?tab=instructions', '?tab=members'].map((each) => `/p/${project.id}${each}`),
    '/workspace',
    '/assistants',
    '/assistants/new',
    `/assistants/${assistant.id}`,
    ...(await sectionsOfSettings(context, installation)),
    ...ofUser.map((each) => `/settings/admin/users/${user.id}${each}`),
    '/nowhere',
  ];
}

/** All pages of the settings, so that a new section is checked, too. */
async function sectionsOfSettings(context: BrowserContext, installation: Installation): Promise<string[]> {
  const page = await context.newPage();
  // The list of narrow screens has all pages.
  await page.setViewportSize({ width: 820, height: 1180 });
  await page.goto(`${installation.url}/settings/account`);
  await page.getByRole('button', { name: /Section:|Abschnitt:/ }).click();
  await expect(page.locator('nav a[href="/settings/admin/users"]').last()).toBeVisible();
  const paths = await page.evaluate<string[]>(
    `[...document.querySelectorAll('nav a[href^="/settings/"]')].map((link) => link.getAttribute('href'))`,
  );
  await page.close();
  expect(paths.length).toBeGreaterThan(15);
  return [...new Set(paths)];
}

async function fillCatalogue(caller: Caller, provider: string): Promise<void> {
  const { providers } = (await caller.must('GET', '/api/providers')) as { providers: unknown[] };
  if (providers.length === 0) await addModels(caller, provider, ['echo']);
  const { servers } = (await caller.must('GET', '/api/mcp')) as { servers: unknown[] };
  if (servers.length === 0) await caller.must('POST', '/api/mcp', { name: 'Away', url: 'http://127.0.0.1:9/mcp' });
}

/** The page after all of its requests have ended. */
export async function open(page: Page, installation: Installation, path: string): Promise<void> {
  await page.goto(`${installation.url}${path}`);
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
}
