import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { clientPages } from '@homeport/contracts/client-pages';
import { startTestApp, type TestApp } from '../app.ts';

let app: TestApp;
let webFolder: string;
before(async () => {
  webFolder = await mkdtemp(join(tmpdir(), 'homeport-web-'));
  await mkdir(join(webFolder, 'assets/frames'), { recursive: true });
  await writeFile(join(webFolder, 'index.html'), '<!doctype html><title>Page</title>');
  await writeFile(join(webFolder, 'diagram.html'), '<!doctype html><title>Diagram</title>');
  await writeFile(join(webFolder, 'rendered.html'), '<!doctype html><title>Preview</title>');
  await writeFile(join(webFolder, 'assets/main-1.js'), 'main();');
  await writeFile(join(webFolder, 'assets/frames/page-1.js'), 'draw();');
  await mkdir(join(webFolder, 'docs/assets'), { recursive: true });
  await writeFile(join(webFolder, 'docs/index.html'), '<!doctype html><title>Documentation</title>');
  await writeFile(join(webFolder, 'docs/install.html'), '<!doctype html><title>Install</title>');
  await writeFile(join(webFolder, 'docs/install.html.br'), 'compressed');
  await writeFile(join(webFolder, 'docs/404.html'), '<!doctype html><title>No such page</title>');
  await writeFile(join(webFolder, 'docs/assets/site-1.js'), 'search();');
  app = await startTestApp({ webFolder });
});
after(async () => {
  await app.stop();
  await rm(webFolder, { recursive: true });
});

const headersOf = async (path: string) => {
  const response = await fetch(app.url + path);
  await response.arrayBuffer();
  assert.equal(response.status, 200, path);
  return response.headers;
};
const policyOf = async (path: string) =>
  ((await headersOf(path)).get('content-security-policy') ?? '').split('; ').filter((each) => each !== '');

test('the client cannot be framed, runs only its own scripts and frames only pages of Homeport', async () => {
  const policy = await policyOf('/');
  assert.ok(policy.includes("default-src 'none'"));
  assert.ok(policy.includes("frame-src 'self'"));
  assert.ok(policy.includes("frame-ancestors 'none'"));
  assert.ok(policy.includes("require-trusted-types-for 'script'"));
  assert.ok(!policy.some((each) => /^script-src.*unsafe/.test(each)));
});

test('serves every page of the client, including that of an invitation’s link', async () => {
  const pages = Object.values(clientPages).map((path) => path.replace(/\$\w+/, 'some-id'));
  for (const path of [...pages, '/settings/admin/users/some-id', '/assistants/', '/invitation?x=1'])
    await headersOf(path);
  for (const path of ['/nothing', '/invitations', '/invitation/x', '/workspace/x', '/c/', '/settingsx']) {
    const response = await fetch(app.url + path);
    await response.arrayBuffer();
    assert.equal(response.status, 404, path);
  }
});

test('the page that draws diagrams has no origin, and requests nothing but its scripts', async () => {
  assert.deepEqual(await policyOf('/diagram.html'), [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ]);
});

test('the page that runs model-made content has no origin, reaches nothing, and blocks nested frames', async () => {
  const policy = await policyOf('/rendered.html');
  for (const rule of ["default-src 'none'", 'sandbox allow-scripts', "require-trusted-types-for 'script'"]) {
    assert.ok(policy.includes(rule), rule);
  }
  assert.ok(!policy.some((rule) => /connect-src|frame-src|allow-same-origin/.test(rule)));
});

test('a page without an origin can read the diagram scripts, and nothing else of the server', async () => {
  assert.equal((await headersOf('/assets/frames/page-1.js')).get('access-control-allow-origin'), '*');
  for (const path of ['/', '/diagram.html', '/assets/main-1.js', '/api/health']) {
    assert.equal((await headersOf(path)).get('access-control-allow-origin'), null, path);
  }
});

test('serves the documentation to everyone, with a tag, and it runs only its own files', async () => {
  for (const path of ['/docs', '/docs/', '/docs/install', '/docs/install/']) {
    const headers = await headersOf(path);
    assert.equal(headers.get('cache-control'), 'no-cache', path);
    const again = await fetch(app.url + path, { headers: { 'if-none-match': `"other", W/${headers.get('etag')}` } });
    assert.equal(again.status, 304, path);
    assert.equal(again.headers.get('etag'), headers.get('etag'));
  }
  const policy = await policyOf('/docs/install');
  for (const rule of ["default-src 'none'", "script-src 'self'", "trusted-types 'none'", "frame-ancestors 'none'"]) {
    assert.ok(policy.includes(rule), rule);
  }
  assert.match((await headersOf('/docs/assets/site-1.js')).get('cache-control') ?? '', /immutable/);
});

test('each encoding of a page has a tag of its own', async () => {
  const tags = await Promise.all(
    ['br', 'identity'].map(async (encoding) => {
      const response = await fetch(`${app.url}/docs/install`, {
        headers: { 'accept-encoding': encoding },
        method: 'HEAD',
      });
      return `${response.headers.get('content-encoding')} ${response.headers.get('etag')}`;
    }),
  );
  assert.match(tags[0] ?? '', /^br "/);
  assert.match(tags[1] ?? '', /^null "/);
  assert.notEqual(tags[0]?.split(' ')[1], tags[1]?.split(' ')[1]);
});

test("answers the documentation's own 404 for missing pages and files, and never leaves its folder", async () => {
  const paths = ['nothing', 'install.html', '404', '404.html', 'assets/site-2.js', 'install.html.br', '..%2findex'];
  for (const path of paths) {
    const response = await fetch(`${app.url}/docs/${path}`);
    const text = await response.text();
    assert.equal(response.status, 404, path);
    assert.match(text, /No such page/, path);
  }
  // Neither the API's page nor the client's own pages are shadowed.
  assert.match(await (await fetch(`${app.url}/api/docs`)).text(), /Homeport API/);
  assert.equal((await fetch(`${app.url}/docsx`)).status, 404);
});
