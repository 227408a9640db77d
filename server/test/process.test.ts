import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { until } from '../../contracts/test/until.ts';
import { createTestDatabase } from './database.ts';
import { dataFolder, postmasterPid, ready, startServer, takePort, untilPrinted } from './process.ts';

/** The process as operators see it: failing starts, mistyped settings, reached limits. */

const key = 'a key for the tests longer than 32 bytes';
const secrets = { AUTH_SECRET: key, SETTINGS_ENCRYPTION_KEY: key };

test('a start on a taken port reports it and leaves no database running', async () => {
  const dataDir = dataFolder();
  const taken = await takePort();
  const server = startServer({ DATA_DIR: dataDir, PORT: String(taken.port) });
  assert.equal(await server.exited, 1);
  taken.release();
  assert.match(server.output(), new RegExp(`PORT ${taken.port} cannot be listened on \\(.*EADDRINUSE`));
  assert.equal(postmasterPid(dataDir), undefined, 'the database still runs');
});

for (const name of ['DATA_DIR', 'ARTIFACT_STORE']) {
  test(`immediately reports a ${name} that cannot be created`, async () => {
    const dataDir = dataFolder();
    const server = startServer({ DATA_DIR: dataDir, [name]: '/proc/homeport/data' });
    assert.equal(await server.exited, 1);
    assert.match(server.output(), new RegExp(`${name} is .*(/proc/homeport/data|cannot be written to)`));
    assert.equal(postmasterPid(dataDir), undefined, 'the database still runs');
  });
}

test('reports a DATA_DIR that cannot be created even if both secrets are set', async () => {
  const server = startServer({ DATA_DIR: '/proc/homeport/data', ...secrets });
  assert.equal(await server.exited, 1);
  assert.match(server.output(), /DATA_DIR is "\/proc\/homeport\/data"; it takes a folder of your own/);
});

test('keeps certificates that are still being read open when it closes inherited descriptors', async () => {
  const pipe = join(dataFolder(), 'certificates.pem');
  execFileSync('mkfifo', [pipe]);
  const [certificate = ''] = rootCertificates;
  // Opened for reading too, so that opening does not block.
  const written = await open(pipe, 'r+');
  const server = startServer({ DATA_DIR: dataFolder(), NODE_EXTRA_CA_CERTS: pipe });
  await written.write(certificate.slice(0, 100));
  await untilPrinted(server, /database started/);
  await written.write(`${certificate.slice(100)}\n`);
  await written.close();
  await ready(server);
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0, server.output());
  assert.doesNotMatch(server.output(), /Ignoring extra certs/);
});

test('names a mistyped setting with the intended one', async () => {
  const server = startServer({ DATA_DIR: dataFolder(), TRUSTED_PROXYS: '127.0.0.1' });
  await ready(server);
  const warning = server.lines().find(({ setting }) => setting === 'TRUSTED_PROXYS');
  assert.equal(warning?.level, 40);
  assert.equal(warning?.meant, 'TRUSTED_PROXIES');
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0, server.output());
});

test('logs that it ran out of file descriptors', async () => {
  const server = startServer({ DATA_DIR: dataFolder() }, '-n 120');
  const url = new URL(await ready(server));
  const sockets: Socket[] = [];
  for (let index = 0; index < 200; index += 1) {
    sockets.push(connect(Number(url.port), url.hostname).on('error', () => undefined));
  }
  await untilPrinted(server, /file descriptors are running out/);
  for (const socket of sockets) socket.destroy();
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0, server.output());
});

test('uses HTTPS_PROXY for the addresses of users’ providers', async (context) => {
  const asked: string[] = [];
  const proxy = createServer().on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.end('HTTP/1.1 403 Not there\r\n\r\n');
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  context.after(() => proxy.close());
  const address = proxy.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const server = startServer({ DATA_DIR: dataFolder(), HTTPS_PROXY: `http://127.0.0.1:${port}` });
  const origin = await ready(server);
  const post = async (path: string, body: object, cookie = ''): Promise<Response> =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin, cookie },
      body: JSON.stringify(body),
    });
  const person = { name: 'Ada', email: 'ada@example.org', password: 'correct-horse-42' };
  const setup = await post('/api/setup', person);
  assert.equal(setup.status, 201);
  const cookie = setup.headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ');
  const made = await post('/api/providers', { name: 'P', baseUrl: 'https://93.184.216.34/v1', apiKey: 'k' }, cookie);
  const { provider } = (await made.json()) as { provider: { id: string } };
  assert.equal((await post('/api/providers/test', { id: provider.id }, cookie)).status, 502);
  assert.ok(asked.length > 0 && asked.every((target) => target === '93.184.216.34:443'), String(asked));
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0, server.output());
});

test('DATABASE_POOL_MAX is the number of connections, plus one for signals', async () => {
  const { url, database, drop } = await createTestDatabase();
  const server = startServer({ DATA_DIR: dataFolder(), ...secrets, DATABASE_URL: url, DATABASE_POOL_MAX: '3' });
  const address = await ready(server);
  const holder = await database.openClient();
  await holder.query('begin');
  await holder.query('lock table users in access exclusive mode');
  const signIns = Array.from({ length: 12 }, (_, index) =>
    fetch(`${address}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: address },
      body: JSON.stringify({ email: `nobody-${index}@example.org`, password: 'correct-horse-42' }),
    }),
  );
  const countOpen = async (): Promise<number | null> => {
    const { rowCount } = await holder.query(`select 1 from pg_stat_activity
      where datname = current_database() and application_name like 'homeport %' and pid <> pg_backend_pid()`);
    return rowCount;
  };
  await until('it has as many as it may', async () => (await countOpen()) === 4);
  // The first answer is for a request which found no free connection, however long it waited.
  assert.equal((await Promise.race(signIns)).status, 503);
  assert.equal(await countOpen(), 4);
  await holder.query('rollback');
  for (const response of await Promise.all(signIns)) assert.ok([401, 503].includes(response.status));
  await holder.end();
  server.child.kill('SIGTERM');
  assert.equal(await server.exited, 0, server.output());
  await drop();
});
