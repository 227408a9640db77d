import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { checkBackups } from '../../src/commands/doctor-backups.ts';
import { startTestApp, type TestApp } from '../app.ts';

/** The doctor on backups: a schedule that fails, or has unusable files, is a problem. */

let app: TestApp;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-doctor-backups-'));
  app = await startTestApp();
});
beforeEach(() => app.database.database.pool.query('delete from backups'));
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

const look = (schedule: string | undefined, backupTo = folder) =>
  checkBackups({ ...app.service.deps.config, backupSchedule: schedule, backupTo }, app.service.deps.db);

type Row = { state: 'done' | 'failed' | 'running'; hoursAgo: number; cause?: string; error?: string; file?: string };
let rows = 0;
async function insert({ state, hoursAgo, cause = 'schedule', error, file = join(folder, 'a.tar') }: Row) {
  rows += 1;
  await app.database.database.pool.query(
    `insert into backups (id, cause, state, place, error, size, lease_until, started_at, finished_at)
     values ($1, $2, $3, $4, $5, $6, now() - $7 * interval '1 hour', now() - $7 * interval '1 hour',
       case $3 when 'running' then null else now() - $7 * interval '1 hour' end)`,
    [`row-${rows}`, cause, state, file, error, state === 'done' ? 5 : null, hoursAgo],
  );
}

test('reports a failed scheduled backup with its reason', async () => {
  await insert({ state: 'failed', hoursAgo: 1, error: 'EACCES: permission denied' });
  const found = await look('daily 03:00');
  assert.equal(found.state, 'failed');
  assert.match(found.message, /failed at .*: EACCES: permission denied/);
  assert.match(found.advice ?? '', /tries again in an hour/);
});

test('still reports a failed scheduled backup after a manual success or an older one', async () => {
  await writeFile(join(folder, 'a.tar'), '12345');
  await insert({ state: 'done', hoursAgo: 30 });
  await insert({ state: 'failed', hoursAgo: 2, error: 'no space' });
  await insert({ state: 'done', hoursAgo: 1, cause: 'command' });
  assert.match((await look('daily 03:00')).message, /no space/);
});

test('reports a scheduled backup whose process ended', async () => {
  await insert({ state: 'running', hoursAgo: 1 });
  assert.match((await look('daily 03:00')).message, /process that made it ended/);
});

test('reports a scheduled backup that is missing or has another size', async () => {
  const file = join(folder, 'b.tar');
  await writeFile(file, '12345');
  await insert({ state: 'done', hoursAgo: 1, file });
  assert.equal((await look('daily 03:00')).state, 'ok');
  await truncate(file, 3);
  assert.match((await look('daily 03:00')).message, /has 3 bytes rather than 5/);
  await rm(file);
  assert.match((await look('daily 03:00')).message, /cannot be read.*ENOENT/);
});

test('reports a place that cannot be written to before the first backup', async () => {
  await writeFile(join(folder, 'file'), '');
  const found = await look('daily 03:00', join(folder, 'file/inside'));
  assert.equal(found.state, 'failed');
  assert.match(found.message, /cannot be written to .*file\/inside/);
  assert.match(found.advice ?? '', /BACKUP_TO/);
  await mkdir(join(folder, 'new'), { recursive: true });
  assert.equal((await look('daily 03:00', join(folder, 'new/er'))).state, 'warning');
});

test('reports a backup that is older than two intervals of its schedule', async () => {
  await writeFile(join(folder, 'a.tar'), '12345');
  await insert({ state: 'done', hoursAgo: 30 });
  for (const [schedule, state] of [
    ['hourly', 'failed'],
    ['daily 03:00', 'ok'],
    ['weekly sunday 03:00', 'ok'],
  ] as const)
    assert.equal((await look(schedule)).state, state, schedule);
});

test('without a schedule, only warns about a failed manual backup and an old one', async () => {
  assert.match((await look(undefined)).message, /no backup yet/);
  await insert({ state: 'failed', hoursAgo: 1, cause: 'page', error: 'the disk is full' });
  const failed = await look(undefined);
  assert.deepEqual([failed.state, /the disk is full/.test(failed.message)], ['warning', true]);
  await app.database.database.pool.query('delete from backups');
  await insert({ state: 'done', hoursAgo: 9 * 24, cause: 'command', file: '/gone/away.tar' });
  assert.equal((await look(undefined)).state, 'warning');
  await insert({ state: 'done', hoursAgo: 24, cause: 'command', file: '/gone/away.tar' });
  assert.equal((await look(undefined)).state, 'ok');
});
