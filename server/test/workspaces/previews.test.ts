import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';
import { PreviewBrowser } from './preview-browser.ts';

let app: TestApp;
let runtime: ProcessRuntime;
/** The last request to the app in the workspace, and its answer. */
let asked: { method: string | undefined; url: string | undefined; headers: IncomingMessage['headers']; body: string };
let answer: (outgoing: ServerResponse, incoming: IncomingMessage) => void;
const server = createServer(async (incoming, outgoing) => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const { method, url, headers } = incoming;
  asked = { method, url, headers, body: Buffer.concat(chunks).toString() };
  answer(outgoing, incoming);
});
// Sends the client's origin, then echoes everything as bytes.
server.on('upgrade', ({ headers, url }, socket) => {
  const lines = ['connection: Upgrade', 'upgrade: websocket', `sec-websocket-accept: ${headers['sec-websocket-key']}`];
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\nset-cookie: a=b\r\n\r\n`);
  socket.write(`${url} ${headers.host} ${headers.origin} ${headers.cookie} `);
  socket.pipe(socket);
});
let port = 0;

before(async () => {
  runtime = new ProcessRuntime();
  app = await startTestApp({ workspaceRuntime: runtime });
  // Its daemon has no sandbox, so that this process can be the app.
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await app.stop();
  await runtime.destroy();
});

const browser = new PreviewBrowser(() => app.url);
const ask = browser.ask.bind(browser);
const open = (user: SignedIn, at = port, path = '/') => browser.open(user, at, path);

test('lists ports, and shows the owner the app behind one', async () => {
  const user = await app.signIn();
  assert.deepEqual((await user.call('GET /api/workspace/ports')).body, { ports: [], previews: true });
  answer = (outgoing) => outgoing.writeHead(201, { 'x-app': 'yes' }).end('made');
  const { origin, cookie } = await open(user, port, '/start?a=b#c');
  const { ports } = (await user.call('GET /api/workspace/ports')).body;
  assert.ok(ports.some((listed: { port: number }) => listed.port === port));
  const made = await ask(`${origin}/notes?x=1`, {
    method: 'POST',
    body: 'a note',
    headers: { cookie, origin, 'content-type': 'text/plain', 'x-csrf-token': '1' },
  });
  assert.deepEqual([made.status, made.text, made.headers['x-app']], [201, 'made', 'yes']);
  assert.deepEqual([asked.method, asked.url, asked.body], ['POST', '/notes?x=1', 'a note']);
  assert.equal(asked.headers.host, `localhost:${port}`);
  assert.equal(asked.headers.origin, `http://localhost:${port}`);
  assert.equal(asked.headers['x-csrf-token'], '1');
});

test('nothing of the user or of a proxy reaches the app, and nothing of the app reaches beyond its origin', async () => {
  const user = await app.signIn();
  const { origin, cookie } = await open(user);
  answer = (outgoing) =>
    outgoing
      .writeHead(302, {
        location: `http://localhost:${port}/next`,
        'set-cookie': [
          'app=1; Domain=localhost; Path=/; SameSite=Lax',
          'homeport.session_token=stolen; Path=/',
          '__Host-homeport.preview=x; Path=/; Secure',
          '=homeport.preview=x',
        ],
        'access-control-allow-origin': '*',
        'access-control-allow-credentials': 'true',
        'strict-transport-security': 'max-age=999999; includeSubDomains',
        'clear-site-data': '"*"',
        'service-worker-allowed': '/',
        'x-frame-options': 'DENY',
        'x-accel-redirect': '/internal',
        'cache-control': 'public, max-age=60',
        'content-security-policy': "default-src 'self'; frame-ancestors 'none'",
      })
      .end();
  const secrets = {
    authorization: 'Bearer of-the-person',
    'proxy-authorization': 'Basic x',
    'x-forwarded-for': '203.0.113.1',
    'x-forwarded-access-token': 'of-a-proxy',
    'cf-access-jwt-assertion': 'of-a-proxy',
    'remote-user': 'alice',
    cookie: `homeport.session_token=of-the-person; mine=1; ${cookie}; __Secure-homeport.state=x`,
    referer: 'https://elsewhere.example/secret',
  };
  const { headers } = await ask(`${origin}/`, { headers: secrets });
  assert.equal(asked.headers.cookie, 'mine=1');
  const sentHeaders = JSON.stringify(asked.headers);
  assert.doesNotMatch(sentHeaders, /of-the-person|of-a-proxy|203\.0|alice|elsewhere|homeport|Basic/);
  assert.equal(headers.location, `${origin}/next`);
  assert.deepEqual(headers['set-cookie'], ['app=1; Path=/; Secure; SameSite=None; Partitioned']);
  for (const name of ['access-control-allow-origin', 'access-control-allow-credentials', 'clear-site-data']) {
    assert.equal(headers[name], undefined, name);
  }
  for (const name of ['strict-transport-security', 'service-worker-allowed', 'x-frame-options', 'x-accel-redirect']) {
    assert.equal(headers[name], undefined, name);
  }
  assert.equal(headers['cache-control'], 'private, max-age=60');
  assert.equal(headers['content-security-policy'], `default-src 'self', frame-ancestors 'self' ${app.url}`);
  assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
});

test('a ticket opens one preview, once, for a minute, while its session is valid', async () => {
  const [user, other] = [await app.signIn(), await app.signIn()];
  answer = (outgoing) => outgoing.end('app');
  const { origin, cookie, url } = await open(user);
  assert.equal((await ask(url)).status, 401);
  const second = (await user.call('POST /api/workspace/previews', { port: port === 65_535 ? 1 : port + 1 })).body.url;
  const elsewhere = new URL(second);
  elsewhere.host = new URL(origin).host;
  assert.equal((await ask(elsewhere.href)).status, 401);
  assert.equal((await ask(second)).status, 401);

  const theirs = await open(other);
  assert.notEqual(theirs.origin, origin);
  assert.equal((await ask(origin, { headers: { cookie: theirs.cookie } })).status, 401);
  for (const stranger of ['', `${cookie}x`, cookie.replace('.preview=', '.session_token='), user.cookie ?? '']) {
    const refused = await ask(origin, { headers: { cookie: stranger } });
    assert.deepEqual([refused.status, refused.headers['x-homeport-preview']], [401, 'closed'], stranger);
  }
  assert.equal((await ask(origin, { headers: { cookie } })).text, 'app');
  const late = (await user.call('POST /api/workspace/previews', { port })).body.url;
  await user.call('POST /api/auth/sign-out');
  assert.equal((await ask(origin, { headers: { cookie } })).status, 401);
  assert.equal((await ask(late)).status, 401);
});

test('limits tickets to the rate at which a user can open them', async () => {
  const [user, other] = [await app.signIn(), await app.signIn()];
  const statuses: number[] = [];
  const since = performance.now();
  for (let round = 0; round < 20 && !statuses.includes(429); round += 1) {
    const calls = Array.from({ length: 31 }, () => user.call('POST /api/workspace/previews', { port }));
    for (const { status, headers } of await Promise.all(calls)) {
      statuses.push(status);
      if (status === 429) assert.ok(Number(headers.get('retry-after')) >= 1);
    }
  }
  // Every two seconds one more is allowed, and a slow machine takes its time.
  const more = (performance.now() - since) / 2_000;
  const passed = statuses.filter((status) => status === 201).length;
  assert.ok(statuses.includes(429) && passed >= 30 && passed <= 30 + more, statuses.join());
  assert.equal((await other.call('POST /api/workspace/previews', { port })).status, 201);
});

test('other pages reach nothing, workers are refused, and no preview host serves Homeport', async () => {
  const user = await app.signIn();
  const { origin, cookie } = await open(user);
  answer = (outgoing) => outgoing.end('app');
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: app.url },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
  ];
  for (const headers of foreign) {
    assert.equal((await ask(origin, { headers: { cookie, ...headers } })).status, 403, JSON.stringify(headers));
  }
  const link = { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  assert.equal((await ask(origin, { headers: link })).status, 200);
  assert.equal((await ask(`${origin}/sw.js`, { headers: { cookie, 'service-worker': 'script' } })).status, 403);
  assert.equal((await ask(origin, { method: 'TRACE', headers: { cookie } })).status, 403);
  const { port: at } = new URL(app.url);
  assert.equal((await ask(`http://homeport.localhost:${at}/api/health`)).status, 200);
  for (const name of [`${port}-${'a'.repeat(26)}.localhost`, `1-${'b'.repeat(26)}.localhost`]) {
    const refused = await ask(`http://${name}:${at}/api/health`, { headers: { cookie: user.cookie ?? '' } });
    assert.equal(refused.status, 401, name);
  }
  // And the app's origin gets nothing of Homeport itself.
  const written = await ask(`${app.url}/api/workspace/status`, {
    method: 'DELETE',
    headers: { cookie: user.cookie ?? '', origin },
  });
  assert.equal(written.status, 403);
});

test('forwards a WebSocket of the preview’s own pages', async () => {
  const user = await app.signIn();
  const { origin, cookie } = await open(user);
  const connect = (headers: Record<string, string>) => browser.hello({ origin }, headers);
  assert.equal(
    await connect({ origin, cookie: `${cookie}; mine=1` }),
    `/live localhost:${port} http://localhost:${port} mine=1 hello`,
  );
  assert.equal(await connect({ origin: 'https://evil.example', cookie }), 403);
  assert.equal(await connect({ cookie }), 403);
  assert.equal(await connect({ origin }), 401);
  assert.equal(await connect({ origin, cookie: user.cookie ?? '' }), 401);
});

test('an app that is missing, disconnects or sends too much gets an error page', async () => {
  const user = await app.signIn();
  const closed = await open(user, 1);
  const german = { cookie: closed.cookie, 'accept-language': 'de-CH' };
  const silent = await ask(closed.origin, { headers: german });
  assert.deepEqual([silent.status, silent.headers['x-homeport-preview']], [502, 'silent']);
  assert.match(silent.text, /Hier läuft noch nichts/);
  const { origin, cookie } = await open(user);
  answer = (outgoing) => outgoing.socket?.destroy();
  assert.equal((await ask(origin, { headers: { cookie } })).headers['x-homeport-preview'], 'broken');
  answer = (outgoing) => outgoing.writeHead(200, { 'x-much': 'y'.repeat(40_000) }).end();
  assert.equal((await ask(origin, { headers: { cookie } })).headers['x-homeport-preview'], 'broken');
  answer = (outgoing) => {
    outgoing.writeHead(200, { 'content-length': 100 }).write('half');
    setImmediate(() => outgoing.socket?.destroy());
  };
  await assert.rejects(ask(origin, { headers: { cookie } }));
  assert.equal((await user.call('DELETE /api/workspace/status')).status, 200);
  const asleep = await ask(origin, { headers: { cookie } });
  assert.deepEqual([asleep.status, asleep.headers['x-homeport-preview']], [503, 'asleep']);
  assert.equal((await user.call('GET /api/workspace/status')).body.phase, 'stopped');
});

test('tells a frame at a preview’s origin whether apps can keep data there, without a ticket', async () => {
  const user = await app.signIn();
  const { origin } = await open(user);
  const page = await ask(`${origin}/.homeport/storage`, { headers: {} });
  assert.equal(page.status, 200);
  assert.match(page.text, /localStorage.*parent\.postMessage/s);
  assert.match(String(page.headers['content-security-policy']), /^default-src 'none'; script-src 'sha256-/);
  assert.equal(page.headers['set-cookie'], undefined);
  const posted = await ask(`${origin}/.homeport/storage`, { method: 'POST', headers: { origin } });
  assert.equal(posted.status, 401);
});

test('offers no previews without an address of their own', async () => {
  const user = await app.signIn();
  for (const path of ['//evil.example/', 'x', '/\\evil', '/a/../b', '/.//x', '/.homeport/open/x', '/a b', '']) {
    assert.equal((await user.call('POST /api/workspace/previews', { port, path })).status, 400, path);
  }
  const host = `203.0.113.7:${new URL(app.url).port}`;
  const headers = { host, cookie: user.cookie ?? '' };
  assert.equal(JSON.parse((await ask(`${app.url}/api/workspace/ports`, { headers })).text).previews, false);
  const daemons = new ProcessRuntime();
  const named = await startTestApp({ workspaceRuntime: daemons, config: { baseUrl: 'https://chat.example.org' } });
  try {
    const someone = await named.signIn();
    assert.equal((await someone.call('POST /api/workspace/previews', { port })).status, 404);
    assert.equal((await someone.call('GET /api/workspace/ports')).body.previews, false);
  } finally {
    await named.stop();
    await daemons.destroy();
  }
});

test('with PREVIEW_ORIGIN previews are below it, with a cookie that no other host can set', async () => {
  const config = { baseUrl: 'https://chat.example.org', previewOrigin: 'https://*.preview.example.net' };
  const daemons = new ProcessRuntime();
  const named = await startTestApp({ workspaceRuntime: daemons, config });
  try {
    const user = await named.signIn();
    assert.equal((await user.call('POST /api/workspace/status')).status, 200);
    const { url } = (await user.call('POST /api/workspace/previews', { port })).body;
    const { origin, hostname, pathname } = new URL(url);
    assert.match(origin, /^https:\/\/\d+-[a-z2-7]{26}\.preview\.example\.net$/);
    const at = { host: '127.0.0.1', port: new URL(named.url).port, agent: false };
    const get = (path: string, headers: Record<string, string>) =>
      new Promise<IncomingMessage>((resolve) => request({ ...at, path, headers }, resolve).end());
    const opened = await get(pathname, { host: hostname });
    opened.resume();
    const [line = ''] = opened.headers['set-cookie'] ?? [];
    assert.match(line, /^__Host-homeport\.preview=/);
    assert.equal(opened.headers.location, `${origin}/`);
    answer = (outgoing) => outgoing.end('app');
    const seen = await get('/', { host: hostname, cookie: line.split(';', 1)[0] ?? '' });
    seen.resume();
    assert.equal(seen.statusCode, 200);
    assert.equal(seen.headers['content-security-policy'], "frame-ancestors 'self' https://chat.example.org");
  } finally {
    await named.stop();
    await daemons.destroy();
  }
});
