import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { until } from '../../../contracts/test/until.ts';
import type { SignedIn, TestApp } from '../app.ts';

/** The part of a browser that previews need: all names below localhost lead to the app under test. */

export type Response = { status: number; headers: IncomingMessage['headers']; text: string };
export type Wish = { method?: string; headers?: Record<string, string | string[]>; body?: string };
export type Preview = { origin: string; cookie: string; url: string };

export class PreviewBrowser {
  readonly #app: () => string;

  /** `app` provides the address of Homeport each time. */
  constructor(app: () => string) {
    this.#app = app;
  }

  ask(address: string, { method = 'GET', headers = {}, body }: Wish = {}): Promise<Response> {
    const { host, pathname, search } = new URL(address);
    const path = `${pathname}${search}`;
    return new Promise((resolve, reject) => {
      const outgoing = request({ ...this.#place(), path, method, headers: { host, ...headers } });
      outgoing.on('error', reject).on('response', async (incoming) => {
        const chunks: Buffer[] = [];
        try {
          for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
          const text = Buffer.concat(chunks).toString();
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
        } catch (error) {
          reject(error);
        }
      });
      outgoing.end(body);
    });
  }

  /** A preview that a user opened in their browser; starts their workspace. */
  async open(user: SignedIn, port: number, path = '/'): Promise<Preview> {
    const started = await user.call('POST /api/workspace/status');
    assert.equal(started.status, 200, started.text);
    const { status, body } = await user.call('POST /api/workspace/previews', { port, path });
    assert.equal(status, 201, JSON.stringify(body));
    const { status: opened, headers } = await this.ask(body.url);
    assert.equal(opened, 303);
    const [line = ''] = headers['set-cookie'] ?? [];
    assert.match(line, /; Path=\/; HttpOnly; Secure; SameSite=None; Partitioned$/);
    const { origin } = new URL(body.url);
    assert.equal(headers.location, `${origin}${path}`);
    return { origin, cookie: line.split(';', 1)[0] ?? '', url: body.url };
  }

  /**
   * Opens a WebSocket, sends a greeting in plain bytes, and returns the received text up to the echo of it; or the
   * status of a refusal.
   */
  hello({ origin }: Pick<Preview, 'origin'>, headers: Record<string, string>): Promise<string | number> {
    const key = 'AAAAAAAAAAAAAAAAAAAAAA==';
    const { host } = new URL(origin);
    const handshake = { host, connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': key };
    return new Promise((resolve, reject) => {
      const outgoing = request({ ...this.#place(), path: '/live', headers: { ...handshake, ...headers } });
      outgoing.on('error', reject).on('response', (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode ?? 0);
      });
      outgoing.on('upgrade', (incoming, socket, head) => {
        assert.deepEqual([incoming.headers['sec-websocket-accept'], incoming.headers['set-cookie']], [key, undefined]);
        let received = head.toString();
        socket.on('data', (chunk) => {
          received += chunk;
          if (received.endsWith('hello')) socket.destroy();
        });
        socket.on('close', () => resolve(received));
        socket.write('hello');
      });
      outgoing.end();
    });
  }

  #place() {
    return { host: '127.0.0.1', port: new URL(this.#app()).port, agent: false };
  }
}

/** An app for a workspace: echoes requests, and answers WebSockets with their origin and their messages. */
const echoApp = `
require('http').createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => { body += chunk; });
  request.on('end', () => response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body })));
}).on('upgrade', ({ headers, url }, socket) => {
  const lines = ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-accept: ' + headers['sec-websocket-key']];
  socket.on('error', () => {}).write('HTTP/1.1 101 Switching Protocols\\r\\n' + lines.join('\\r\\n') + '\\r\\n\\r\\n');
  socket.write(url + ' ' + headers.host + ' ');
  socket.pipe(socket);
}).listen(4173, '127.0.0.1');`;

/** Starts the app above in a user's workspace. */
export async function startEchoApp({ service }: TestApp, user: SignedIn): Promise<void> {
  const hold = await service.deps.workspaces.hold(user.id, 'exec');
  const command = `exec node -e "${echoApp.replaceAll('\n', ' ')}"`;
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ id: 'app', command, background: true });
  const { status, body: events } = await hold.daemon.request('/v1/exec', { method: 'POST', headers, body });
  events.resume();
  await hold.release();
  assert.equal(status, 200);
}

/** The app above is listed once it runs; it answers requests and WebSockets, and ends with the workspace. */
export async function expectEchoApp(browser: PreviewBrowser, user: SignedIn): Promise<void> {
  const { origin, cookie } = await browser.open(user, 4173);
  await until(async () => {
    const { ports } = (await user.call('GET /api/workspace/ports')).body;
    return ports.some(({ port }: { port: number }) => port === 4173);
  });
  const headers = { cookie: `${cookie}; mine=1`, origin, authorization: 'Bearer of-the-person' };
  const made = await browser.ask(`${origin}/notes?x=1`, { method: 'POST', body: 'a note', headers });
  assert.equal(made.status, 200, made.text);
  const asked = JSON.parse(made.text);
  assert.deepEqual([asked.method, asked.url, asked.body], ['POST', '/notes?x=1', 'a note']);
  assert.deepEqual([asked.headers.host, asked.headers.cookie], ['localhost:4173', 'mine=1']);
  assert.doesNotMatch(made.text, /of-the-person|homeport/);
  assert.equal(await browser.hello({ origin }, { origin, cookie }), '/live localhost:4173 hello');
  assert.equal(await browser.hello({ origin }, { origin: 'https://evil.example', cookie }), 403);
  assert.equal((await browser.ask(origin)).status, 401);
  await user.call('DELETE /api/workspace/status');
  assert.equal((await browser.ask(origin, { headers: { cookie } })).headers['x-homeport-preview'], 'asleep');
}
