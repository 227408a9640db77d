import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { createEgress, type Egress } from '../../src/egress/egress.ts';
import { failureDetails } from '../../src/egress/failures.ts';
import type { GuardOptions } from '../../src/egress/guard.ts';
import { makeCertificates } from '../fakes/certificates.ts';

/**
 * Calls through the operator's proxy, with a real one that accepts CONNECT; and the operator's own certificate
 * authority.
 */

const folder = mkdtempSync(join(tmpdir(), 'homeport-proxy-'));
const { ca, caFile, key, cert } = makeCertificates(folder, ['good.test', 'localhost', '127.0.0.1']);
const closers: (() => void)[] = [() => rmSync(folder, { recursive: true })];
after(() => {
  for (const close of closers) close();
});

const [first, second] = ['93.184.216.34', '93.184.216.35'];
const lookup = async (name: string) => (name === 'inside.test' ? ['10.0.0.5'] : [first, second]);

async function listen(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    if (server instanceof http.Server || server instanceof https.Server) server.closeAllConnections();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

const secureTarget = await listen(https.createServer({ key, cert }, (_request, response) => response.end('secure')));
const plainTarget = await listen(http.createServer((_request, response) => response.end('plain')));

type Asked = { target: string; authorization: string | undefined };
const asked: Asked[] = [];
let answerOf: (target: string) => string = () => '200 Fine';
let connections = 0;
beforeEach(() => {
  asked.length = 0;
  connections = 0;
  answerOf = () => '200 Fine';
});

/** Leads port 443 to the secure server of the test and port 80 to the plain one, regardless of the address. */
function takeConnect(server: http.Server | https.Server): typeof server {
  server.on('connection', () => {
    connections += 1;
  });
  server.on('connect', (request, socket, head) => {
    const target = request.url ?? '';
    asked.push({ target, authorization: request.headers['proxy-authorization'] });
    const answer = answerOf(target);
    if (!answer.startsWith('200')) return socket.end(`HTTP/1.1 ${answer}\r\n\r\n`);
    const upstream = net.connect(target.endsWith(':443') ? secureTarget : plainTarget, '127.0.0.1', () => {
      socket.write(`HTTP/1.1 ${answer}\r\nvia: 1.1 test\r\n\r\n`);
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) end.on('error', () => upstream.destroy());
  });
  return server;
}

const proxyPort = await listen(takeConnect(http.createServer()));
const secureProxyPort = await listen(takeConnect(https.createServer({ key, cert })));
const proxy = `http://me:p%40ss@127.0.0.1:${proxyPort}`;

function egressWith(options: Partial<GuardOptions> = {}): Egress {
  const flags = { allowPrivateEgress: false, allowInsecureHttp: true };
  const egress = createEgress({ ...flags, lookup, tlsCa: [ca], httpsProxy: proxy, httpProxy: proxy, ...options });
  closers.push(() => egress.close());
  return egress;
}

const read = async (egress: Egress, url: string): Promise<string> => (await egress.fetch(url)).text();

async function errorOf(work: Promise<unknown>): Promise<ApiError> {
  return work.then(
    () => assert.fail('it was answered'),
    (error: unknown) => {
      for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof ApiError) return cause;
      throw error;
    },
  );
}

test('reaches a target through the proxy by its checked address, with TLS to the target', async () => {
  const egress = egressWith();
  assert.equal(await read(egress, 'https://good.test/v1'), 'secure');
  const authorization = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
  assert.deepEqual(asked, [{ target: `${first}:443`, authorization }]);
  assert.equal(await read(egress, 'http://good.test/v1'), 'plain');
  assert.equal(asked.at(-1)?.target, `${first}:80`);
  const wrongName = await errorOf(read(egress, 'https://other.test/'));
  assert.equal(failureDetails(wrongName)?.reason, 'tls');
  const stranger = createEgress({ allowPrivateEgress: false, allowInsecureHttp: false, lookup, httpsProxy: proxy });
  closers.push(() => void stranger.close());
  assert.equal(failureDetails(await errorOf(read(stranger, 'https://good.test/')))?.reason, 'tls');
});

test('refuses forbidden targets before it connects to the proxy', async () => {
  const egress = egressWith({ allowInsecureHttp: false });
  for (const url of [
    'https://inside.test/',
    'https://10.0.0.5/',
    'https://169.254.169.254/latest',
    'https://metadata.google.internal/',
    'https://localhost/',
    'http://good.test/',
  ]) {
    assert.equal((await errorOf(read(egress, url))).code, 'blocked_destination', url);
  }
  assert.equal(connections, 0);
});

test('calls this machine and the names of NO_PROXY directly', async () => {
  const egress = egressWith({ allowPrivateEgress: true, noProxy: ['10.0.0.0/8'] });
  assert.equal(await read(egress, `http://127.0.0.1:${plainTarget}/`), 'plain');
  assert.equal(await read(egress, `https://localhost:${secureTarget}/`), 'secure');
  assert.equal(connections, 0);
});

test('tries the next address when the proxy refuses one, and a refusal shows nothing of it', async () => {
  answerOf = (target) => (target.startsWith(second) ? '200 Fine' : '403 Not this one');
  const egress = egressWith();
  assert.equal(await read(egress, 'https://good.test/'), 'secure');
  assert.deepEqual(
    asked.map(({ target }) => target),
    [`${first}:443`, `${second}:443`],
  );
  answerOf = () => '407 Who are you';
  const refused = await errorOf(read(egressWith(), 'https://good.test/'));
  assert.deepEqual(failureDetails(refused), { reason: 'refused', phase: 'connect' });
  assert.doesNotMatch(`${refused.message}${refused.stack}`, /p@ss|p%40ss|Who are you/);
});

test('supports TLS on the connection to the proxy itself', async () => {
  const egress = egressWith({ httpsProxy: `https://localhost:${secureProxyPort}` });
  assert.equal(await read(egress, 'https://good.test/'), 'secure');
  assert.deepEqual(asked, [{ target: `${first}:443`, authorization: undefined }]);
});

test('NODE_EXTRA_CA_CERTS makes the operator’s own certificate authority trusted', async () => {
  const module = join(import.meta.dirname, '../../src/egress/egress.ts');
  const script = `
    import { createEgress } from ${JSON.stringify(module)};
    const egress = createEgress({ allowPrivateEgress: true, allowInsecureHttp: false });
    const answer = await egress.fetch('https://localhost:${secureTarget}/').then((found) => found.text(), (error) => error.message);
    process.stdout.write(answer);
    process.exit(0);`;
  const run = (env: Record<string, string>) =>
    new Promise<string>((resolve, reject) => {
      const { PATH, NODE_COMPILE_CACHE } = process.env;
      const options = { env: { PATH, NODE_COMPILE_CACHE, ...env } };
      execFile(process.execPath, ['--input-type=module', '-e', script], options, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      );
    });
  assert.equal(await run({ NODE_EXTRA_CA_CERTS: caFile }), 'secure');
  assert.match(await run({}), /the authority of its certificate is unknown; name its file in NODE_EXTRA_CA_CERTS/);
});
