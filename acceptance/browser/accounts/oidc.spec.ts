import { startProgram } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { addPerson, test as base, end, expect, signInElsewhere } from '../fixtures.ts';

/** Single sign-on in a real browser, with an independent provider (npm `oidc-provider`). */

type Configure = (oidc: Record<string, unknown>) => Promise<void>;
const test = base.extend<object, { configure: Configure }>({
  configure: [
    async ({ installation }, use) => {
      const redirect = `${installation.url}/api/auth/oauth2/callback/acme`;
      const provider = await startProgram('server/test/fakes/real-identity-provider.ts', { REDIRECT_URI: redirect });
      await expect.poll(() => provider.output()).toContain('clientSecret');
      const client = JSON.parse(provider.output().split('\n')[1] ?? '');
      const admin = await signInElsewhere(installation.url, 'ada@example.org');
      // With the secret each time, because it belongs to the configuration's current address.
      const configure: Configure = (oidc) => admin.must('POST', '/api/admin/config', { oidc: { ...client, ...oidc } });
      await configure({ enabled: true, providerKey: 'acme', label: 'Acme & Söhne', issuer: provider.url });
      await use(configure);
      await configure({ enabled: false });
      await end(provider);
    },
    { scope: 'worker', timeout: 300_000 },
  ],
});

const button = { name: 'Continue with Acme & Söhne' };

test('signs in through the provider and returns to the same page', async ({ page, installation, configure }) => {
  await configure({ autoProvision: true });
  await page.goto(`${installation.url}/settings/account`);
  await expect(page).toHaveURL(/\/sign-in\?return=%2Fsettings%2Faccount$/);
  await expect(page.getByRole('button', button)).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize({ width: 320, height: 700 });
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.getByRole('button', button).click();
  await page.getByPlaceholder('Enter any login').fill('grace');
  await page.getByPlaceholder('and password').fill('anything');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page).toHaveURL(`${installation.url}/settings/account`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Account');
  const me = await page.request.get(`${installation.url}/api/me`);
  expect((await me.json()).user).toMatchObject({ email: 'grace@corp.example', role: 'user' });
});

test('shows refusals on the sign-in page, in both languages', async ({ page, installation, configure }) => {
  await configure({ autoProvision: false, linkByEmail: false });
  await page.goto(`${installation.url}/sign-in`);
  await page.getByRole('button', button).click();
  await page.getByPlaceholder('Enter any login').fill('stranger');
  await page.getByPlaceholder('and password').fill('anything');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('alert')).toHaveText(
    'You don’t have an account here yet. Ask your administrator for an invitation.',
  );
  await expect(page).toHaveURL(/\/sign-in\?error=signup_disabled$/);
  await expectAccessible(page);

  const { email } = await addPerson(installation);
  await page.context().clearCookies();
  await page.goto(`${installation.url}/sign-in`);
  await page.getByRole('button', button).click();
  await page.getByPlaceholder('Enter any login').fill(email);
  await page.getByPlaceholder('and password').fill('anything');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('alert')).toContainText('isn’t linked to Acme & Söhne.');

  await page.evaluate(() => localStorage.setItem('language', 'de'));
  await page.goto(`${installation.url}/sign-in?error=domain_not_allowed`);
  await expect(page.getByRole('alert')).toHaveText(
    'Mit E-Mail-Adressen deiner Domain kann man sich hier nicht anmelden.',
  );
  // An unknown code is not shown.
  await page.goto(`${installation.url}/sign-in?error=%3Cb%3Eevil`);
  await expect(page.getByRole('alert')).not.toContainText('evil');
});

test('reports an unavailable provider at the button, and retries there', async ({ page, installation, configure }) => {
  const stored = await page.request.get(`${installation.url}/api/public-config`);
  expect((await stored.json()).sso.label).toBe('Acme & Söhne');
  await configure({ discoveryUrl: 'http://127.0.0.1:9/' });
  await page.goto(`${installation.url}/sign-in`);
  await page.getByRole('button', button).click();
  await expect(page.getByRole('alert')).toContainText('Couldn’t reach Acme & Söhne. Try again in a moment.');
  await expectAccessible(page);
  await configure({ discoveryUrl: '' });
  await page.getByRole('button', button).click();
  await expect(page.getByPlaceholder('Enter any login')).toBeVisible();
});

test('hides the button after single sign-on is switched off', async ({ page, installation, configure }) => {
  await configure({ enabled: false });
  await page.goto(`${installation.url}/sign-in`);
  await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible();
  await expect(page.getByRole('button', button)).toHaveCount(0);
  await configure({ enabled: true });
  await page.reload();
  await expect(page.getByRole('button', button)).toBeVisible();
});
