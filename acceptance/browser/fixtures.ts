import { join } from 'node:path';
import { type BrowserContext, test as base, expect, type Page } from '@playwright/test';
import { addUsers, DatabaseSession } from '../database.ts';
import { Caller, type Running, scratchFolder, setUp, startProduct, startProvider } from '../product.ts';
import { patience } from './timers.ts';

/** Every account here has the password of the first administrator. */
export const password = 'correct-horse-42';

export type Installation = { url: string; dataDir: string; query: (sql: string) => Promise<(string | null)[][]> };
export type Person = { email: string; caller: Caller };

type TestFixtures = {
  /** A person with their own empty catalogue, signed in in `page`. */
  person: Person;
  /** Unexpected errors of the page fail the test. */
  quiet: undefined;
};
type WorkerFixtures = {
  /** The scripted provider's base URL. */
  provider: string;
  /** The built product with its first administrator. */
  installation: Installation;
};

export const test = base.extend<TestFixtures, WorkerFixtures>({
  provider: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures from the pattern
    async ({}, use) => {
      const running = await startProvider();
      await use(running.url);
      await end(running);
    },
    { scope: 'worker' },
  ],
  installation: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures from the pattern
    async ({}, use) => {
      const dataDir = join(scratchFolder(), 'data');
      const running = await startProduct(dataDir);
      await setUp(running.url);
      await use({ url: running.url, dataDir, query: (sql) => queryOnce(dataDir, sql) });
      await end(running);
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  context: async ({ context }, use) => {
    await context.addInitScript(patience);
    await use(context);
  },
  person: async ({ installation, context }, use) => {
    const person = await addPerson(installation);
    await giveCookie(context, installation.url, person.caller);
    await use(person);
  },
  quiet: [
    async ({ page }, use) => {
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => {
        // A refused request is up to the test; a violated policy or a broken component is not.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
          errors.push(message.text());
        }
      });
      await use(undefined);
      expect(errors).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

let people = 0;

/** A new account, signed in elsewhere. */
export async function addPerson(installation: Installation): Promise<Person> {
  people += 1;
  const email = `person-${process.pid}-${people}@example.org`;
  await addUsers(installation.dataDir, [email]);
  return { email, caller: await signInElsewhere(installation.url, email) };
}

export async function signInElsewhere(url: string, email: string): Promise<Caller> {
  const response = await fetch(`${url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  if (!response.ok) throw new Error(`Sign-in answered ${response.status}: ${await response.text()}`);
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '');
  return new Caller(url, cookies.join('; '));
}

export async function giveCookie(context: BrowserContext, url: string, caller: Caller): Promise<void> {
  const pairs = caller.cookie.split('; ').map((pair) => pair.split('='));
  await context.addCookies(pairs.map(([name = '', ...value]) => ({ name, value: value.join('='), url })));
}

/** Fills in the sign-in page and sends it. */
export async function signIn(page: Page, email: string, word = password): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(word);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Lets the provider's paused answers finish. */
export async function finishAnswers(provider: string): Promise<void> {
  await fetch(new URL('/release', provider), { method: 'POST' });
}

/** Runs SQL on the product's own database; each value as text. */
export async function queryOnce(dataDir: string, sql: string): Promise<(string | null)[][]> {
  const session = await DatabaseSession.open(dataDir);
  try {
    return await session.query(sql);
  } finally {
    session.close();
  }
}

export async function end(running: Running): Promise<void> {
  running.kill('SIGTERM');
  await running.exited;
}
