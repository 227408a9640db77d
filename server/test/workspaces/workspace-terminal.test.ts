import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, afterEach, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { startTestApp, type TestApp } from '../app.ts';
import { ScriptedDaemons, takeHandshake } from '../fakes/scripted-daemon.ts';
import { sendRaw } from '../raw-request.ts';

let app: TestApp;
let daemons: ScriptedDaemons;
const open = new Set<Duplex>();
before(async () => {
  daemons = await new ScriptedDaemons().listen();
  app = await startTestApp({ workspaceRuntime: daemons });
});
const echo = new ScriptedDaemons().onUpgrade;
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
  daemons.onUpgrade = echo;
});
after(async () => {
  await app.stop();
  await daemons.destroy();
});

type Answer = { status: number; headers: IncomingHttpHeaders; body: string; socket: Duplex | undefined };
type Wish = { cookie?: string; headers?: Record<string, string | undefined>; path?: string; url?: string };

/** Requests a terminal as a browser does. */
function attach({ cookie, headers = {}, path = '/api/workspace/terminal?id=one', url = app.url }: Wish) {
  const key = randomBytes(16).toString('base64');
  const sent = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    origin: url,
    cookie,
    ...headers,
  };
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
  return new Promise<Answer>((resolve, reject) => {
    const outgoing = request(url + path, { headers: given, agent: false });
    outgoing.on('error', reject);
    outgoing.on('response', async (incoming) => {
      resolve({
        status: incoming.statusCode ?? 0,
        headers: incoming.headers,
        body: await text(incoming),
        socket: undefined,
      });
    });
    outgoing.on('upgrade', (incoming, socket) => {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      const expected = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      assert.equal(incoming.headers['sec-websocket-accept'], expected);
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: '', socket });
    });
    outgoing.end();
  });
}

async function attached(wish: Wish): Promise<Duplex> {
  const answer = await attach(wish);
  assert.equal(answer.status, 101, answer.body);
  assert.ok(answer.socket);
  return answer.socket;
}

function assertRefused(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.body);
  assert.equal(JSON.parse(answer.body).error.code, code);
  assert.equal(JSON.parse(answer.body).error.requestId, answer.headers['x-request-id']);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
}

async function closed(socket: Duplex): Promise<void> {
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
}

test('forwards bytes unchanged in both directions, and nothing else of the daemon', async () => {
  const user = await app.signIn();
  daemons.onUpgrade = (wish, socket) => {
    takeHandshake(wish, socket, 'set-cookie: stolen=1\r\nx-daemon: yes\r\n');
    socket.pipe(socket);
  };
  const { socket, headers } = await attach({ cookie: user.cookie, headers: { 'x-request-id': 'mine' } });
  assert.ok(socket);
  assert.equal(headers['set-cookie'], undefined);
  assert.equal(headers['x-daemon'], undefined);
  assert.equal(headers['x-request-id'], 'mine');
  const asked = daemons.upgrades.at(-1);
  assert.equal(asked?.url, '/v1/terminal?id=one&columns=80&rows=24');
  assert.equal(asked?.headers.cookie, undefined);
  assert.match(asked?.headers.authorization ?? '', /^Bearer \S{20,}$/);
  const sent = randomBytes(3_000_000);
  const got: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => got.push(chunk));
  socket.write(sent);
  await until(() => Buffer.concat(got).length >= sent.length);
  assert.ok(Buffer.concat(got).equals(sent));
});

test('authenticates the client before it contacts the workspace', async () => {
  const user = await app.signIn();
  const [disabled, mustChange] = [await app.signIn(), await app.signIn({ mustChangePassword: true })];
  await app.database.database.pool.query('update users set enabled = false where id = $1', [disabled.id]);
  const before = daemons.upgrades.length;
  assertRefused(await attach({}), 401, 'unauthorized');
  assertRefused(await attach({ cookie: disabled.cookie }), 403, 'account_disabled');
  assertRefused(await attach({ cookie: mustChange.cookie }), 403, 'password_change_required');
  for (const origin of [undefined, 'null', 'http://evil.example', 'http://127.0.0.1:1']) {
    assertRefused(await attach({ cookie: user.cookie, headers: { origin } }), 403, 'origin_not_allowed');
  }
  for (const path of ['', '?id=', '?id=a/b', '?id=one&columns=0', '?id=one&rows=1000', '?id=one&columns=x']) {
    const answer = await attach({ cookie: user.cookie, path: `/api/workspace/terminal${path}` });
    assertRefused(answer, 400, 'invalid_request');
  }
  for (const headers of [{ 'sec-websocket-key': 'x' }, { 'sec-websocket-version': '8' }]) {
    assertRefused(await attach({ cookie: user.cookie, headers }), 400, 'invalid_request');
  }
  assert.equal(daemons.upgrades.length, before);
});

test('answers upgrade requests to other protocols as ordinary requests', async () => {
  const wish = 'host: x\r\nconnection: upgrade, close\r\n';
  const health = await sendRaw(app.url, `GET /api/health HTTP/1.1\r\n${wish}upgrade: websocket\r\n\r\n`);
  assert.equal(health.status, 200);
  const h2c = await sendRaw(app.url, `GET /api/workspace/terminal?id=one HTTP/1.1\r\n${wish}upgrade: h2c\r\n\r\n`);
  assert.equal(h2c.status, 404);
  const post = `POST /api/workspace/terminal HTTP/1.1\r\n${wish}upgrade: websocket\r\ncontent-length: 0\r\n\r\n`;
  assert.equal((await sendRaw(app.url, post)).status, 404);
  const refused = await sendRaw(app.url, `GET /api/workspace/terminal HTTP/1.1\r\n${wish}upgrade: websocket\r\n\r\n`);
  assert.equal(refused.status, 401);
});

test('a daemon that refuses, lies or disconnects is an error like any other', async () => {
  const user = await app.signIn();
  const scripts: [ScriptedDaemons['onUpgrade'], number, string][] = [
    [(_, socket) => socket.destroy(), 502, 'workspace_request_failed'],
    [(_, socket) => socket.end('nonsense\r\n\r\n'), 502, 'workspace_request_failed'],
    [(wish, socket) => takeHandshake({ ...wish, headers: {} } as typeof wish, socket), 502, 'workspace_request_failed'],
    [
      (_, socket) => {
        const body = '{"error":{"code":"invalid_request","message":"No such shell"}}';
        socket.end(`HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      },
      400,
      'invalid_request',
    ],
  ];
  for (const [script, status, code] of scripts) {
    daemons.onUpgrade = script;
    assertRefused(await attach({ cookie: user.cookie }), status, code);
    await until(() => daemons.sockets.size === 0);
  }
});

test('either side that disconnects ends the other', async () => {
  const user = await app.signIn();
  const first = await attached({ cookie: user.cookie });
  await until(() => daemons.sockets.size === 1);
  first.destroy();
  await until(() => daemons.sockets.size === 0);
  const second = await attached({ cookie: user.cookie });
  for (const socket of daemons.sockets) socket.end('bye');
  assert.equal(await text(second), 'bye');
  await closed(second);
});

test('a client that has disconnected, or sends too early, leaves nothing behind', async () => {
  const user = await app.signIn();
  let asked: Duplex | undefined;
  daemons.onUpgrade = (_, socket) => {
    asked = socket;
  };
  for (const early of [undefined, 'x']) {
    asked = undefined;
    const key = randomBytes(16).toString('base64');
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const own = { origin: app.url, cookie: user.cookie, 'sec-websocket-key': key };
    const outgoing = request(`${app.url}/api/workspace/terminal?id=one`, { headers: { ...headers, ...own } });
    outgoing.on('error', () => undefined).end();
    await until(() => asked !== undefined);
    if (early === undefined) outgoing.destroy();
    else outgoing.socket?.write(early);
    await until(() => daemons.sockets.size === 0);
    outgoing.destroy();
  }
});

test('limits the terminals of one user, and hides those of another', async () => {
  const [user, other] = [await app.signIn(), await app.signIn()];
  const sockets: Duplex[] = [];
  for (let i = 0; i < 8; i += 1) sockets.push(await attached({ cookie: user.cookie }));
  const refused = await attach({ cookie: user.cookie });
  assertRefused(refused, 429, 'rate_limited');
  assert.equal(refused.headers['retry-after'], '5');
  await attached({ cookie: other.cookie });
  sockets[0]?.destroy();
  for (let status = 0; status !== 101; ) status = (await attach({ cookie: user.cookie })).status;
});

test('a terminal ends with its session, its account and its workspace', async () => {
  const [leaving, disabled, stopping, staying] = [
    await app.signIn(),
    await app.signIn(),
    await app.signIn(),
    await app.signIn(),
  ];
  const [one, two, three, four] = [
    await attached({ cookie: leaving.cookie }),
    await attached({ cookie: disabled.cookie }),
    await attached({ cookie: stopping.cookie }),
    await attached({ cookie: staying.cookie }),
  ];
  await app.database.database.pool.query('delete from sessions where user_id = $1', [leaving.id]);
  await closed(one);
  // Without the service, as another replica would.
  await app.database.database.pool.query('update users set enabled = false where id = $1', [disabled.id]);
  await closed(two);
  await app.service.deps.workspaces.stop(stopping.id);
  await closed(three);
  assert.equal(four.destroyed, false);
});

test('a stopping service ends its terminals', async () => {
  const second = await startTestApp({ workspaceRuntime: daemons, database: app.database });
  const user = await second.signIn();
  const socket = await attached({ cookie: user.cookie, url: second.url });
  await second.stop();
  await closed(socket);
});

test('refuses a terminal when workspaces are disabled', async () => {
  const off = await startTestApp();
  const user = await off.signIn();
  assertRefused(await attach({ cookie: user.cookie, url: off.url }), 503, 'workspace_disabled');
  await off.stop();
});
