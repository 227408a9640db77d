import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../app.ts';
import { admin, resultOf } from '../command-admin.ts';
import { databaseSettings } from '../database.ts';

/** The operator's commands for accounts, sessions and maintenance, beside a running service. */

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

async function run(...args: string[]) {
  const { config } = app.service.deps;
  // The same cost for both, so that one can check the other's hashes.
  const NODE_OPTIONS = `--import=${new URL('../cheap-passwords.ts', import.meta.url)}`;
  const env = { NODE_OPTIONS, ...databaseSettings(app.database), SETTINGS_ENCRYPTION_KEY: config.encryptionKey };
  const ended = await admin([...args, '--json'], env);
  const { code, output } = ended;
  assert.ok(output.startsWith('{') || code === 2, output);
  return { code, output, result: code === 2 ? undefined : resultOf(ended) };
}

async function signsIn(email: string, password: string): Promise<number> {
  return (await app.anonymous.call('POST /api/auth/sign-in/email', { email, password })).status;
}

test('adds an account, finds it, resets its password, disables it and enables it again', async () => {
  const email = 'ann@example.org';
  const added = await run('users', 'add', email, '--name', 'Ann', '--admin');
  assert.deepEqual([added.code, added.result.user.role, added.result.user.mustChangePassword], [0, 'admin', true]);
  assert.equal(await signsIn(email, added.result.password), 200);
  assert.match((await run('users', 'add', email)).result.error.message, /address|exists/i);
  assert.equal((await run('users', 'add', 'no address')).code, 2);

  const found = await run('users', 'list', 'ann@');
  assert.deepEqual(
    found.result.users.map((user: { email: string }) => user.email),
    [email],
  );
  const { rowCount } = await app.database.database.pool.query('select from sessions');
  assert.equal(rowCount, 1);

  const file = join(tmpdir(), `homeport-password-${process.pid}`);
  await writeFile(file, 'a much better password 2\n');
  const reset = await run('users', 'reset-password', email, '--password-file', file);
  assert.deepEqual([reset.code, reset.result.password, reset.result.user.mustChangePassword], [0, undefined, false]);
  assert.equal((await app.database.database.pool.query('select from sessions')).rowCount, 0);
  assert.equal(await signsIn(email, 'a much better password 2'), 200);

  assert.match((await run('users', 'disable', email)).result.error.message, /administrator/);
  await app.signIn({ role: 'admin' });
  assert.equal((await run('users', 'disable', email)).result.user.enabled, false);
  assert.equal(await signsIn(email, 'a much better password 2'), 403);
  assert.equal((await run('users', 'enable', email)).code, 0);
  assert.equal(await signsIn(email, 'a much better password 2'), 200);
  assert.equal((await run('users', 'enable', 'nobody@example.org')).code, 1);

  assert.equal((await run('users', 'delete', email)).code, 2);
  assert.equal((await run('users', 'delete', email, '--data', 'delete')).code, 0);
  assert.deepEqual((await run('users', 'list', email)).result.users, []);
});

test('ends the sessions of one account or of all', async () => {
  const [one, other] = [await app.signIn(), await app.signIn()];
  assert.equal((await run('sessions', 'end', one.email)).result.ended, 1);
  assert.equal((await one.call('GET /api/me')).status, 401);
  assert.equal((await other.call('GET /api/me')).status, 200);
  assert.equal((await run('sessions', 'end')).code, 2);
  assert.ok((await run('sessions', 'end', '--all')).result.ended >= 1);
  assert.equal((await other.call('GET /api/me')).status, 401);
});

test('during maintenance users read and administrators write, and refusals have a code and a message', async () => {
  const [person, administrator] = [await app.signIn(), await app.signIn({ role: 'admin' })];
  const on = await run('maintenance', 'on', '--message', 'Back at noon.');
  assert.equal(on.code, 0);
  const refused = await person.call('POST /api/chats', {});
  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.body.error.message],
    [503, 'maintenance', 'Back at noon.'],
  );
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.equal((await person.call('GET /api/chats')).status, 200);
  assert.equal((await administrator.call('POST /api/chats', {})).status, 201);
  assert.equal((await person.call('POST /api/auth/sign-out')).status, 200);
  const open = await app.anonymous.call('GET /api/maintenance');
  assert.deepEqual(open.body.maintenance, on.result.maintenance);
  assert.equal((await run('maintenance', 'off')).result.maintenance, null);
  assert.equal((await (await app.signIn()).call('POST /api/chats', {})).status, 201);
});

test('every command has a help text', async () => {
  const { output } = await admin(['--help'], {});
  const names = [...output.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?)/gm)].map(([, name = '']) => name);
  for (const name of ['backup', 'verify', 'restore', 'users list', 'sessions end', 'maintenance on', 'export']) {
    assert.ok(names.includes(name), name);
  }
  for (const name of ['backup', 'users add', 'users']) {
    const help = await admin([...name.split(' '), '--help'], {});
    assert.deepEqual([help.code, help.output.startsWith('Usage: npm run admin -- ')], [0, true], name);
  }
  assert.match((await admin(['--version'], {})).output, /^\d+\.\d+\.\d+\n$/);
});
