import assert from 'node:assert/strict';

/**
 * Walks through the provider's pages like a browser; without a login it cancels. Returns the address at `home` at the
 * end.
 */
export async function agreeAt(home: string, authorizationUrl: string, login: string | undefined): Promise<string> {
  const cookies = new Map<string, string>();
  let url = authorizationUrl;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 20; step += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const page = await response.text();
    form = undefined;
    if (location !== null) {
      url = new URL(location, url).href;
      if (url.startsWith(home)) return url;
      continue;
    }
    assert.equal(response.status, 200, page);
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1] ?? assert.fail(page);
    if (login === undefined) {
      url = new URL(/href="([^"]*\/abort)"/.exec(page)?.[1] ?? assert.fail(page), url).href;
      continue;
    }
    url = new URL(action, url).href;
    form = new URLSearchParams(
      page.includes('value="login"') ? { prompt: 'login', login, password: 'x' } : { prompt: 'consent' },
    );
  }
  throw new Error('The provider never came to an end');
}
