import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runCommand } from '../../src/commands/command.ts';
import { commands } from '../../src/commands/commands.ts';
import { createTestDatabase, databaseSettings, type TestDatabase } from '../database.ts';

/** No operator's command works on a database that a newer release has migrated. */

const email = 'ann@example.org';
const file = import.meta.filename;
const place = join(tmpdir(), `homeport-newer-${process.pid}.tar`);
/** The arguments of each command; a new command needs a line here. */
const calls: Record<string, readonly string[]> = {
  backup: ['--to', place],
  doctor: [],
  'users list': [],
  'users add': [email],
  'users reset-password': [email],
  'users enable': [email],
  'users disable': [email],
  'users delete': [email, '--data', 'delete'],
  'sessions end': ['--all'],
  'maintenance on': [],
  'maintenance off': [],
  import: [file, '--user', email],
  'rotate-keys': [],
  'adopt-key': [],
  'adopt-store': [],
  export: [],
};
/** One reads a file only; the other takes an empty database and refuses every other (backup-refusals.test.ts). */
const withoutInstallation = ['verify', 'restore'];

let database: TestDatabase;

before(async () => {
  // Each call listens for the signals that would end its process.
  process.setMaxListeners(0);
  database = await createTestDatabase();
  await database.database.pool.query(`insert into kysely_migration (name, timestamp) values ('9999-future', 'now')`);
  const secrets = { AUTH_SECRET: 'session '.repeat(6), SETTINGS_ENCRYPTION_KEY: 'encryption '.repeat(6) };
  Object.assign(process.env, { ...secrets, ...databaseSettings(database) });
});

after(() => database.drop());

test('the tests call every command, or list the reason why not', () => {
  assert.deepEqual(
    commands.map(({ name }) => name).toSorted(),
    [...Object.keys(calls), ...withoutInstallation].toSorted(),
  );
});

const refusal =
  'The database was migrated by a newer release of Homeport (it has 9999-future). ' +
  'Start that release or a later one, or restore a backup made by this release.';

for (const [name, args] of Object.entries(calls)) {
  test(`${name} refuses a newer schema with advice`, async (t) => {
    const written: string[] = [];
    // `doctor` reports it among its findings, on standard output.
    const stream = name === 'doctor' ? process.stdout : process.stderr;
    const write = t.mock.method(stream, 'write', (text: string | Uint8Array) => written.push(String(text)) > 0);
    const code = await runCommand(commands, [...name.split(' '), ...args], '1.2.3');
    write.mock.restore();
    assert.equal(code, 1);
    if (name === 'doctor') assert.ok(written.join('').includes(refusal), written.join(''));
    else assert.deepEqual(written, [`${refusal}\n`]);
  });
}

test('records none of the refused commands', async () => {
  const { rows } = await database.database.pool.query('select action from audit_events');
  assert.deepEqual(rows, []);
});
