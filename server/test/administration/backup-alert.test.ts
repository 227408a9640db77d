import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';

/** The alert for an installation without a backup, with the overview and the check beside it. */

const metricsToken = 'a-token-for-metrics';
let app: TestApp;
let admin: SignedIn;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-backup-alert-'));
  app = await startTestApp({ config: { dataDir: folder, metricsToken } });
  admin = await app.signIn({ role: 'admin' });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Whether the rule's expression, `max(<metric>) == <number>`, holds for what the service exports now. */
async function isFiring(): Promise<boolean> {
  const rules = await readFile(new URL('../../../deploy/monitoring/alerts.yaml', import.meta.url), 'utf8');
  const [, metric, threshold] = /alert: HomeportBackupMissing\n\s+expr: max\((\w+)\) == (\d+)\n/.exec(rules) ?? [];
  assert.ok(metric !== undefined, 'the rule has the form that this test evaluates');
  const response = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
  const samples = (await response.text()).split('\n').filter((line) => line.startsWith(metric));
  assert.equal(samples.length, 1, samples.join());
  return Math.max(...samples.map((line) => Number(line.split(' ').at(-1)))) === Number(threshold);
}

async function state() {
  const [alert, overview, doctor] = await Promise.all([
    isFiring(),
    admin.call('GET /api/admin/overview'),
    admin.call('GET /api/admin/doctor'),
  ]);
  const check = doctor.body.checks.find((each: { check: string }) => each.check === 'backups');
  return { alert, shown: overview.body.overview.backups.lastDone?.id, check: [check.state, check.reason] };
}

test('alert, overview and check report that there is no backup until the first one is complete', async () => {
  assert.deepEqual(await state(), { alert: true, shown: undefined, check: ['warning', 'backup_none'] });
  // A failed attempt is no backup.
  await app.database.database.pool.query(
    `insert into backups (id, cause, state, place, error, lease_until, started_at, finished_at)
     values ('failed', 'page', 'failed', '-', 'the disk is full', now(), now() - interval '1 hour', now() - interval '1 hour')`,
  );
  assert.deepEqual(await state(), { alert: true, shown: undefined, check: ['warning', 'backup_failed'] });
  const { id } = (await admin.call('POST /api/admin/backups', {})).body.backup;
  await until('the backup has ended', async () => {
    const { backups } = (await admin.call('GET /api/admin/backups')).body;
    return backups.find((backup: { id: string }) => backup.id === id).state !== 'running';
  });
  assert.deepEqual(await state(), { alert: false, shown: id, check: ['ok', 'backup_made'] });
});
