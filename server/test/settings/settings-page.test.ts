import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';

/** The first HTML and the manifest already have the installation's own branding: no other is shown for a moment. */

let folder: string;
let app: TestApp;
let admin: SignedIn;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-page-'));
  const page = `<head><title>Homeport</title><link rel="icon" href="/favicon.svg"><link rel="apple-touch-icon" href="/icon-192.png">
    <link rel="manifest" href="/manifest.webmanifest"><script type="application/json" id="public-config">"__PUBLIC_CONFIG__"</script></head>`;
  await writeFile(join(folder, 'index.html'), page);
  const manifest = { name: 'Homeport', short_name: 'Homeport', id: '/', icons: [{ src: '/favicon.svg' }] };
  await writeFile(join(folder, 'manifest.webmanifest'), JSON.stringify(manifest));
  app = await startTestApp({ webFolder: folder });
  admin = await app.signIn({ role: 'admin' });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true });
});

const brand = (branding: object) => admin.call('POST /api/admin/config', { branding });
const page = async () => (await app.anonymous.fetch('/sign-in')).text();
const manifest = async (): Promise<Json> => (await app.anonymous.fetch('/manifest.webmanifest')).json();

test('a fresh installation shows the built-in branding', async () => {
  assert.match(await page(), /<title>Homeport<\/title><link rel="icon" href="\/favicon.svg">/);
  assert.deepEqual((await manifest()).icons, [{ src: '/favicon.svg' }]);
});

test('name, icon and color are in the first answer, and hostile ones stay text', async () => {
  const productName = `</title><script>alert(1)</script>&"'`;
  const tagline = '</script><!-- $& $1';
  const faviconDataUrl = `data:image/svg+xml,<svg onload="alert(1)" id='"><script>'></svg>`;
  const set = await brand({ productName, tagline, faviconDataUrl, primaryColor: '#112233' });
  assert.equal(set.status, 200);
  const html = await page();
  assert.ok(html.includes("<title>&lt;/title>&lt;script>alert(1)&lt;/script>&amp;&quot;'</title>"), html);
  const escaped = faviconDataUrl.replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  assert.ok(html.includes(`<link rel="icon" href="${escaped}">`), html);
  assert.ok(html.includes(`<link rel="apple-touch-icon" href="${escaped}">`), html);
  assert.equal(html.match(/<script/g)?.length, 1);
  const config = JSON.parse(/id="public-config">(.*?)<\/script>/s.exec(html)?.[1] ?? '');
  const [publicConfig, { maintenance }, { version }] = await Promise.all(
    ['GET /api/public-config', 'GET /api/maintenance', 'GET /api/live'].map(
      async (route) => (await app.anonymous.call(route)).body,
    ),
  );
  assert.deepEqual(config, { ...publicConfig, maintenance, version });
  assert.equal(config.branding.tagline, tagline);

  const answer = await app.anonymous.fetch('/manifest.webmanifest');
  assert.equal(answer.headers.get('content-type'), 'application/manifest+json');
  assert.deepEqual(await answer.json(), {
    name: productName,
    short_name: productName,
    description: tagline,
    id: '/',
    theme_color: '#112233',
    icons: [{ src: faviconDataUrl, sizes: 'any' }],
  });
});

test('a new product name is on the next page', async () => {
  await brand({ productName: 'Second', faviconDataUrl: null, tagline: '' });
  assert.match(await page(), /<title>Second<\/title><link rel="icon" href="\/favicon.svg">/);
  const shown = await manifest();
  assert.deepEqual([shown.name, shown.description, shown.icons], ['Second', undefined, [{ src: '/favicon.svg' }]]);
});
