import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

const apiKey = 'sk-canary-http-0815';
const log: string[] = [];

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ log: (line) => log.push(line) });
});
after(async () => {
  await app.stop();
  await provider.close();
});

const providerBody = () => ({ name: 'Fake', baseUrl: provider.url, apiKey, headers: { 'X-Team': 'canary-blue' } });
const modelBody = (providerId: string) => ({
  providerId,
  providerModelId: 'words',
  displayName: 'Words',
  contextWindow: 8000,
  maxOutputTokens: 1000,
  tier: 1,
});

async function withModel(user: SignedIn): Promise<{ providerId: string; modelId: string }> {
  const created = await user.call('POST /api/providers', providerBody());
  const providerId: string = created.body.provider.id;
  const { body } = await user.call('POST /api/models', modelBody(providerId));
  return { providerId, modelId: body.model.id };
}

const withoutRequestId = (body: Json) => JSON.stringify({ error: { ...body.error, requestId: '' } });

test('creates, changes and deletes a catalogue', async () => {
  const user = await app.signIn();
  const empty = await user.call('GET /api/providers');
  assert.deepEqual(empty.body.providers, []);
  assert.deepEqual([empty.body.canEdit, empty.body.modelTiers.length], [true, 4]);
  const created = await user.call('POST /api/providers', providerBody());
  assert.equal(created.status, 201);
  const { providerId, modelId } = await withModel(user);
  const second = await user.call('POST /api/models', { ...modelBody(providerId), tier: 4 });
  assert.deepEqual([second.status, second.body.model.isDefault], [201, false]);
  const listed = await user.call('GET /api/providers');
  assert.deepEqual(
    listed.body.providers.map((entry: Json) => [entry.hasApiKey, entry.headers, entry.models.length]),
    [
      [true, { 'X-Team': 'canary-blue' }, 0],
      [true, { 'X-Team': 'canary-blue' }, 2],
    ],
  );
  const promoted = await user.call('PATCH /api/models', { id: modelId, enabled: false });
  assert.equal(promoted.body.defaultModelId, second.body.model.id);
  const inUse = await user.call('PUT /api/model-tiers', { tiers: [{ value: 1, label: 'Only' }] });
  assert.deepEqual(
    [inUse.status, inUse.body.error.code, inUse.body.error.details],
    [409, 'tier_in_use', { tiers: [4] }],
  );
  const deleted = await user.call('DELETE /api/providers', undefined, { query: { id: providerId } });
  assert.deepEqual(deleted.body, { ok: true, defaultModelId: null });
  const tiers = await user.call('PUT /api/model-tiers', { tiers: [{ value: 1, label: ' Only ' }] });
  assert.deepEqual(tiers.body, { modelTiers: [{ value: 1, label: 'Only' }] });
  assert.deepEqual((await user.call('GET /api/model-tiers')).body, tiers.body);
});

test('a provider uses chat completions unless another protocol is chosen', async () => {
  const user = await app.signIn();
  const plain = await user.call('POST /api/providers', providerBody());
  assert.equal(plain.body.provider.kind, 'openai');
  const { id } = plain.body.provider;
  const changed = await user.call('PATCH /api/providers', { id, kind: 'anthropic' });
  assert.equal(changed.body.provider.kind, 'anthropic');
  await user.call('PATCH /api/providers', { id, name: 'Renamed' });
  await user.call('POST /api/providers', { ...providerBody(), kind: 'gemini' });
  const listed = await user.call('GET /api/providers');
  assert.deepEqual(
    listed.body.providers.map((entry: Json) => [entry.name, entry.kind]),
    [
      ['Renamed', 'anthropic'],
      ['Fake', 'gemini'],
    ],
  );
});

test('rejects invalid fields with their path', async () => {
  const user = await app.signIn();
  const { providerId, modelId } = await withModel(user);
  const cases: [string, object, string][] = [
    ['POST /api/providers', { ...providerBody(), name: ' ' }, 'name'],
    ['POST /api/providers', { ...providerBody(), kind: 'claude' }, 'kind'],
    ['POST /api/providers', { ...providerBody(), baseUrl: 'ftp://a.example' }, 'baseUrl'],
    ['POST /api/providers', { ...providerBody(), baseUrl: 'https://me:pw@a.example/v1' }, 'baseUrl'],
    ['POST /api/providers', { ...providerBody(), apiKey: 'with space' }, 'apiKey'],
    ['PATCH /api/providers', { id: providerId, baseUrl: '/v1' }, 'baseUrl'],
    ['POST /api/models', { ...modelBody(providerId), maxOutputTokens: 8001 }, 'maxOutputTokens'],
    ['POST /api/models', { ...modelBody(providerId), tier: 5 }, 'tier'],
    ['POST /api/models', { ...modelBody(providerId), enabled: false, isDefault: true }, 'isDefault'],
    ['PATCH /api/models', { id: modelId, maxOutputTokens: 8001 }, 'maxOutputTokens'],
    ['PATCH /api/models', { id: modelId, isDefault: false }, 'isDefault'],
    ['PATCH /api/models', { id: modelId, tier: 0 }, 'tier'],
    ['PUT /api/model-tiers', { tiers: [] }, 'tiers'],
    ['PUT /api/model-tiers', { tiers: [1, 1].map((value) => ({ value, label: `${value}` })) }, 'tiers.1.value'],
    ['PUT /api/model-tiers', { tiers: ['low', 'LOW '].map((label, i) => ({ value: i + 1, label })) }, 'tiers.1.label'],
    ['PUT /api/model-tiers', { tiers: [{ value: 2 ** 31, label: 'Big' }] }, 'tiers.0.value'],
    ['POST /api/providers/test', { id: '' }, 'id'],
    ['POST /api/providers/test', { baseUrl: 7 }, 'baseUrl'],
    ['POST /api/providers/test', { baseUrl: provider.url, apiKey: 7 }, 'apiKey'],
  ];
  for (const [route, body, path] of cases) {
    const { status, body: answer } = await user.call(route, body);
    assert.deepEqual([status, answer.error?.code], [400, 'invalid_request'], `${route} ${JSON.stringify(body)}`);
    assert.ok(answer.error.details.map((detail: Json) => detail.path).includes(path), JSON.stringify(answer));
  }
});

test('refuses headers that frame, smuggle or cannot be sent, when saving and when testing', async () => {
  const user = await app.signIn();
  const { providerId } = await withModel(user);
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`x-${index}`, '1']));
  const bad: Record<string, unknown>[] = [
    ...['Host', 'content-length', 'Transfer-Encoding', 'CONNECTION', 'upgrade', 'TE', 'trailer', 'expect'].map(
      (name) => ({
        [name]: '1',
      }),
    ),
    ...['proxy-authorization', 'Proxy-X', 'keep-alive', 'accept-encoding'].map((name) => ({ [name]: '1' })),
    ...['', 'a b', 'a:b', 'a\r\nb', 'é', 'a\t', '(a)', 'x'.repeat(129)].map((name) => ({ [name]: '1' })),
    ...['a\r\nb: c', 'a\nb', 'a\u0000b', 'a\u007f', '€', '😀', 'x'.repeat(8193)].map((value) => ({ 'x-a': value })),
    { 'x-a': '1', 'X-A': '2' },
    { 'x-a': 7 },
    { 'x-a': null },
    { 'x-a': ['1'] },
    many,
  ];
  for (const headers of bad) {
    for (const [route, body] of [
      ['POST /api/providers', { ...providerBody(), headers }],
      ['PATCH /api/providers', { id: providerId, headers }],
      ['POST /api/providers/test', { baseUrl: provider.url, headers }],
    ] as const) {
      const { status, body: answer } = await user.call(route, body);
      assert.deepEqual([status, answer.error?.code], [400, 'invalid_request'], `${route} ${JSON.stringify(headers)}`);
    }
  }
  const fine = { 'x-latin': 'é', authorization: 'Basic eA==', 'X-Empty': '', cookie: 'a=b' };
  const { body } = await user.call('PATCH /api/providers', { id: providerId, headers: fine });
  assert.deepEqual(body.provider.headers, fine);
});

test('a foreign record answers like a missing one, byte for byte, and stays unchanged', async () => {
  const [owner, stranger] = [await app.signIn(), await app.signIn()];
  const { providerId, modelId } = await withModel(owner);
  const own = await withModel(stranger);
  const before = (await owner.call('GET /api/providers')).text;
  const missing = randomUUIDv7();
  const attempts: [string, (ids: { provider: string; model: string }) => [unknown, Record<string, string>?]][] = [
    ['PATCH /api/providers', (ids) => [{ id: ids.provider, name: 'Mine' }]],
    ['DELETE /api/providers', (ids) => [undefined, { id: ids.provider }]],
    ['POST /api/providers/test', (ids) => [{ id: ids.provider }]],
    ['POST /api/models', (ids) => [modelBody(ids.provider)]],
    ['POST /api/models', (ids) => [{ ...modelBody(ids.provider), tier: 99 }]],
    ['PATCH /api/models', (ids) => [{ id: ids.model, isDefault: true }]],
    ['PATCH /api/models', (ids) => [{ id: ids.model, tier: 99 }]],
    ['DELETE /api/models', (ids) => [undefined, { id: ids.model }]],
  ];
  for (const [route, make] of attempts) {
    const answers = [];
    for (const ids of [
      { provider: providerId, model: modelId },
      { provider: missing, model: missing },
      { provider: own.modelId, model: own.providerId },
      { provider: 'no such id', model: 'no such id' },
    ]) {
      const [body, query] = make(ids);
      answers.push(await stranger.call(route, body, query === undefined ? {} : { query }));
    }
    for (const answer of answers) assert.deepEqual([answer.status, answer.body.error.code], [404, 'not_found'], route);
    assert.equal(new Set(answers.map((answer) => withoutRequestId(answer.body))).size, 1, route);
  }
  assert.equal((await owner.call('GET /api/providers')).text, before);
  const switched = await stranger.call('GET /api/providers', undefined, { query: { userId: owner.id } });
  assert.deepEqual(
    switched.body.providers.map((entry: Json) => entry.id),
    [own.providerId],
  );
});

test('without provider access a user lists and chooses, but neither edits nor sees headers', async () => {
  const user = await app.signIn();
  const { providerId, modelId } = await withModel(user);
  await app.database.database.pool.query('update users set provider_settings_enabled = false where id = $1', [user.id]);
  const listed = await user.call('GET /api/providers');
  assert.deepEqual([listed.status, listed.body.canEdit, listed.body.providers[0].models[0].id], [200, false, modelId]);
  assert.ok(!listed.text.includes('canary') && !('headers' in listed.body.providers[0]));
  for (const [route, body, query] of editing(providerId, modelId)) {
    const answer = await user.call(route, body, { query });
    assert.deepEqual([answer.status, answer.body.error.code], [403, 'provider_settings_disabled'], route);
  }
  const admin = await app.signIn({ role: 'admin', providerSettingsEnabled: false });
  assert.equal((await admin.call('POST /api/providers', providerBody())).status, 201);
});

test('managed: one catalogue for everyone, edited by administrators, with headers visible to them only', async () => {
  const managed = await startTestApp({ config: { edition: 'managed' }, database: app.database });
  try {
    const [admin, other] = [await managed.signIn({ role: 'admin' }), await managed.signIn({ role: 'admin' })];
    const member = await managed.signIn({ providerSettingsEnabled: true });
    const { providerId, modelId } = await withModel(admin);
    const seen = await member.call('GET /api/providers');
    assert.deepEqual([seen.body.canEdit, seen.body.providers[0].models[0].id], [false, modelId]);
    assert.ok(!seen.text.includes('canary') && !('headers' in seen.body.providers[0]));
    for (const [route, body, query] of editing(providerId, modelId)) {
      assert.equal((await member.call(route, body, { query })).status, 403, route);
    }
    const renamed = await other.call('PATCH /api/providers', { id: providerId, name: 'Shared' });
    assert.deepEqual([renamed.status, renamed.body.provider.headers], [200, { 'X-Team': 'canary-blue' }]);
    assert.equal((await member.call('GET /api/providers')).body.providers[0].name, 'Shared');
  } finally {
    await managed.stop();
  }
});

test('pins a model that is being deleted and unpins it, or answers 404', async () => {
  const user = await app.signIn();
  const { body } = await user.call('POST /api/chats', {});
  const id: string = body.chat.id;
  for (let round = 0; round < 60; round++) {
    const { providerId, modelId } = await withModel(user);
    const removal =
      round % 2 === 0
        ? user.call('DELETE /api/models', undefined, { query: { id: modelId } })
        : user.call('DELETE /api/providers', undefined, { query: { id: providerId } });
    const [pinned, removed] = await Promise.all([
      user.call('PATCH /api/chats', { id, modelPinned: true, modelId }),
      removal,
    ]);
    assert.ok([200, 404].includes(pinned.status), pinned.text);
    assert.equal(removed.status, 200, removed.text);
    await user.call('DELETE /api/providers', undefined, { query: { id: providerId } });
  }
  const { rows } = await app.database.database.pool.query('select model_id from chats where id = $1', [id]);
  assert.deepEqual(rows, [{ model_id: null }]);
});

function editing(providerId: string, modelId: string): [string, unknown, Record<string, string>][] {
  return [
    ['POST /api/providers', providerBody(), {}],
    ['PATCH /api/providers', { id: providerId, name: 'x' }, {}],
    ['DELETE /api/providers', undefined, { id: providerId }],
    ['POST /api/providers/test', { id: providerId }, {}],
    ['POST /api/models', modelBody(providerId), {}],
    ['PATCH /api/models', { id: modelId, enabled: false }, {}],
    ['DELETE /api/models', undefined, { id: modelId }],
    ['PUT /api/model-tiers', { tiers: [{ value: 1, label: 'x' }] }, {}],
  ];
}

test('tests a provider through the egress guard, and shows its key nowhere', async () => {
  const user = await app.signIn();
  const { providerId } = await withModel(user);
  const tested = await user.call('POST /api/providers/test', { id: providerId });
  assert.deepEqual(
    tested.body.models.map(({ id }: Json) => id),
    provider.models,
  );
  assert.equal(provider.requests.at(-1)?.headers.authorization, `Bearer ${apiKey}`);
  const guarded = await startTestApp({
    config: { allowPrivateEgress: false, allowInsecureHttp: false },
    database: app.database,
  });
  const before = provider.requests.length;
  try {
    const visitor = await guarded.signIn();
    for (const baseUrl of [provider.url, 'https://localhost/v1', 'https://169.254.169.254/v1', 'https://[::1]/v1']) {
      const { status, body } = await visitor.call('POST /api/providers/test', { baseUrl });
      assert.deepEqual([status, body.error.code], [400, 'blocked_destination'], baseUrl);
    }
  } finally {
    await guarded.stop();
  }
  assert.equal(provider.requests.length, before);
  const texts = [tested.text, (await user.call('GET /api/providers')).text, ...log];
  assert.ok(log.length > 0);
  for (const text of texts) assert.ok(!text.includes(apiKey));
});

test('the public configuration has the setup state and readable colors', async () => {
  const fresh = await startTestApp({ config: { setupClaimToken: 'claim', artifactMaxUploadBytes: 7 } });
  try {
    const states = async () => [
      (await fresh.anonymous.call('GET /api/public-config')).body.setup,
      (await fresh.anonymous.call('GET /api/setup')).body,
    ];
    const open = { required: true, claimRequired: true };
    assert.deepEqual(await states(), [open, open]);
    await fresh.signIn({ role: 'admin' });
    const closed = { required: false, claimRequired: true };
    assert.deepEqual(await states(), [closed, closed]);
    const { body, headers } = await fresh.anonymous.call('GET /api/public-config');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.deepEqual([body.sso, body.edition, body.limits], [null, 'community', { artifactMaxUploadBytes: 7 }]);
    const { primaryColor, primaryForegroundColor } = body.branding;
    assert.ok(contrast(primaryColor, primaryForegroundColor) >= 4.5);
  } finally {
    await fresh.stop();
  }
});

/** The contrast ratio of two six-digit hex colors (WCAG 2.2). */
function contrast(first: string, second: string): number {
  const [dark = 0, light = 0] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const channel = Number.parseInt(color.slice(start, start + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
