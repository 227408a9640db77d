import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { freePort } from '../../../contracts/test/free-port.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { formBody } from '../artifacts/artifact-makers.ts';
import { addModels, createChat, submit } from '../chat/chat-harness.ts';
import { findProgram, nginxFileFor, type ProxyName, publicName, startProxy } from '../egress/proxy-programs.ts';
import { makeCertificates } from '../fakes/certificates.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { ScriptedDaemons } from '../fakes/scripted-daemon.ts';

/** The reverse proxy configurations of docs/operations.md, in the real programs. */

const person = { name: 'Ada Admin', email: 'ada@example.org', password: 'correct-horse-42' };
const docs = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');

/** Without the comments about versions. */
function configurationOf(name: string): string {
  const file = readFileSync(join(import.meta.dirname, '../../../deploy/proxy', name), 'utf8');
  const [, ...lines] = file.trimEnd().split('\n');
  return lines.filter((line) => !line.startsWith('#')).join('\n');
}

test('the page quotes the files that are tested here', () => {
  for (const name of ['nginx.conf', 'Caddyfile', 'apache.conf', 'traefik.yaml'])
    assert.ok(docs.includes(configurationOf(name)), name);
});

test('the page names the one line that differs for an older nginx, and the others are equal', () => {
  const sentence =
    /^nginx (\S+) or later \(`deploy\/proxy\/(.+)`\)\. Older .+ `(.+)` instead of\n`(.+)` \(`deploy\/proxy\/(.+)`\):$/m;
  const [, since, newFile = '', listen, http2, oldFile = ''] = sentence.exec(docs) ?? [];
  assert.deepEqual([since, listen, http2], ['1.25.1', 'listen 443 ssl http2', 'http2 on']);
  const older = configurationOf(newFile).replace(`  listen 443 ssl;\n  ${http2};\n`, `  ${listen};\n`);
  assert.equal(configurationOf(oldFile), older);
  assert.notEqual(older, configurationOf(newFile));
  // The installed version is run with the file that the page names for it.
  for (const version of ['1.18.0', '1.22.1', '1.24.0', '1.25.0'])
    assert.equal(nginxFileFor(`nginx version: nginx/${version}\n`), oldFile, version);
  for (const version of [since, '1.26.3 (Ubuntu)', '1.30.0', '2.0.0'])
    assert.equal(nginxFileFor(`nginx version: nginx/${version}\n`), newFile, version);
});

for (const name of ['nginx', 'caddy', 'apache'] as const) {
  const program = findProgram(name);
  const isWanted = process.env.REQUIRE_PROXIES === '1';
  const skip = program === undefined && !isWanted && `${name} is not installed`;
  describe(`behind ${name}`, { skip }, () => cases(name, program ?? name));
}

function cases(name: ProxyName, program: string): void {
  let app: TestApp;
  let user: SignedIn;
  let provider: FakeProvider;
  let proxy: ChildProcess | undefined;
  let origin: string;
  let reach: RequestOptions & { host: string; port: number; ca: string; servername: string };
  const daemons = new ScriptedDaemons();
  const folder = mkdtempSync(join(tmpdir(), `homeport-${name}-`));
  const store = join(folder, 'files');

  before(async () => {
    // The proxy's workers can run as another user.
    chmodSync(folder, 0o755);
    const certificates = makeCertificates(folder, [publicName]);
    const port = await freePort();
    origin = `https://${publicName}:${port}`;
    reach = { host: '127.0.0.1', port, ca: certificates.ca, servername: publicName, agent: false };
    await daemons.listen();
    app = await startTestApp({
      config: { baseUrl: origin, trustedProxies: ['127.0.0.1'], artifactStore: store, artifactMaxUploadBytes: 2 ** 25 },
      workspaceRuntime: daemons,
    });
    provider = await startFakeProvider();
    const upstream = new URL(app.url).host;
    proxy = await startProxy(name, program, { folder, port, upstream, certificates });
    const made = await call('POST', '/api/setup', person);
    assert.equal(made.status, 201, made.body);
    user = await app.signIn();
  });
  after(async () => {
    await app?.stop();
    if (proxy !== undefined && proxy.exitCode === null) {
      proxy.kill('SIGTERM');
      await once(proxy, 'close');
    }
    await provider?.close();
    await daemons.destroy();
    rmSync(folder, { recursive: true, force: true });
  });

  const options = (method: string, path: string, headers: Record<string, string> = {}): RequestOptions => ({
    ...reach,
    method,
    path,
    headers: { host: new URL(origin).host, origin, ...headers },
  });

  async function call(method: string, path: string, body: object, headers: Record<string, string> = {}) {
    const outgoing = request(options(method, path, { 'content-type': 'application/json', ...headers }));
    outgoing.end(JSON.stringify(body));
    const [incoming] = await once(outgoing, 'response');
    return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
  }

  test('signs in over https', async () => {
    const { email, password } = person;
    const signedIn = await call('POST', '/api/auth/sign-in/email', { email, password });
    assert.equal(signedIn.status, 200, signedIn.body);
    const cookie = String(signedIn.headers['set-cookie']?.[0]);
    assert.match(cookie, /; Secure/);
    const [pair = ''] = cookie.split(';');
    const out = await call('POST', '/api/auth/sign-out', {}, { cookie: pair });
    assert.ok(out.status === 200 || out.status === 204, out.body);
  });

  test('streams a response word by word, over HTTP/2', async () => {
    await addModels(user, provider, ['hang-5']);
    const chatId = await createChat(user);
    const { host, port, ca, servername } = reach;
    const session = connectHttp2(origin, {
      createConnection: () => connectTls({ host, port, ca, servername, ALPNProtocols: ['h2'] }),
    });
    const body = JSON.stringify({ chatId, messageId: await submit(user, chatId, 'Hello') });
    const stream = session.request({
      ':method': 'POST',
      ':path': '/api/chat',
      'content-type': 'application/json',
      origin,
      cookie: user.cookie ?? '',
    });
    stream.end(body);
    let got = '';
    // The model stops after five words: words that a proxy buffers never arrive.
    for await (const chunk of stream) {
      got += String(chunk);
      if ((got.match(/"text-delta"/g) ?? []).length > 0) break;
    }
    assert.match(got, /"text-delta"/);
    session.destroy();
  });

  // TERMINAL_IDLE_SECONDS=70 tests for longer than the minute after which proxies cut silent connections by default.
  const idleMs = Number(process.env.TERMINAL_IDLE_SECONDS ?? 0) * 1_000;
  test('a terminal works in both directions', async () => {
    const socket = await terminal();
    await new Promise((resolve) => setTimeout(resolve, idleMs));
    const sent = randomBytes(200_000);
    const got: Buffer[] = [];
    const all = new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        got.push(chunk);
        if (Buffer.concat(got).length >= sent.length) resolve();
      });
    });
    socket.write(sent);
    await all;
    assert.ok(Buffer.concat(got).equals(sent));
    socket.destroy();
  });

  async function terminal(): Promise<Duplex> {
    const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const key = { 'sec-websocket-key': randomBytes(16).toString('base64'), cookie: user.cookie ?? '' };
    const outgoing = request(options('GET', '/api/workspace/terminal?id=one', { ...handshake, ...key }));
    outgoing.end();
    return new Promise((resolve, reject) => {
      outgoing.on('error', reject);
      outgoing.on('upgrade', (_incoming, socket) => resolve(socket));
      outgoing.on('response', async (incoming) => reject(new Error(`${incoming.statusCode}: ${await text(incoming)}`)));
    });
  }

  test('stores an upload of many megabytes while it arrives', async () => {
    const chatId = await createChat(user);
    const bytes = randomBytes(12 * 1024 * 1024);
    const file = { name: 'file', value: bytes, filename: 'large.bin', type: 'application/octet-stream' };
    const { body, contentType } = formBody([{ name: 'chatId', value: chatId }, file]);
    const headers = { 'content-type': contentType, 'content-length': String(body.length), cookie: user.cookie ?? '' };
    const outgoing = request(options('POST', '/api/artifacts', headers));
    const answered = once(outgoing, 'response');
    outgoing.write(body.subarray(0, 8 * 1024 * 1024));
    // The remaining bytes are sent only when the server has begun to write: a proxy that buffers bodies first would
    // wait forever.
    while (!hasBegun(join(store, 'incoming'))) await new Promise((resolve) => setTimeout(resolve, 20));
    outgoing.end(body.subarray(8 * 1024 * 1024));
    const [incoming] = await answered;
    assert.equal(incoming.statusCode, 201, await text(incoming));
  });
}

function hasBegun(incoming: string): boolean {
  if (!existsSync(incoming)) return false;
  return readdirSync(incoming).some(
    (name) => (statSync(join(incoming, name), { throwIfNoEntry: false })?.size ?? 0) > 0,
  );
}
