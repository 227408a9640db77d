import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { exportInstallation } from '../../src/provision/export/export-text.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { digest, model, password, provision, signIn } from './provision-makers.ts';

/** Regions and stand-ins in a manifest: by names, as ids differ between installations. */

let app: TestApp;
let admin: SignedIn;
before(async () => {
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin', email: 'root@example.org' });
});
after(() => app.stop());

const standIn = (provider: string, providerModelId: string) => ({ provider, providerModelId });

function manifest(email: string, standIns: Json = [standIn('Second', 'b'), standIn('First', 'c')]) {
  const first = {
    name: 'First',
    baseUrl: 'https://first.example.org/v1',
    region: 'EU',
    onlyRegions: ['EU', 'CH'],
    models: [{ ...model('a'), standIns }, model('c')],
  };
  const second = { name: 'Second', baseUrl: 'https://second.example.org/v1', region: 'CH', models: [model('b')] };
  return { version: 1, users: [{ email, name: 'Ada', password, providers: [first, second] }] };
}

async function catalogueOf(email: string): Promise<Json[]> {
  const cookie = await signIn(app, email, password);
  const response = await app.anonymous.fetch('/api/providers', { headers: { cookie: cookie ?? '' } });
  return JSON.parse(await response.text()).providers;
}

test('makes regions and stand-ins, changes them, and changes nothing a second time', async () => {
  const email = 'ada@example.org';
  assert.equal((await provision(admin, manifest(email))).status, 200);
  const [first, second] = await catalogueOf(email);
  assert.deepEqual([first.region, first.onlyRegions, second.region], ['EU', ['EU', 'CH'], 'CH']);
  assert.deepEqual(first.models[0].standIns, [second.models[0].id, first.models[1].id]);
  const before = await digest(app);
  const again = await provision(admin, manifest(email));
  assert.equal(again.body.applied.models.unchanged, 3, again.text);
  assert.equal(await digest(app), before);
  const changed = await provision(admin, manifest(email, [standIn('First', 'c')]));
  assert.match(JSON.stringify(changed.body.changes), /standIns changed/);
  assert.deepEqual((await catalogueOf(email))[0].models[0].standIns, [first.models[1].id]);
  await provision(admin, manifest(email, []));
  assert.deepEqual((await catalogueOf(email))[0].models[0].standIns, []);
});

test('exports them by names, as a manifest that makes the same', async () => {
  const email = 'eve@example.org';
  await provision(admin, manifest(email));
  let text = '';
  await exportInstallation(
    app.service.deps,
    { form: 'json', conversations: false },
    async (piece) => {
      text += piece;
    },
    (loss) => assert.fail(loss),
  );
  const exported = JSON.parse(text).users.find((user: Json) => user.email === email);
  const [first] = exported.providers;
  assert.deepEqual([first.region, first.onlyRegions], ['EU', ['EU', 'CH']]);
  assert.deepEqual(first.models[0].standIns, [standIn('Second', 'b'), standIn('First', 'c')]);
});

test('refuses stand-ins that are unknown, twice, too many or the model itself, with their path', async () => {
  const email = 'mia@example.org';
  const b = standIn('Second', 'b');
  const cases: [Json, RegExp][] = [
    [[standIn('Third', 'b')], /standIns\.0/],
    [[b, standIn('Second', 'x')], /standIns\.1/],
    [[standIn('First', 'a')], /standIns/],
    [[b, b], /standIns/],
    [[b, b, b, b], /standIns/],
    [['b'], /standIns\.0/],
  ];
  for (const [given, path] of cases) {
    const answer = await provision(admin, manifest(email, given));
    assert.equal(answer.status, 400, JSON.stringify(given));
    assert.match(answer.text, path);
  }
  assert.equal(await signIn(app, email, password), undefined);
});
