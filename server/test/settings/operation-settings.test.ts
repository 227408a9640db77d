import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sweepAudit } from '../../src/administration/audit-retention.ts';
import { readBackupInterval } from '../../src/backups/scheduled-backups.ts';
import { checkBackups } from '../../src/commands/doctor-backups.ts';
import { getOperationSettings, readOperation, updateOperationSettings } from '../../src/settings/operation.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { upload } from '../artifacts/artifact-makers.ts';

/** Settings of the operation: environment, then page, then default, in force without a restart on every replica. */

let app: TestApp;
let admin: SignedIn;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-operation-'));
  app = await startTestApp({ config: { dataDir: folder } });
  admin = await app.signIn({ role: 'admin' });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

const change = (body: object) => admin.call('PATCH /api/admin/settings', body);
const read = async () => (await admin.call('GET /api/admin/settings')).body.settings;
/** Another replica, with its own environment, on the same database. */
function replica(set: object = {}) {
  const { deps } = app.service;
  return { ...deps, config: { ...deps.config, ...set, fromEnvironment: new Set(Object.keys(set)) } };
}
const put = async (user: SignedIn, chatId: string, bytes: number) =>
  (await upload(user, { chatId }, { name: `f-${bytes}.txt`, bytes: Buffer.alloc(bytes, 'x') })).status;

test('a change of the schedule is in force at once, on every replica, and in the audit log', async () => {
  assert.deepEqual(await read().then(({ backupSchedule }) => [backupSchedule.value, backupSchedule.source]), [
    null,
    'default',
  ]);
  const { status, body } = await change({ backupSchedule: 'Weekly Sunday 04:00', backupKeep: 3 });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.settings.backupSchedule, {
    value: 'weekly sunday 04:00',
    source: 'page',
    variable: 'BACKUP_SCHEDULE',
    default: null,
  });
  assert.deepEqual((await readOperation(replica())).backupKeep, 3);
  assert.equal(await readBackupInterval(replica()), 7 * 86_400);
  const page = (await admin.call('GET /api/admin/backups')).body;
  assert.deepEqual([page.schedule, page.keep], ['weekly sunday 04:00', 3]);
  assert.match((await admin.call('GET /api/admin/overview')).body.overview.backups.nextAt, /T04:00:00/);
  const { deps } = app.service;
  assert.equal((await checkBackups(deps.config, deps.db)).reason, 'backup_none_scheduled');
  const { events } = (await admin.call('GET /api/admin/audit', undefined, { query: { limit: '5' } })).body;
  const event = events.find((each: { action: string }) => each.action === 'settings.updated');
  assert.deepEqual(event.details, {
    changed: ['backupSchedule', 'backupKeep'],
    backupSchedule: 'weekly sunday 04:00',
    backupKeep: 3,
  });
  assert.equal((await change({ backupSchedule: null, backupKeep: null })).body.settings.backupKeep.source, 'default');
  assert.equal(await readBackupInterval(replica()), 0);
});

test('the environment wins, says so, and refuses a change', async () => {
  await change({ backupKeep: 5, auditDays: 90 });
  const other = replica({ backupKeep: 9, backupSchedule: 'hourly' });
  const seen = await getOperationSettings(other);
  assert.deepEqual(
    [seen.backupKeep, seen.backupSchedule.source, seen.auditDays.value],
    [{ value: 9, source: 'environment', variable: 'BACKUP_KEEP', default: 7 }, 'environment', 90],
  );
  const source = { actorId: admin.id, address: null, requestId: null };
  await assert.rejects(updateOperationSettings(other, { backupKeep: 4, auditDays: 60 }, source), {
    code: 'invalid_request',
    message: 'BACKUP_KEEP is set in the environment, so it can only be changed there',
  });
  assert.equal((await read()).auditDays.value, 90, 'nothing of a refused change is stored');
  assert.equal((await updateOperationSettings(other, { auditDays: null }, source)).auditDays.source, 'default');
});

test('refuses invalid values with the field and what it takes, and stores nothing', async () => {
  await change({ backupKeep: null, backupSchedule: null, auditDays: null });
  for (const [body, path] of [
    [{ backupSchedule: 'sometimes' }, 'backupSchedule'],
    [{ backupSchedule: 'daily 25:00' }, 'backupSchedule'],
    [{ backupSchedule: '' }, 'backupSchedule'],
    [{ backupSchedule: 'x'.repeat(65) }, 'backupSchedule'],
    [{ backupSchedule: 7 }, 'backupSchedule'],
    [{ backupKeep: 0 }, 'backupKeep'],
    [{ backupKeep: 1.5 }, 'backupKeep'],
    [{ backupKeep: '3' }, 'backupKeep'],
    [{ backupWorkspaces: 'yes' }, 'backupWorkspaces'],
    [{ auditDays: 29 }, 'auditDays'],
    [{ auditDays: 3_651 }, 'auditDays'],
    [{ artifactMaxUploadBytes: 0 }, 'artifactMaxUploadBytes'],
    [{ artifactQuotaMb: -1, backupKeep: 4 }, 'artifactQuotaMb'],
  ] as const) {
    const { status, body: answer } = await change(body);
    assert.deepEqual([status, answer.error?.details?.[0]?.path], [400, path], JSON.stringify(body));
  }
  assert.equal((await read()).backupKeep.source, 'default');
  assert.equal((await (await app.signIn()).call('PATCH /api/admin/settings', { backupKeep: 1 })).status, 403);
});

test('no schedule is taken without a place that all replicas keep', async () => {
  const elsewhere = { ...replica(), config: { ...replica().config, databaseUrl: 'postgres://db/homeport' } };
  const source = { actorId: admin.id, address: null, requestId: null };
  await assert.rejects(updateOperationSettings(elsewhere, { backupSchedule: 'hourly' }, source), /BACKUP_TO/);
  assert.equal((await getOperationSettings(elsewhere)).hasBackupPlace, false);
});

test('removes events beyond the retention that is set in the page', async () => {
  const { pool } = app.database.database;
  await pool.query(`insert into audit_events (id, actor_id, action, at, details)
    select 'old-' || n, null, 'session.signed_in', now() - n * interval '1 day', '{}' from generate_series(30, 410) n`);
  const left = async () => {
    const { rows } = await pool.query(`select count(*)::int as count from audit_events where id like 'old-%'`);
    return rows[0].count;
  };
  const sweep = () => sweepAudit(app.service.deps, new AbortController().signal);
  await change({ auditDays: null });
  await sweep();
  assert.equal(await left(), 370);
  await change({ auditDays: 30 });
  await sweep();
  assert.equal(await left(), 0);
  await change({ auditDays: null });
});

test('new limits of files count with the next upload', async () => {
  const user = await app.signIn();
  const { body } = await user.call('POST /api/chats', {});
  const size = 3_000;
  assert.equal(await put(user, body.chat.id, size), 201);
  await change({ artifactMaxUploadBytes: size - 1 });
  assert.equal((await user.call('GET /api/public-config')).body.limits.artifactMaxUploadBytes, size - 1);
  assert.equal(await put(user, body.chat.id, size), 413);
  await change({ artifactMaxUploadBytes: 3 * 1024 * 1024, artifactQuotaMb: 1 });
  assert.equal(await put(user, body.chat.id, 2 * 1024 * 1024), 507);
  await change({ artifactMaxUploadBytes: null, artifactQuotaMb: null });
  assert.equal(await put(user, body.chat.id, size + 1), 201);
});
