import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkAddress } from '../../src/commands/doctor-address.ts';
import { startTestApp, type TestApp } from '../app.ts';
import { makeCertificates } from '../fakes/certificates.ts';

/** The doctor names mistakes of a reverse proxy, and the log an untrusted one. */

let app: TestApp;
const lines: string[] = [];
const servers: Server[] = [];
before(async () => {
  app = await startTestApp({ log: (line) => lines.push(line) });
});
after(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await app.stop();
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return `127.0.0.1:${port}`;
}

const proxy = async (listener: RequestListener): Promise<string> => `http://${await listen(createServer(listener))}`;

/** Forwards everything, with these headers added. */
function passing(headers: Record<string, string>): RequestListener {
  return (incoming, outgoing) => {
    const { method, headers: sent } = incoming;
    const asked = request(new URL(incoming.url ?? '/', app.url), { method, headers: { ...sent, ...headers } });
    asked.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    asked.on('error', () => outgoing.destroy());
    outgoing.on('close', () => asked.destroy());
    incoming.pipe(asked);
  };
}

async function look(baseUrl: string, change: { port?: number; trustedProxies?: string[] } = {}) {
  const found = await checkAddress({ ...app.service.deps.config, baseUrl, ...change });
  return new Map(found.map((each) => [each.check, each]));
}

test('reports a proxy that does not reach Homeport with its status and advice', async () => {
  for (const status of [502, 503, 504]) {
    const origin = await proxy((_incoming, outgoing) => outgoing.writeHead(status).end('<h1>Bad Gateway</h1>'));
    const port = Number(new URL(app.url).port);
    const running = (await look(origin, { port })).get('address');
    assert.match(running?.message ?? '', new RegExp(`answers ${status}: it does not reach Homeport`));
    assert.match(running?.advice ?? '', /point the proxy there/);
    const stopped = (await look(origin, { port: 1 })).get('address');
    assert.match(stopped?.advice ?? '', /start Homeport/);
    assert.equal(stopped?.state, 'failed');
  }
});

test('distinguishes TLS and plain http in the wrong place', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-doctor-tls-'));
  const { key, cert } = makeCertificates(folder, ['127.0.0.1']);
  await rm(folder, { recursive: true });
  const secure = await listen(createTlsServer({ key, cert }));
  const plain = new URL(app.url).host;
  const https = (await look(`https://${plain}`)).get('address');
  assert.match(https?.message ?? '', /plain http is spoken/);
  assert.match(https?.advice ?? '', /TLS/);
  const http = (await look(`http://${secure}`)).get('address');
  assert.match(http?.message ?? '', /TLS is spoken/);
  assert.match(http?.advice ?? '', new RegExp(`Set BASE_URL to https://${secure}`));
  const unknown = (await look(`https://${secure}`)).get('address');
  assert.match(unknown?.message ?? '', /certificate .* not trusted/);
});

test('reports a redirecting proxy with the target of the redirect', async () => {
  const origin = await proxy((_incoming, outgoing) =>
    outgoing.writeHead(302, { location: 'https://login.example.org/' }).end(),
  );
  assert.match((await look(origin)).get('address')?.message ?? '', /redirects to https:\/\/login\.example\.org/);
});

test('finds a limit for bodies below the limit for uploads, without an upload', async () => {
  let received = 0;
  const limited = await proxy((incoming, outgoing) => {
    incoming.on('data', (chunk) => (received += chunk.length));
    if (Number(incoming.headers['content-length'] ?? 0) > 1000) outgoing.writeHead(413).end();
    else passing({})(incoming, outgoing);
  });
  const found = (await look(limited)).get('uploads');
  assert.equal(found?.state, 'failed');
  assert.match(found?.message ?? '', /uploads of 1 MiB \(status 413\).*ARTIFACT_MAX_UPLOAD_BYTES/);
  assert.match(found?.advice ?? '', /client_max_body_size/);
  assert.equal(received, 0);
  assert.equal((await look(await proxy(passing({})))).get('uploads')?.state, 'ok');
});

test('accepts a proxy that buffers uploads', async () => {
  const buffering = await proxy((incoming, outgoing) => {
    if (incoming.method === 'POST') incoming.resume();
    else passing({})(incoming, outgoing);
  });
  assert.equal((await look(buffering)).get('uploads')?.state, 'ok');
});

for (const [name, value] of [
  ['x-forwarded-for', '203.0.113.9'],
  ['forwarded', 'for=203.0.113.9'],
] as const) {
  test(`the doctor reports a proxy that sends ${name} without being trusted, and the log does once`, async () => {
    const warnings = () => lines.filter((line) => line.includes('TRUSTED_PROXIES does not name'));
    const origin = await proxy(passing({ [name]: value }));
    const found = (await look(origin)).get('proxy');
    assert.equal(found?.state, 'warning');
    assert.match(found?.message ?? '', /TRUSTED_PROXIES/);
    for (let count = 0; count < 20; count += 1) await fetch(`${origin}/api/public-config`);
    assert.equal(warnings().length, 1);
    assert.match(warnings()[0] ?? '', /"level":40.*"peer":"127\.0\.0\.1"/);
  });
}

test('accepts a trusted proxy without a warning', async () => {
  const own: string[] = [];
  const trusting = await startTestApp({
    database: app.database,
    config: { trustedProxies: ['127.0.0.0/8'] },
    log: (line) => own.push(line),
  });
  const { config } = trusting.service.deps;
  const origin = await proxy((incoming, outgoing) => {
    const asked = request(new URL(incoming.url ?? '/', trusting.url), {
      headers: { 'x-forwarded-for': '203.0.113.9' },
    });
    asked.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    asked.end();
  });
  const found = await checkAddress({ ...config, baseUrl: origin });
  assert.equal(found.find(({ check }) => check === 'proxy')?.state, 'ok');
  assert.deepEqual(
    own.filter((line) => line.includes('TRUSTED_PROXIES')),
    [],
  );
  await trusting.service.stop(0);
});
