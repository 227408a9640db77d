import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '../../contracts/test/free-port.ts';
import { until } from '../../contracts/test/until.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from './app.ts';
import { backUp } from './backups/backup-harness.ts';
import { addModels, answer, createChat, submit } from './chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from './fakes/provider/provider.ts';
import { ScriptedDaemons } from './fakes/scripted-daemon.ts';
import { setPrices } from './usage/usage-makers.ts';

/** deploy/monitoring in the real programs: the rules are valid, and every query of the dashboard returns data. */

const run = promisify(execFile);
const monitoring = join(import.meta.dirname, '../../deploy/monitoring');
const rules = join(monitoring, 'alerts.yaml');
const isInstalled = ['prometheus', 'promtool'].every((name) => programOf(name) !== undefined);
const skip = !isInstalled && process.env.REQUIRE_PROMETHEUS !== '1' && 'Prometheus is not installed';
const metricsToken = 'a-token-for-metrics';

let app: TestApp;
let provider: FakeProvider;
let prometheus: ChildProcess | undefined;
let folder: string;
const daemons = new ScriptedDaemons();
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-prometheus-'));
  await daemons.listen();
  provider = await startFakeProvider();
  app = await startTestApp({ config: { metricsToken, dataDir: folder }, workspaceRuntime: daemons });
});
after(async () => {
  prometheus?.kill('SIGKILL');
  await app.stop();
  await provider.close();
  await daemons.destroy();
  await rm(folder, { recursive: true, force: true });
});

function programOf(name: string): string | undefined {
  const folders = `${process.env.PATH ?? ''}:/usr/local/bin`.split(':').filter((path) => path !== '');
  return folders.map((path) => join(path, name)).find((path) => existsSync(path));
}

test('promtool accepts the alert rules, and a failing service fires them', { skip }, async () => {
  const { stdout } = await run('promtool', ['check', 'rules', rules]);
  assert.match(stdout, /SUCCESS: \d\d rules found/);
  const firing = join(folder, 'firing.yaml');
  await writeFile(firing, JSON.stringify(firingTest));
  await run('promtool', ['test', 'rules', firing]);
});

/** The samples for promtool, one a minute, and the alerts that fire after an hour. */
const firingTest = {
  rule_files: [rules],
  evaluation_interval: '1m',
  tests: [
    {
      interval: '1m',
      input_series: [
        { series: 'up{job="homeport",instance="a"}', values: '0x60' },
        { series: 'homeport_http_request_duration_seconds_count{status="500"}', values: '0+3x60' },
        { series: 'homeport_http_request_duration_seconds_count{status="200"}', values: '0+97x60' },
        { series: 'homeport_responses_total{state="failed"}', values: '0+3x60' },
        { series: 'homeport_responses_total{state="complete"}', values: '0+7x60' },
        { series: 'homeport_disk_free_bytes{instance="a"}', values: '1000000000x60' },
        { series: 'homeport_backup_failed', values: '1x60' },
      ],
      alert_rule_test: [
        firing(
          'HomeportDown',
          'critical',
          { summary: 'Homeport does not answer at a' },
          { instance: 'a', job: 'homeport' },
        ),
        firing('HomeportErrors', 'critical', {
          summary: 'More than 2 % of requests fail',
          description: 'Look for the request ids in the log (level "error").',
        }),
        firing('HomeportAnswersFail', 'warning', {
          summary: 'One answer in five fails',
          description: 'Often a provider: compare homeport_provider_call_duration_seconds by outcome.',
        }),
        firing(
          'HomeportDiskNearlyFull',
          'critical',
          { summary: 'Less than 2 GiB are free for DATA_DIR at a' },
          { instance: 'a' },
        ),
        firing('HomeportBackupFailed', 'critical', { summary: 'The last backup failed' }),
        { eval_time: '1h', alertname: 'HomeportLeasesLost', exp_alerts: [] },
        { eval_time: '1h', alertname: 'HomeportBackupOld', exp_alerts: [] },
      ],
    },
  ],
};

const hour = 3_600;

/** At its end, the newest backup is so many hours old; a schedule of 0 means that there is none. */
function backupCase(schedule: number, ageHours: number, fires: boolean) {
  // Every four minutes, which is within the five that Prometheus looks back.
  const samples = (ageHours + 1) * 15;
  const at = `${ageHours + 1}h`;
  const summary = 'The last backup is older than two intervals of its schedule';
  return {
    interval: '4m',
    input_series: [
      { series: 'homeport_backup_interval_seconds{instance="a"}', values: `${schedule}x${samples}` },
      { series: 'homeport_backup_interval_seconds{instance="b"}', values: `${schedule}x${samples}` },
      { series: 'homeport_backup_last_success_timestamp_seconds{instance="a"}', values: `${hour}x${samples}` },
    ],
    alert_rule_test: [
      fires
        ? { ...firing('HomeportBackupOld', 'warning', { summary }), eval_time: at }
        : { eval_time: at, alertname: 'HomeportBackupOld', exp_alerts: [] },
      { eval_time: at, alertname: 'HomeportBackupMissing', exp_alerts: [] },
    ],
  };
}

test("fires on a backup's age by its schedule, and on no backup at all", { skip }, async () => {
  const [day, week] = [24 * hour, 7 * 24 * hour];
  const cases = [
    backupCase(hour, 1, false),
    backupCase(hour, 3, true),
    backupCase(day, 30, false),
    backupCase(day, 49, true),
    backupCase(week, 10 * 24, false),
    backupCase(week, 15 * 24, true),
    backupCase(0, 30, false),
    backupCase(0, 49, true),
  ];
  const missing = {
    interval: '4m',
    input_series: [
      { series: 'homeport_backup_interval_seconds{instance="a"}', values: `${day}x60` },
      { series: 'homeport_backup_last_success_timestamp_seconds{instance="a"}', values: '0x60' },
    ],
    alert_rule_test: [
      { eval_time: '30m', alertname: 'HomeportBackupMissing', exp_alerts: [] },
      {
        ...firing('HomeportBackupMissing', 'critical', {
          summary: 'There is no backup',
          description:
            'Set a schedule in the page or with BACKUP_SCHEDULE, or remove this rule if backups are made in another way.',
        }),
        eval_time: '2h',
      },
      { eval_time: '2h', alertname: 'HomeportBackupOld', exp_alerts: [] },
    ],
  };
  const file = join(folder, 'backups.yaml');
  await writeFile(
    file,
    JSON.stringify({ rule_files: [rules], evaluation_interval: '10m', tests: [...cases, missing] }),
  );
  await run('promtool', ['test', 'rules', file]);
});

type Texts = Record<string, string>;
function firing(alertname: string, severity: string, annotations: Texts, labels: Texts = {}) {
  const alert = { exp_labels: { severity, ...labels }, exp_annotations: annotations };
  return { eval_time: '1h', alertname, exp_alerts: [alert] };
}

test('every query of the dashboard has data of a running service, and every rule can be evaluated', {
  skip,
}, async () => {
  const queries = await dashboardQueries();
  assert.ok(queries.length >= 20, `${queries.length} queries`);
  const user = await app.signIn({ role: 'admin' });
  await addModels(user, provider, ['echo']);
  await setPrices(user);
  await backUp({ ...app.service.deps.config, dataDir: folder }, app.database.database, join(folder, 'backup.tar'));
  const url = await startPrometheus();
  const stopping = new AbortController();
  const load = busy(user, stopping.signal);
  let lacking = queries;
  try {
    await until(
      'every query has data',
      async () => {
        const results = await Promise.all(lacking.map(async (query) => ({ query, found: await hasData(url, query) })));
        lacking = results.filter(({ found }) => !found).map(({ query }) => query);
        return lacking.length === 0;
      },
      60_000,
    ).catch((error) => assert.fail(`${error}: no data for\n${lacking.join('\n')}`));
    const groups = await until('the rules are evaluated', async () => {
      const { data } = await ask(url, '/api/v1/rules');
      return data.groups[0].rules.every(({ health }: Json) => health !== 'unknown') ? data.groups : undefined;
    });
    const wrong = groups[0].rules.filter(({ health }: Json) => health !== 'ok');
    assert.deepEqual(wrong, []);
  } finally {
    stopping.abort();
    await load;
  }
});

async function dashboardQueries(): Promise<string[]> {
  const { panels } = JSON.parse(await readFile(join(monitoring, 'grafana-dashboard.json'), 'utf8'));
  return panels.flatMap(({ targets }: Json) =>
    targets.map(({ expr }: Json) => expr.replaceAll('$__rate_interval', '4s')),
  );
}

/** As in docs/operations.md, only more often. */
async function startPrometheus(): Promise<string> {
  const token = join(folder, 'token');
  const file = join(folder, 'prometheus.json');
  await writeFile(token, metricsToken);
  const scrape = {
    job_name: 'homeport',
    authorization: { credentials_file: token },
    static_configs: [{ targets: [new URL(app.url).host] }],
  };
  const intervals = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '1s' };
  await writeFile(file, JSON.stringify({ global: intervals, rule_files: [rules], scrape_configs: [scrape] }));
  await mkdir(join(folder, 'series'));
  const address = `127.0.0.1:${await freePort()}`;
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'series')}`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  prometheus = child;
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  await until('Prometheus is ready', async () => {
    assert.equal(child.exitCode, null, printed);
    return fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return `http://${address}`;
}

async function ask(url: string, path: string): Promise<Json> {
  const response = await fetch(url + path);
  const body = await response.json();
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

async function hasData(url: string, query: string): Promise<boolean> {
  const { data } = await ask(url, `/api/v1/query?query=${encodeURIComponent(query)}`);
  return data.result.some(({ value }: Json) => Number.isFinite(Number(value[1])));
}

/** Responses, requests and workspaces until the signal. */
async function busy(user: SignedIn, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const chatId = await createChat(user);
    await answer(user, chatId, await submit(user, chatId, 'Hello'));
    await user.call('POST /api/workspace/status');
    await user.call('DELETE /api/workspace/status');
  }
}
