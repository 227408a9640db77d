import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { backUpIfDue } from '../../src/backups/scheduled-backups.ts';
import { startTestApp, type TestApp } from '../app.ts';

/** Scheduled backups: one for each time, with retention and reported failures. */

let app: TestApp;
let folder: string;
let needs: TestApp['service']['deps'];
const logged: string[] = [];
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-scheduled-'));
  app = await startTestApp({
    config: { backupTo: folder, backupKeep: 2, metricsToken: 'token' },
    log: (line) => logged.push(line),
  });
  const { deps } = app.service;
  // The app itself has no schedule, or it would make one of the backups first.
  needs = { ...deps, config: { ...deps.config, backupSchedule: 'hourly' } };
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

/** For the schedule everything happens at one moment: no full hour passes unnoticed. */
const now = new Date();
const run = (deps = needs) => backUpIfDue(deps, now, new AbortController().signal);
/** As if all backups had been made at that moment, or before it, and the given hours earlier. */
const age = (hours: number) =>
  app.database.database.pool.query(
    `update backups set started_at = least(started_at, $2) - $1 * interval '1 hour', finished_at = finished_at - $1 * interval '1 hour'`,
    [hours, now],
  );
const files = async () => (await readdir(folder)).filter((name) => name.endsWith('.tar'));

test('one of several replicas makes the backup, and none repeats it before the next time', async () => {
  const ends = await Promise.all([run(), run(), run()]);
  assert.deepEqual(ends.sort(), ['made', 'not due', 'not due']);
  assert.equal(await run(), 'not due');
  assert.deepEqual((await readdir(folder)).length, 1);
});

test("keeps the newest backups, and files that the schedule didn't make", async () => {
  await writeFile(join(folder, 'homeport-20200101T000000Z.tar'), 'of somebody else');
  const [first] = (await files()).filter((name) => !name.includes('20200101'));
  for (let count = 0; count < 2; count += 1) {
    await age(1);
    assert.equal(await run(), 'made');
  }
  const left = await files();
  assert.equal(left.length, 3, left.join());
  assert.ok(left.includes('homeport-20200101T000000Z.tar') && !left.includes(first ?? ''));
});

test("still recognizes the schedule's backups after hundreds of failures", async () => {
  const { pool } = app.database.database;
  const scheduled = async () => {
    const { rows } = await pool.query(
      `select place from backups where cause = 'schedule' and state = 'done' order by 1`,
    );
    return rows.map(({ place }) => place);
  };
  await age(1);
  const before = await scheduled();
  await pool.query(`insert into backups (id, cause, state, place, lease_until, started_at)
    select 'failed-' || n, 'page', 'failed', '-', now() - interval '1 minute', now() - n * interval '1 second'
    from generate_series(1, 300) n`);
  await pool.query(`insert into backups (id, cause, state, place, lease_until, started_at, finished_at)
    select 'done-' || n, 'command', 'done', '-', now() - interval '1 minute', now() - n * interval '1 second', now()
    from generate_series(1, 300) n`);
  assert.equal(await run(), 'made');
  assert.equal((await scheduled()).length, 2);
  assert.ok((await scheduled()).includes(before.at(-1)), 'the newer of both is still there, and known');
  const { rows } = await pool.query(`select count(*)::int as count from backups where cause <> 'schedule'`);
  assert.equal(rows[0].count, 400);
  await pool.query(`delete from backups where cause <> 'schedule'`);
});

test('a later backup removes the remains of a killed one', async () => {
  const names = {
    old: 'homeport-20200101T000000.000Z.tar.enc.partial-0a1b2c3d',
    new: 'homeport-20200101T000000.000Z.tar.partial-0a1b2c3d',
  };
  const others = 'notes.partial-0a1b2c3d';
  for (const name of [names.old, names.new, others]) await writeFile(join(folder, name), 'half of it');
  const earlier = new Date(Date.now() - 2 * 3_600_000);
  for (const name of [names.old, others]) await utimes(join(folder, name), earlier, earlier);
  await age(1);
  assert.equal(await run(), 'made');
  const left = await readdir(folder);
  assert.deepEqual(
    [names.old, names.new, others].map((name) => left.includes(name)),
    [false, true, true],
  );
});

test('reports a failure in the log and in metrics, and retries in an hour', async () => {
  await age(1);
  const blocked = { ...needs, config: { ...needs.config, backupTo: join(folder, 'x.tar/inside') } };
  await writeFile(join(folder, 'x.tar'), '');
  const attempt = () => run(blocked);
  assert.equal(await attempt(), 'failed');
  assert.equal(await attempt(), 'not due');
  assert.ok(logged.some((line) => line.includes('the scheduled backup failed')));
});

test('metrics have the release and the time of the last backup', async () => {
  const response = await app.anonymous.fetch('/metrics', { headers: { authorization: 'Bearer token' } });
  const text = await response.text();
  assert.match(text, /^homeport_build_info\{version="0\.0\.0-test"\} 1$/m);
  assert.match(text, /^homeport_backup_last_success_timestamp_seconds \d{10}/m);
  assert.match(text, /^homeport_backup_failed 1$/m);
});
