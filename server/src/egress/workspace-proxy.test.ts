import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { createGuard } from './guard.ts';
import { createWorkspaceProxy, type ProxyLimits } from './workspace-proxy.ts';

const running: (() => void)[] = [];
after(() => {
  for (const stop of running) stop();
});

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => sockets.add(socket));
    running.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** A proxy whose outside is this machine: `echo.test` and every public-looking name resolve to it. */
function startProxy(options: { limits?: Partial<ProxyLimits>; allowInsecureHttp?: boolean; isPrivate?: boolean } = {}) {
  const { limits = {}, allowInsecureHttp = true, isPrivate = true } = options;
  const lookup = async (): Promise<string[]> => ['127.0.0.1'];
  const guard = createGuard({ allowPrivateEgress: isPrivate, allowInsecureHttp, lookup });
  const findUserId = async (token: string) => (token.startsWith('good') ? token : undefined);
  return listen(createWorkspaceProxy({ guard, allowInsecureHttp, findUserId, limits }).createServer());
}

const echo = await listen(createServer((socket) => socket.on('error', () => undefined).pipe(socket)));
const web = await listen(
  createHttpServer((request, response) => response.end(JSON.stringify({ url: request.url, headers: request.headers }))),
);

/** Opens a connection, sends the text, and returns what arrives until `isEnough`, or everything until the end. */
function talk(port: number, text: string, isEnough: (seen: string) => boolean = () => false) {
  return new Promise<{ seen: string; socket: Socket }>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    running.push(() => socket.destroy());
    let seen = '';
    socket.on('error', reject);
    socket.setEncoding('utf8').on('data', (part: string) => {
      seen += part;
      if (isEnough(seen)) resolve({ seen, socket });
    });
    socket.on('close', () => resolve({ seen, socket }));
    socket.write(text);
  });
}

const hello = (target: string, token = 'good', method = 'CONNECT'): string =>
  `${method} ${target} HTTP/1.1\r\nhost: x\r\nproxy-authorization: Bearer ${token}\r\n\r\n`;
const statusOf = async (port: number, text: string): Promise<number> =>
  Number(/^HTTP\/1.1 (\d+)/.exec((await talk(port, text, (seen) => seen.includes('\r\n\r\n'))).seen)?.[1]);

test('tunnels bytes both ways, including those sent with the request', async () => {
  const port = await startProxy();
  const { seen } = await talk(port, `${hello(`echo.test:${echo}`)}first`, (text) => text.endsWith('first'));
  assert.match(seen, /^HTTP\/1.1 200 .*\r\n\r\nfirst$/);
});

test('opens no connection without a valid token', async () => {
  const port = await startProxy();
  assert.equal(await statusOf(port, `CONNECT echo.test:${echo} HTTP/1.1\r\nhost: x\r\n\r\n`), 407);
  assert.equal(await statusOf(port, hello(`echo.test:${echo}`, 'bad')), 407);
  assert.equal(await statusOf(port, hello(`http://echo.test:${web}/`, 'bad', 'GET')), 407);
});

test('rejects destinations that the guard refuses, by name and by address', async () => {
  const port = await startProxy({ isPrivate: false });
  for (const target of [
    `echo.test:${echo}`,
    `127.0.0.1:${echo}`,
    `localhost:${echo}`,
    '169.254.169.254:443',
    '[::1]:443',
  ]) {
    assert.equal(await statusOf(port, hello(target)), 403, target);
  }
  assert.equal(await statusOf(port, hello(`http://127.0.0.1:${web}/`, 'good', 'GET')), 403);
});

test('forwards plain http if it is allowed, without the headers for the proxy', async () => {
  const port = await startProxy();
  const text = `GET http://web.test:${web}/a?b=c HTTP/1.1\r\nhost: other\r\nproxy-authorization: Bearer good\r\nproxy-connection: x\r\nx-kept: 1\r\nconnection: close, x-hop\r\nx-hop: 1\r\n\r\n`;
  const { seen } = await talk(port, text);
  assert.match(seen, /^HTTP\/1.1 200 /);
  const body = JSON.parse(/\{"url".*\}/.exec(seen)?.[0] ?? '') as { url: string; headers: Record<string, string> };
  assert.equal(body.url, '/a?b=c');
  assert.equal(body.headers.host, `web.test:${web}`);
  assert.equal(body.headers['x-kept'], '1');
  for (const name of ['proxy-authorization', 'proxy-connection', 'x-hop']) assert.equal(body.headers[name], undefined);
});

test('rejects plain http requests and port 80 unless plain http is allowed', async () => {
  const port = await startProxy({ allowInsecureHttp: false });
  assert.equal(await statusOf(port, hello(`http://web.test:${web}/`, 'good', 'GET')), 403);
  assert.equal(await statusOf(port, hello('web.test:80')), 403);
  assert.equal(await statusOf(port, hello(`web.test:${echo}`)), 200);
});

test('rejects invalid requests, mail ports and unreachable destinations', async () => {
  const port = await startProxy();
  for (const target of ['echo.test', 'echo.test:0', 'echo.test:99999', 'user@echo.test:443', '/path']) {
    assert.equal(await statusOf(port, hello(target)), 400, target);
  }
  assert.equal(await statusOf(port, hello('/api/me', 'good', 'GET')), 400);
  assert.equal(await statusOf(port, hello('mail.test:25')), 403);
  const closed = await listen(createServer());
  running.pop()?.();
  assert.equal(await statusOf(port, hello(`echo.test:${closed}`)), 502);
  assert.equal(
    await statusOf(port, `CONNECT ${'x'.repeat(20_000)}:443 HTTP/1.1\r\n\r\n`).catch(() => Number.NaN),
    Number.NaN,
  );
});

test('limits the connections of each workspace separately and counts only open ones', async () => {
  const port = await startProxy({ limits: { connectionsPerUser: 2 } });
  const open = () => talk(port, hello(`echo.test:${echo}`, 'good-a'), (seen) => seen.includes('\r\n\r\n'));
  const [first, second] = [await open(), await open()];
  assert.match(first.seen, /200/);
  assert.match((await open()).seen, /429/);
  assert.equal(await statusOf(port, hello(`echo.test:${echo}`, 'good-b')), 200);
  second.socket.destroy();
  let again = await open();
  while (again.seen.includes('429')) again = await open();
  assert.match(again.seen, /200/);
});

test('closes an idle connection', async () => {
  const port = await startProxy({ limits: { idleMs: 50 } });
  const { seen } = await talk(port, hello(`echo.test:${echo}`));
  assert.match(seen, /200/);
});
