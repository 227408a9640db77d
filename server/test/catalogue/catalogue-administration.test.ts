import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/**
 * An administrator manages another user's providers, models and tiers (control-plane-api.md "Admin: a user's
 * providers").
 */

let app: TestApp;
let provider: FakeProvider;
let administrator: SignedIn;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  administrator = await app.signIn({ role: 'admin' });
});
after(async () => {
  await app.stop();
  await provider.close();
});

const codeOf = ({ status, body }: Answer) => [status, body?.error?.code];
const model = (providerId: string, providerModelId: string) => ({
  providerId,
  providerModelId,
  displayName: providerModelId,
  contextWindow: 8000,
  maxOutputTokens: 1000,
  tier: 1,
});

test("an administrator can do all that the user could, though the user's own settings are disabled", async () => {
  const user = await app.signIn({ providerSettingsEnabled: false });
  const query = { userId: user.id };
  const refused = await user.call('POST /api/providers', { name: 'Mine', baseUrl: provider.url });
  assert.deepEqual(codeOf(refused), [403, 'provider_settings_disabled']);
  const body = { name: 'Theirs', baseUrl: provider.url, apiKey: 'sk-secret-key', headers: { 'x-team': 'blue' } };
  const made = await administrator.call('POST /api/admin/providers', body, { query });
  assert.equal(made.status, 201);
  const { id } = made.body.provider;
  const tested = await administrator.call('POST /api/admin/providers/test', { id }, { query });
  assert.ok(tested.body.models.length > 0);
  const first = await administrator.call('POST /api/admin/models', model(id, 'echo'), { query });
  const second = await administrator.call('POST /api/admin/models', model(id, 'words'), { query });
  assert.deepEqual([first.body.model.isDefault, second.body.model.isDefault], [true, false]);
  const change = { id: second.body.model.id, isDefault: true };
  assert.equal((await administrator.call('PATCH /api/admin/models', change, { query })).body.defaultModelId, change.id);
  const tiers = [
    { value: 7, label: 'Seven' },
    { value: 1, label: 'One' },
  ];
  const replaced = await administrator.call('PUT /api/admin/model-tiers', { tiers }, { query });
  assert.deepEqual(replaced.body.modelTiers, tiers);
  const inUse = await administrator.call('PUT /api/admin/model-tiers', { tiers: tiers.slice(0, 1) }, { query });
  assert.deepEqual(codeOf(inUse), [409, 'tier_in_use']);
  assert.deepEqual(
    (await administrator.call('GET /api/admin/model-tiers', undefined, { query })).body.modelTiers,
    tiers,
  );

  const seen = await administrator.call('GET /api/admin/providers', undefined, { query });
  assert.deepEqual(seen.body.modelTiers, tiers);
  assert.deepEqual(seen.body.providers[0].headers, { 'x-team': 'blue' });
  assert.equal(seen.body.providers[0].hasApiKey, true);
  assert.doesNotMatch(seen.text, /sk-secret-key/);
  const theirs = await user.call('GET /api/providers');
  assert.equal(theirs.body.canEdit, false);
  assert.equal(theirs.body.providers[0].headers, undefined);
  assert.deepEqual(
    theirs.body.providers[0].models.map((one: Json) => [one.providerModelId, one.isDefault]),
    [
      ['echo', false],
      ['words', true],
    ],
  );
  assert.deepEqual((await administrator.call('GET /api/providers')).body.providers, []);

  const renamed = await administrator.call('PATCH /api/admin/providers', { id, name: 'Renamed' }, { query });
  assert.deepEqual([renamed.body.provider.name, renamed.body.provider.hasApiKey], ['Renamed', true]);
  const gone = await administrator.call('DELETE /api/admin/models', undefined, { query: { ...query, id: change.id } });
  assert.equal(gone.body.defaultModelId, first.body.model.id);
  const removed = await administrator.call('DELETE /api/admin/providers', undefined, { query: { ...query, id } });
  assert.deepEqual(removed.body, { ok: true, defaultModelId: null });
});

test("answers 400 without userId, 404 for an unknown user and for records of other users, the administrator's own included", async () => {
  const user = await app.signIn();
  const other = await app.signIn();
  const [theirModel] = await addModels(other, provider, ['echo']);
  const theirs = (await other.call('GET /api/providers')).body.providers[0].id;
  const [ownModel] = await addModels(administrator, provider, ['echo']);
  const own = (await administrator.call('GET /api/providers')).body.providers[0].id;
  const rows = (providerId: string, modelId: string | undefined): [string, Json, Record<string, string>?][] => [
    ['PATCH /api/admin/providers', { id: providerId, name: 'Taken' }],
    ['DELETE /api/admin/providers', undefined, { id: providerId }],
    ['POST /api/admin/providers/test', { id: providerId }],
    ['POST /api/admin/models', model(providerId, 'echo')],
    ['PATCH /api/admin/models', { id: modelId, displayName: 'Taken' }],
    ['DELETE /api/admin/models', undefined, { id: modelId ?? '' }],
  ];
  for (const [route, body, query] of [...rows(theirs, theirModel), ...rows(own, ownModel)]) {
    const foreign = await administrator.call(route, body, { query: { ...query, userId: user.id } });
    assert.deepEqual(codeOf(foreign), [404, 'not_found'], route);
    const missing = await administrator.call(route, body, query === undefined ? {} : { query });
    assert.deepEqual(
      [...codeOf(missing), missing.body.error.details[0].path],
      [400, 'invalid_request', 'userId'],
      route,
    );
    const unknown = await administrator.call(route, body, { query: { ...query, userId: 'missing' } });
    assert.deepEqual(codeOf(unknown), [404, 'not_found'], route);
  }
  for (const route of ['GET /api/admin/providers', 'GET /api/admin/model-tiers']) {
    assert.deepEqual(codeOf(await administrator.call(route)), [400, 'invalid_request']);
    const unknown = await administrator.call(route, undefined, { query: { userId: 'missing' } });
    assert.deepEqual(codeOf(unknown), [404, 'not_found']);
  }
  assert.equal((await other.call('GET /api/providers')).body.providers[0].name, 'Fake');
});

test('a userId on the self-service endpoints never changes the owner', async () => {
  const user = await app.signIn();
  const query = { userId: user.id };
  const made = await administrator.call('POST /api/providers', { name: 'Own', baseUrl: provider.url }, { query });
  assert.equal(made.status, 201);
  const listed = await administrator.call('GET /api/providers', undefined, { query });
  assert.ok(listed.body.providers.some((one: Json) => one.id === made.body.provider.id));
  assert.deepEqual((await user.call('GET /api/providers')).body.providers, []);
});

test("audits an administrator's changes for a user, and providers that users add themselves", async () => {
  const user = await app.signIn();
  const query = { userId: user.id };
  await addModels(user, provider, ['echo']);
  const body = {
    name: 'Given',
    baseUrl: `${provider.url}?key=in-the-address`,
    apiKey: 'sk-audited',
    headers: { 'x-a': 'sealed' },
  };
  const init = { query, headers: { 'x-request-id': 'audited-request' } };
  const { body: made } = await administrator.call('POST /api/admin/providers', body, init);
  const { id } = made.provider;
  await administrator.call('PATCH /api/admin/providers', { id, apiKey: 'sk-other', baseUrl: provider.url }, { query });
  await administrator.call('PUT /api/admin/model-tiers', { tiers: [{ value: 1, label: 'One' }] }, { query });
  const refused = await administrator.call(
    'PUT /api/admin/model-tiers',
    { tiers: [{ value: 2, label: 'Two' }] },
    { query },
  );
  assert.equal(refused.status, 409);
  const { body: log, text } = await administrator.call('GET /api/admin/audit', undefined, { query: { limit: '500' } });
  const mine = log.events.filter((event: Json) => event.details.owner === user.id).reverse();
  const { origin } = new URL(provider.url);
  assert.deepEqual(
    mine.map(({ action, actorId, details }: Json) => [action, actorId, details]),
    [
      ['provider.created', user.id, { owner: user.id, name: mine[0].details.name, origin }],
      ['provider.created', administrator.id, { owner: user.id, name: 'Given', origin }],
      ['provider.updated', administrator.id, { owner: user.id, name: 'Given', origin, changed: ['baseUrl', 'apiKey'] }],
      ['model_tiers.replaced', administrator.id, { owner: user.id, changed: ['1 One'] }],
    ],
  );
  assert.deepEqual(
    [mine[1].targetType, mine[1].targetId, mine[1].requestId, mine[1].address],
    ['provider', id, 'audited-request', '127.0.0.1'],
  );
  assert.doesNotMatch(text, /sk-|sealed|in-the-address/);
});

test('managed edition: audits the shared catalogue, and users have none of their own', async () => {
  const managed = await startTestApp({ config: { edition: 'managed' } });
  try {
    const root = await managed.signIn({ role: 'admin' });
    await addModels(root, provider, ['echo']);
    const { body } = await root.call('GET /api/admin/audit');
    assert.deepEqual(
      body.events.map((event: Json) => [event.action, event.details.owner]),
      [
        ['model.created', 'installation'],
        ['provider.created', 'installation'],
      ],
    );
    for (const route of ['GET /api/admin/providers', 'GET /api/admin/model-tiers', 'POST /api/admin/models']) {
      const answer = await root.call(route, route.startsWith('POST') ? {} : undefined, { query: { userId: root.id } });
      assert.deepEqual(codeOf(answer), [404, 'not_found'], route);
    }
  } finally {
    await managed.stop();
  }
});

test("audits users' changes of their own providers without keys, headers or paths of addresses", async () => {
  const user = await app.signIn();
  const made = await user.call('POST /api/providers', {
    name: 'Own',
    baseUrl: 'https://own.example.org/v1?key=in-the-address',
    apiKey: 'sk-first',
    headers: { 'x-a': 'sealed' },
  });
  const { id } = made.body.provider;
  await user.call('PATCH /api/providers', { id, apiKey: 'sk-second' });
  await user.call('PATCH /api/providers', { id, headers: { 'x-b': 'sealed' } });
  await user.call('DELETE /api/providers', undefined, { query: { id } });
  const { body, text } = await administrator.call('GET /api/admin/audit', undefined, { query: { limit: '500' } });
  const mine = body.events.filter((event: Json) => event.targetId === id).reverse();
  assert.deepEqual(
    mine.map(({ action, actorId, details }: Json) => [action, actorId, details.name, details.origin, details.changed]),
    [
      ['provider.created', user.id, 'Own', 'https://own.example.org', undefined],
      ['provider.updated', user.id, 'Own', undefined, ['apiKey']],
      ['provider.updated', user.id, 'Own', undefined, ['headers']],
      ['provider.deleted', user.id, 'Own', undefined, undefined],
    ],
  );
  assert.doesNotMatch(text, /sk-first|sk-second|sealed|in-the-address/);
});
