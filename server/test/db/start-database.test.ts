import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { freePort } from '../../../contracts/test/free-port.ts';
import { findPgBouncer, startPgBouncer } from '../../../scripts/test/system-pgbouncer.mjs';
import { createTestDatabase } from '../database.ts';
import { makeCertificates } from '../fakes/certificates.ts';
import { dataFolder, startServer } from '../process.ts';

/** Starts with an unusable DATABASE_URL: the reason, the setting, and never the password. */

const key = 'a key for the tests longer than 32 bytes';

async function refused(url: string, more: Record<string, string> = {}): Promise<string> {
  const secrets = { AUTH_SECRET: key, SETTINGS_ENCRYPTION_KEY: key };
  const server = startServer({ DATA_DIR: dataFolder(), DATABASE_URL: url, ...secrets, ...more });
  assert.equal(await server.exited, 1, server.output());
  assert.doesNotMatch(server.output(), /secret-word/);
  return server.output();
}

/** Serves TLS as PostgreSQL does, up to the first message. */
async function startTlsDatabase(folder: string) {
  const { cert, key: privateKey, caFile } = makeCertificates(folder, ['localhost']);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('S');
      const secure = new TLSSocket(socket, { isServer: true, cert, key: privateKey });
      secure.on('error', () => undefined);
      secure.on('data', () => secure.destroy());
    });
  });
  await new Promise<void>((done) => server.listen(0, 'localhost', done));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: `postgres://homeport:secret-word@localhost:${port}/chat`, caFile, close: () => server.close() };
}

test("reports a certificate of a private authority with both settings that trust it, without a library's warning", async (t) => {
  const database = await startTlsDatabase(dataFolder());
  t.after(database.close);
  for (const mode of ['require', 'prefer', 'verify-ca', 'verify-full']) {
    const output = await refused(`${database.url}?sslmode=${mode}`);
    assert.match(output, /Homeport cannot start: The certificate of the database is not signed by a known authority/);
    assert.match(output, /sslrootcert=.*NODE_EXTRA_CA_CERTS/);
    assert.doesNotMatch(output, /SECURITY WARNING|emitWarning|trace-warnings/);
  }
  const trusted = await refused(`${database.url}?sslmode=require&sslrootcert=${database.caFile}`);
  assert.match(trusted, /The database does not answer \(Connection terminated unexpectedly\)/);
  const extra = await refused(`${database.url}?sslmode=require`, { NODE_EXTRA_CA_CERTS: database.caFile });
  assert.match(extra, /The database does not answer \(Connection terminated unexpectedly\)/);
  assert.match(await refused(`${database.url}?sslrootcert=/nowhere/ca.pem`), /cannot be read.*\/nowhere\/ca\.pem/);
});

test('reports a database that does not answer with its address', async () => {
  const output = await refused(`postgres://homeport:secret-word@127.0.0.1:${await freePort()}/chat`);
  assert.match(output, /The database at 127\.0\.0\.1:\d+ does not answer \(ECONNREFUSED\)\. Check that/);
});

test('reports a pooler without DATABASE_DIRECT_URL with that setting', async (t) => {
  const program = findPgBouncer();
  if (program === undefined) return t.skip('PgBouncer is not installed');
  const database = await createTestDatabase();
  const pooler = await startPgBouncer(program, database.url, 4);
  t.after(async () => {
    await pooler.stop();
    await database.drop();
  });
  const url = new URL(pooler.url);
  url.pathname = new URL(database.url).pathname;
  assert.match(await refused(url.href), /leads to a pooler such as PgBouncer.* set DATABASE_DIRECT_URL/);
});
