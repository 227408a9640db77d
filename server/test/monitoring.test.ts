import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import { startTestApp, type TestApp } from './app.ts';
import { addModels, answer, createChat, idle, submit } from './chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from './fakes/provider/provider.ts';
import { setPrices } from './usage/usage-makers.ts';

/** The dashboard and the alert rules in deploy/monitoring use metrics that exist. */

const metricsToken = 'a-token-for-metrics';
let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ config: { metricsToken } });
});
after(async () => {
  await app.stop();
  await provider.close();
});

const fileOf = (name: string) => readFile(new URL(`../../deploy/monitoring/${name}`, import.meta.url), 'utf8');

async function scrape(): Promise<string> {
  const response = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
  return response.text();
}

/** Expressions of PromQL in a dashboard or in rules. */
async function expressions(): Promise<string[]> {
  const dashboard = JSON.parse(await fileOf('grafana-dashboard.json'));
  const panels: { targets: { expr: string }[] }[] = dashboard.panels;
  const rules = (await fileOf('alerts.yaml')).matchAll(/^ {8}expr: (?:\|\n((?: {10}.*\n)+)|(.*))/gm);
  return [
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...Array.from(rules, ([, block, line]) => block ?? line ?? ''),
  ];
}

test('a real scrape has every metric that the dashboard and the alert rules name, with their labels', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['echo', 'error-500']);
  await setPrices(user);
  const chatId = await createChat(user);
  await answer(user, chatId, await submit(user, chatId, 'Hello'));
  await idle(app);
  const text = await until(async () => {
    const found = await scrape();
    return /^homeport_cost_dollars_total [^0]|^homeport_cost_dollars_total 0\.0/m.test(found) ? found : undefined;
  });
  const names = new Set(Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name ?? ''));
  const all = await expressions();
  assert.ok(all.length > 25, `${all.length} expressions`);
  const named = all.flatMap((expression) => expression.match(/\b(?:homeport|nodejs|process)_\w+/g) ?? []);
  for (const name of named) {
    const family = name.replace(/_(?:count|bucket|sum)$/, '');
    assert.ok(names.has(name) || names.has(family), `${name} does not exist`);
  }
  for (const label of ['status=', 'route=', 'state=', 'outcome=', 'kind=', 'phase=', 'version=', 'le=']) {
    assert.ok(text.includes(label), label);
  }
  // Each of Homeport's own metrics is on the dashboard or in a rule.
  for (const name of names) {
    if (!name.startsWith('homeport_')) continue;
    assert.ok(
      named.some((used) => used.startsWith(name)),
      `${name} is shown nowhere`,
    );
  }
});
