import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Backup } from '@homeport/contracts/operations';
import { until } from '../../../contracts/test/until.ts';
import { readBackup } from '../../src/backups/verify.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';

/** Administrators' view of backups and of the state of the installation. */

let app: TestApp;
let administrator: SignedIn;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-page-'));
  app = await startTestApp({ config: { dataDir: folder, backupSchedule: 'daily 03:00' } });
  administrator = await app.signIn({ role: 'admin' });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

test('an administrator starts a backup, sees it finish, and finds it in the list', async () => {
  const begun = await administrator.call('POST /api/admin/backups', {});
  assert.deepEqual([begun.status, begun.body.backup.state, begun.body.backup.cause], [202, 'running', 'page']);
  let found: Backup | undefined;
  await until('the backup has ended', async () => {
    const { body } = await administrator.call('GET /api/admin/backups');
    found = body.backups.find(({ id }: Backup) => id === begun.body.backup.id);
    return found?.state !== 'running';
  });
  assert.ok(found !== undefined && found.state === 'done', found?.error ?? '');
  await readBackup(createReadStream(found.place), undefined, {});
  const { body } = await administrator.call('GET /api/admin/backups');
  assert.deepEqual([body.schedule, body.place, body.encrypted], ['daily 03:00', join(folder, 'backups/'), false]);
  assert.equal((await (await app.signIn()).call('POST /api/admin/backups', {})).status, 403);
});

test('two concurrent requests start one backup', async () => {
  const client = await app.database.database.openClient();
  // A table that backups read: the running one does not finish before all requests are answered.
  await client.query('begin');
  await client.query('lock table prompts in access exclusive mode');
  const asked = await Promise.all([1, 2, 3].map(() => administrator.call('POST /api/admin/backups', {}))).finally(() =>
    client.end(),
  );
  assert.deepEqual([...new Set(asked.map(({ status }) => status))], [202]);
  assert.equal(new Set(asked.map(({ body }) => body.backup.id)).size, 1);
});

test('reports an abandoned backup as lost, and starts the next one', async () => {
  await app.database.database.pool.query(
    `insert into backups (id, cause, state, place, lease_until) values ('gone', 'command', 'running', '-', now() - interval '1 second')`,
  );
  const { body } = await administrator.call('GET /api/admin/backups');
  assert.equal(body.backups.find(({ id }: Backup) => id === 'gone').state, 'lost');
  const begun = await administrator.call('POST /api/admin/backups', { withWorkspaces: true });
  assert.notEqual(begun.body.backup.id, 'gone');
});

test("administrators run the doctor's checks", async () => {
  const { status, body } = await administrator.call('GET /api/admin/doctor');
  assert.equal(status, 200);
  for (const check of ['database', 'files', 'clock']) {
    assert.equal(body.checks.find((found: { check: string }) => found.check === check)?.state, 'ok', check);
  }
  const disk = body.checks.find((found: { check: string }) => found.check === 'disk');
  assert.deepEqual([disk.reason, typeof disk.values.free], ['disk_free', 'number']);
  assert.match(disk.message, /^\d+ [MG]B free on the data disk\.$/);
});
