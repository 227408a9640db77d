import { type Json, startTestApp, type TestApp, type TestAppOptions } from '../../app.ts';
import { type FakeIdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';

/** The part of a browser that single sign-on needs: it keeps cookies, and returns where it landed. */
export type Browser = { cookies: Map<string, string> };
export type Landing = { path: string; error: string | null; email: string | undefined; status: number };
export type OidcWorld = {
  app: TestApp;
  idp: FakeIdentityProvider;
  /** Changes the OIDC configuration as an administrator. */
  configure(oidc: Record<string, unknown>): Promise<void>;
  stop(): Promise<void>;
};

export const openBrowser = (): Browser => ({ cookies: new Map() });

/** An application with this provider as its enabled OIDC, which neither provisions nor links. */
export async function startOidcWorld(options: TestAppOptions = {}): Promise<OidcWorld> {
  const idp = await startIdentityProvider();
  const app = await startTestApp(options);
  const admin = await app.signIn({ role: 'admin' });
  const world: OidcWorld = {
    app,
    idp,
    async configure(oidc) {
      const { status, text } = await admin.call('POST /api/admin/config', { oidc });
      if (status !== 200) throw new Error(`The configuration was answered ${status}: ${text}`);
    },
    async stop() {
      await app.stop();
      await idp.stop();
    },
  };
  await world.configure({ enabled: true, providerKey: 'corp', label: 'Corp', issuer: idp.issuer, ...idp.client });
  return world;
}

/** Requests the provider's address. Throws if the answer has none. */
export async function begin(app: TestApp, browser: Browser, body: Record<string, unknown> = {}): Promise<string> {
  const answer = await request(app, browser, '/api/auth/sign-in/social', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      provider: 'corp',
      callbackURL: '/c/1',
      errorCallbackURL: '/sign-in?return=%2Fc%2F1',
      ...body,
    }),
  });
  if (!answer.ok) throw new Error(`Sign-in answered ${answer.status}: ${await answer.text()}`);
  const begun: Json = await answer.json();
  return begun.url;
}

/** Comes back from the provider; returns the signed-in user. */
export async function comeBack(app: TestApp, browser: Browser, address: string): Promise<Landing> {
  const { pathname, search } = new URL(address);
  const answer = await request(app, browser, pathname + search);
  const location = new URL(answer.headers.get('location') ?? '', app.url);
  if (location.origin !== app.url) throw new Error(`Landed at ${location}`);
  const me = await request(app, browser, '/api/me');
  const error = location.searchParams.get('error');
  const body: Json = await me.json();
  const email = me.ok ? body.user.email : undefined;
  return { path: location.pathname, error, email, status: answer.status };
}

/** The whole flow: begin, consent, come back. */
export async function signInBy({ app, idp }: OidcWorld, browser: Browser = openBrowser()): Promise<Landing> {
  return comeBack(app, browser, idp.agree(await begin(app, browser)));
}

export async function request(app: TestApp, browser: Browser, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (browser.cookies.size > 0) {
    headers.set('cookie', [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '));
  }
  const response = await fetch(app.url + path, { ...init, headers, redirect: 'manual' });
  for (const cookie of response.headers.getSetCookie()) keep(browser, cookie);
  return response;
}

function keep(browser: Browser, cookie: string): void {
  const [pair = ''] = cookie.split(';');
  const name = pair.slice(0, pair.indexOf('='));
  const value = pair.slice(pair.indexOf('=') + 1);
  if (value === '' || /max-age=0/i.test(cookie)) browser.cookies.delete(name);
  else browser.cookies.set(name, value);
}
