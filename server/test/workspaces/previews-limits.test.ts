import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { PreviewLines } from '../../src/workspaces/previews/preview-lines.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';
import { type Preview, PreviewBrowser } from './preview-browser.ts';

/** The limits of a preview: connections, headers, bytes at once, and time. */

let answer: (outgoing: ServerResponse, incoming: IncomingMessage) => void;
const server = createServer((incoming, outgoing) => answer(outgoing, incoming));
const sockets = new Set<Socket>();
server.on('upgrade', ({ headers }, socket: Socket) => {
  sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => undefined));
  const lines = ['connection: Upgrade', 'upgrade: websocket', `sec-websocket-accept: ${headers['sec-websocket-key']}`];
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
  socket.pipe(socket);
});

/** The real one, whose long waits a test can end. */
const waits: { milliseconds: number; work: () => void }[] = [];
const clock: Clock = {
  ...systemClock,
  after(milliseconds, work) {
    const wait = { milliseconds, work };
    const timer = systemClock.after(milliseconds, work);
    if (milliseconds < 60_000) return timer;
    waits.push(wait);
    const stop = (): void => {
      timer.stop();
      const at = waits.indexOf(wait);
      if (at >= 0) waits.splice(at, 1);
    };
    return { ...timer, stop };
  },
};
/** Ends the waits of this length that have not been stopped. */
const passes = (milliseconds: number): void => {
  for (const wait of waits.filter((each) => each.milliseconds === milliseconds)) wait.work();
};
const [answerMs, quietMs] = [120_000, 2 * 3_600_000];

const runtime = new ProcessRuntime();
let app: TestApp;
let port: number;
const browser = new PreviewBrowser(() => app.url);
before(async () => {
  app = await startTestApp({ workspaceRuntime: runtime, clock });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
after(async () => {
  server.closeAllConnections();
  for (const socket of sockets) socket.destroy();
  server.close();
  await app.stop();
  await runtime.destroy();
});

async function opened(): Promise<{ user: SignedIn } & Preview> {
  const user = await app.signIn();
  return { user, ...(await browser.open(user, port)) };
}

/** A WebSocket that stays open; or the status of a refusal. */
function connect({ origin, cookie }: Preview): Promise<Socket | number> {
  const { port: at } = new URL(app.url);
  const key = 'AAAAAAAAAAAAAAAAAAAAAA==';
  const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': key };
  const headers = { host: new URL(origin).host, origin, cookie, ...handshake };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port: at, path: '/live', agent: false, headers });
    outgoing.on('error', reject).on('response', (incoming) => resolve(incoming.resume().statusCode ?? 0));
    outgoing.on('upgrade', (_incoming, socket) => resolve(socket as Socket));
    outgoing.end();
  });
}

test('a user has up to 32 open WebSockets, independent of others', async () => {
  const mine = await opened();
  const open = await Promise.all(Array.from({ length: 32 }, () => connect(mine)));
  const [first] = open;
  assert.ok(first !== undefined && open.every((socket) => typeof socket === 'object'), open.join());
  assert.equal(await connect(mine), 503);
  const theirs = await connect(await opened());
  assert.equal(typeof theirs, 'object');
  if (typeof first === 'object') first.destroy();
  await until(async () => typeof (await connect(mine)) === 'object');
});

test('a user has up to 64 requests in flight and 512 queued, and more are refused', async () => {
  const hold = async () => assert.fail('nobody asks for the workspace here');
  const lines = new PreviewLines({ status: hold, hold }, systemClock);
  const { signal } = new AbortController();
  const inside = await Promise.all(Array.from({ length: 64 }, () => lines.seat('mine', 'request', signal)));
  let admitted = 0;
  const waiting = Array.from({ length: 512 }, async () => {
    const leave = await lines.seat('mine', 'request', signal);
    admitted += 1;
    return leave;
  });
  await assert.rejects(lines.seat('mine', 'request', signal), /Too many connections/);
  (await lines.seat('theirs', 'request', signal))();
  assert.equal(admitted, 0);
  inside[0]?.();
  await until(async () => admitted === 1);
  for (const leave of inside) leave();
  for (const leave of waiting) (await leave)();
  assert.equal(admitted, 512);
});

test('limits the size of heads: 400 for a request, an error page for a response', async () => {
  const { origin, cookie } = await opened();
  answer = (outgoing) => outgoing.writeHead(200, { 'x-much': 'y'.repeat(40_000) }).end();
  assert.equal((await browser.ask(origin, { headers: { cookie } })).headers['x-homeport-preview'], 'broken');
  answer = (outgoing) => outgoing.writeHead(200, { 'x-much': 'y'.repeat(10_000) }).end('fits');
  assert.equal((await browser.ask(origin, { headers: { cookie } })).text, 'fits');
  assert.equal((await browser.ask(origin, { headers: { cookie, 'x-much': 'y'.repeat(20_000) } })).status, 400);
  assert.equal((await browser.ask(`${origin}/${'x'.repeat(8_192)}`, { headers: { cookie } })).status, 403);
});

test('streams bodies of any size, no faster than they are read', async () => {
  const { origin, cookie } = await opened();
  const large = 'x'.repeat(4_000_000);
  answer = (outgoing, incoming) => incoming.pipe(outgoing);
  const { text } = await browser.ask(origin, { method: 'POST', body: large, headers: { cookie, origin } });
  assert.equal(text === large, true);

  // An app that does not read: the request fills the sockets on the way, and nothing else.
  answer = (outgoing, incoming) => {
    if (incoming.method === 'GET') outgoing.end('read');
  };
  const { port: at } = new URL(app.url);
  const headers = { host: new URL(origin).host, origin, cookie, 'transfer-encoding': 'chunked' };
  const outgoing = request({ host: '127.0.0.1', port: at, method: 'POST', path: '/', agent: false, headers });
  outgoing.on('error', () => undefined);
  const piece = Buffer.alloc(256 * 1024);
  const most = 256 * 1024 * 1024;
  let taken = 0;
  const send = (): void => {
    outgoing.write(piece, () => {
      taken += piece.length;
      if (taken < most) send();
    });
  };
  send();
  // Blocked: no more was accepted while the same app answered others many times over.
  for (let before = 0, answers = 0; answers < 50; answers = taken > before ? 0 : answers + 1) {
    before = taken;
    assert.equal((await browser.ask(origin, { headers: { cookie } })).text, 'read');
    if (taken >= most) break;
  }
  assert.ok(taken < 64 * 1024 * 1024, `${taken} bytes were taken`);
  outgoing.destroy();
});

test('gives up an app that does not answer for two minutes, or is silent for two hours', async () => {
  const mine = await opened();
  const { origin, cookie } = mine;
  let isAsked = false;
  answer = () => {
    isAsked = true;
  };
  const silent = browser.ask(origin, { headers: { cookie } });
  await until(async () => isAsked);
  passes(answerMs);
  const { status, headers } = await silent;
  assert.deepEqual([status, headers['x-homeport-preview']], [504, 'slow']);

  answer = (outgoing) => void outgoing.writeHead(200).write('some');
  const earlier = new Set(waits);
  const events = browser.ask(origin, { headers: { cookie } });
  const socket = await connect(mine);
  assert.ok(typeof socket === 'object');
  const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
  const areQuiet = () => waits.filter((wait) => wait.milliseconds === quietMs && !earlier.has(wait)).length === 2;
  await until('both are quiet', areQuiet);
  passes(quietMs);
  await assert.rejects(events);
  await closed;
});
