import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, test } from 'node:test';
import { createEgress } from '../../src/egress/egress.ts';

const open = createEgress({ allowPrivateEgress: true, allowInsecureHttp: true });
const received: { method: string; url: string; headers: http.IncomingHttpHeaders; body: string }[] = [];
const server = http.createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const url = request.url ?? '';
  received.push({ method: request.method ?? '', url, headers: request.headers, body });
  if (url === '/redirect') response.writeHead(302, { location: '/target' }).end();
  else if (url === '/empty') response.writeHead(204).end();
  else if (url === '/cookies') response.setHeader('set-cookie', ['a=1; Expires=Mon, 1 Jan', 'b=2']).end('c');
  else if (url === '/stream') response.write('data: 1\n\n');
  else response.writeHead(201, 'Made', { 'x-answer': 'yes' }).end('answer');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
assert.ok(typeof address === 'object' && address !== null);
const origin = `http://127.0.0.1:${address.port}`;
after(async () => {
  open.close();
  server.close();
  server.closeAllConnections();
});

test('answers with the built-in Response', async () => {
  const response = await open.fetch(new URL('/x', origin));
  assert.ok(response instanceof Response);
  assert.deepEqual(
    [response.status, response.statusText, response.ok, response.redirected],
    [201, 'Made', true, false],
  );
  assert.equal(response.headers.get('x-answer'), 'yes');
  assert.equal(response.url, `${origin}/x`);
  assert.equal(await response.text(), 'answer');
});

test('accepts Request objects and every kind of body', async () => {
  const stream = () => new Response('text').body;
  const bodies = [
    'text',
    Buffer.from('text'),
    new Blob(['text']),
    stream(),
    new URLSearchParams('text'),
    new Response('text').body,
  ];
  for (const body of bodies) {
    const request = new Request(origin, { method: 'PUT', body, duplex: 'half', headers: { 'x-key': 'k' } });
    await (await open.fetch(request)).text();
    const last = received.at(-1);
    assert.deepEqual([last?.method, last?.body.replace('=', ''), last?.headers['x-key']], ['PUT', 'text', 'k']);
  }
  await (await open.fetch(origin, { method: 'POST', body: stream() })).text();
  assert.equal(received.at(-1)?.body, 'text');
});

test('follows, reports or refuses redirects by mode', async () => {
  const followed = await open.fetch(`${origin}/redirect`);
  assert.deepEqual([followed.status, followed.redirected, followed.url], [201, true, `${origin}/target`]);
  await followed.text();
  const manual = await open.fetch(`${origin}/redirect`, { redirect: 'manual' });
  assert.deepEqual([manual.status, manual.headers.get('location')], [302, '/target']);
  await manual.text();
  await assert.rejects(open.fetch(`${origin}/redirect`, { redirect: 'error' }), { code: 'provider_unreachable' });
});

test('returns answers without a body, and cookies separately', async () => {
  assert.equal((await open.fetch(`${origin}/empty`)).body, null);
  assert.equal(await (await open.fetch(origin, { method: 'HEAD' })).text(), '');
  const cookies = await open.fetch(`${origin}/cookies`);
  assert.deepEqual(cookies.headers.getSetCookie(), ['a=1; Expires=Mon, 1 Jan', 'b=2']);
  await cookies.text();
});

test('a stream is read as it arrives, and canceling ends it', async () => {
  const closed = Promise.withResolvers<void>();
  server.once('request', (_request, response) => response.on('close', () => closed.resolve()));
  const reader = (await open.fetch(`${origin}/stream`)).body?.getReader();
  const first = await reader?.read();
  assert.equal(Buffer.from(first?.value ?? []).toString(), 'data: 1\n\n');
  await reader?.cancel();
  await closed.promise;
});

test('refusals keep their code, before any request is sent', async () => {
  const closed = createEgress({ allowPrivateEgress: false, allowInsecureHttp: true });
  const count = received.length;
  for (const input of [
    origin,
    new URL(origin),
    new Request(origin),
    'https://@pub.test/',
    'https://user:pw@pub.test/',
    '/relative',
    '',
  ]) {
    await assert.rejects(closed.fetch(input), { code: 'blocked_destination' });
  }
  assert.equal(received.length, count);
  closed.close();
});

test('the built-in fetch is guarded once installed, and a copy stored before is refused', async (t) => {
  const builtIn = globalThis.fetch;
  const places = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));
  const dispatchers = places.map((place) => Reflect.get(globalThis, place));
  t.after(() => {
    globalThis.fetch = builtIn;
    for (const [index, place] of places.entries()) Reflect.set(globalThis, place, dispatchers[index]);
  });
  const closed = createEgress({ allowPrivateEgress: false, allowInsecureHttp: true });
  closed.installGlobally();
  const count = received.length;
  await assert.rejects(fetch(origin), { code: 'blocked_destination' });
  await assert.rejects(builtIn(origin), (error) => {
    assert.ok(error instanceof Error && error.cause instanceof Error);
    assert.match(error.cause.message, /only through the outbound guard/);
    return true;
  });
  assert.equal(received.length, count);
  open.installGlobally();
  assert.equal((await fetch(origin)).status, 201);
  closed.close();
});
