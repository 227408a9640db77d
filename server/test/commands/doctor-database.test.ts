import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { freePort } from '../../../contracts/test/free-port.ts';
import { findPgBouncer, startPgBouncer } from '../../../scripts/test/system-pgbouncer.mjs';
import { admin } from '../command-admin.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';

/** The operator's commands with an unusable database: one reason, and advice. */

let folder: string;
let database: TestDatabase;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-doctor-database-'));
  database = await createTestDatabase();
});
after(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const key = 'an encryption key of more than 32 bytes for tests';
const run = (args: string[], url: string, more: Record<string, string> = {}) =>
  admin(args, {
    DATABASE_URL: url,
    SETTINGS_ENCRYPTION_KEY: key,
    DATA_DIR: folder,
    WORKSPACE_MODE: 'disabled',
    ...more,
  });

test('every command names an unreachable database and its setting, and never the password', async () => {
  const port = await freePort();
  const url = `postgres://homeport:secret-word@127.0.0.1:${port}/chat`;
  for (const args of [
    ['users', 'list'],
    ['sessions', 'end', '--all'],
    ['backup', '--to', `${folder}/`],
  ]) {
    const { code, output } = await run(args, url);
    assert.equal(code, 1, args.join(' '));
    assert.match(output, new RegExp(`database at 127\\.0\\.0\\.1:${port} does not answer \\(ECONNREFUSED\\)`));
    assert.match(output, /host and port in DATABASE_URL/);
    assert.doesNotMatch(output, /secret-word/);
  }
});

test('the doctor names an unreachable database once, and checks everything else', async () => {
  const port = await freePort();
  const { code, output } = await run(['doctor'], `postgres://u:p@127.0.0.1:${port}/chat`, { PORT: '0' });
  assert.equal(code, 1, output);
  assert.match(output, /FAILED {2}database: The database at 127\.0\.0\.1:\d+ does not answer \(ECONNREFUSED\)/);
  assert.equal(output.split('FAILED').length - 1, 1, output);
  for (const check of ['settings', 'disk', 'permissions', 'workspaces', 'address'])
    assert.match(output, new RegExp(check));
});

test('the doctor names a database that accepts connections and never answers', { timeout: 120_000 }, async (t) => {
  const silent = createServer(() => undefined);
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  t.after(() => silent.close());
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const { code, output } = await run(['doctor'], `postgres://u:p@127.0.0.1:${port}/chat`, { PORT: '0' });
  assert.equal(code, 1);
  assert.match(output, /FAILED {2}database: The database does not answer \(timeout expired\)/);
});

test('names a pooler without DATABASE_DIRECT_URL together with that setting', async (t) => {
  const program = findPgBouncer();
  if (program === undefined) return t.skip('PgBouncer is not installed');
  const pooler = await startPgBouncer(program, database.url, 4);
  t.after(() => pooler.stop());
  const url = new URL(pooler.url);
  url.pathname = new URL(database.url).pathname;
  for (const args of [['users', 'list'], ['doctor']]) {
    const { code, output } = await run(args, url.href, { PORT: '0' });
    assert.equal(code, 1);
    assert.match(output, /pooler such as PgBouncer.*DATABASE_DIRECT_URL/, output);
  }
});
