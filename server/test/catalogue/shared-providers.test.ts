import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { answer, chatDetail, createChat, readStream, submit } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { provision } from '../provision/provision-makers.ts';

/** Providers that administrators share: their users, their editors, and the end of sharing (contract.md section 11). */

const key = 'sk-canary-of-a-shared-provider';
const header = 'canary-header-of-a-shared-provider';

let app: TestApp;
let upstream: FakeProvider;
before(async () => {
  upstream = await startFakeProvider();
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  await upstream.close();
});

type Shared = { admin: SignedIn; id: string; models: string[] };

/** An administrator with a provider of two models, the second one being the default. */
async function share(sharedWith: Json, admin?: SignedIn): Promise<Shared> {
  const owner = admin ?? (await app.signIn({ role: 'admin' }));
  const { status, body, text } = await owner.call('POST /api/providers', {
    name: 'House',
    baseUrl: `${upstream.url}?region=canary`,
    apiKey: key,
    headers: { 'x-canary': header },
    sharedWith,
  });
  assert.equal(status, 201, text);
  assert.deepEqual(body.provider.sharedWith, sharedWith);
  const models: string[] = [];
  for (const [providerModelId, isDefault] of [
    ['echo', false],
    ['words-3', true],
  ] as const) {
    const made = await owner.call('POST /api/models', {
      providerId: body.provider.id,
      providerModelId,
      displayName: providerModelId,
      isDefault,
      contextWindow: 100_000,
      maxOutputTokens: 4_000,
      tier: 2,
    });
    models.push(made.body.model.id);
  }
  return { admin: owner, id: body.provider.id, models };
}

const seen = async (who: SignedIn, id: string): Promise<Json> => {
  const { body } = await who.call('GET /api/providers');
  return body.providers.find((provider: Json) => provider.id === id);
};
const patch = (who: SignedIn, body: Json) => who.call('PATCH /api/providers', body);
const errorOf = (frames: Awaited<ReturnType<typeof answer>>): string => JSON.stringify(frames.body ?? frames.text);

test('everyone lists the enabled models of a shared provider next to their own, without its credentials', async () => {
  const { admin, id, models } = await share('everyone');
  await admin.call('PUT /api/model-tiers', { tiers: [2, 9].map((value) => ({ value, label: `House ${value}` })) });
  await admin.call('PATCH /api/models', { id: models[0], tier: 9 });
  const reader = await app.signIn({ providerSettingsEnabled: false });
  const shown = await seen(reader, id);
  assert.deepEqual(
    [shown.canEdit, shown.headers, shown.sharedWith, shown.hasApiKey, shown.baseUrl],
    [false, undefined, undefined, true, upstream.url],
  );
  assert.deepEqual(
    shown.models.map((model: Json) => [model.id, model.isDefault]),
    [
      [models[0], false],
      [models[1], true],
    ],
  );
  assert.deepEqual(
    shown.modelTiers.map(({ label }: Json) => label),
    ['House 2', 'House 9'],
  );
  const { body } = await reader.call('GET /api/providers');
  assert.deepEqual(
    body.modelTiers.map(({ value }: Json) => value),
    [1, 2, 3, 4, 9],
    'their tiers come with them',
  );
  await admin.call('PATCH /api/models', { id: models[0], enabled: false });
  assert.deepEqual(
    (await seen(reader, id)).models.map((model: Json) => model.id),
    [models[1]],
  );
  await patch(admin, { id, enabled: false });
  assert.equal(await seen(reader, id), undefined);
  await patch(admin, { id, sharedWith: 'none' });
});

test("shared models answer by default, by choice and for an assistant, and the user's own default takes precedence", async () => {
  const { admin, id, models } = await share('everyone');
  const reader = await app.signIn();
  const chatId = await createChat(reader);
  const ask = async (extra: Json = {}) => {
    await answer(reader, chatId, await submit(reader, chatId, 'Hello', extra));
    const message = (await chatDetail(reader, chatId)).messages.at(-1);
    return [message.status, message.modelId];
  };
  assert.deepEqual(await ask(), ['complete', models[1]], 'the default of whoever shares it');
  assert.deepEqual(await ask({ modelId: models[0] }), ['complete', models[0]]);
  assert.equal(upstream.requests.at(-1)?.headers.authorization, `Bearer ${key}`);
  const captain = await reader.call('POST /api/assistants', { name: 'Captain', modelId: models[0], tier: 2 });
  assert.deepEqual([captain.status, captain.body.assistant?.missing?.model], [201, false], captain.text);
  await reader.call('PATCH /api/chats', { id: chatId, assistantId: captain.body.assistant.id });
  assert.deepEqual(await ask(), ['complete', models[0]]);
  await reader.call('PATCH /api/chats', { id: chatId, assistantId: null });

  const own = await reader.call('POST /api/providers', { name: 'Own', baseUrl: upstream.url });
  const made = await reader.call('POST /api/models', {
    providerId: own.body.provider.id,
    providerModelId: 'words-4',
    displayName: 'Own',
    contextWindow: 100_000,
    maxOutputTokens: 4_000,
    tier: 1,
  });
  assert.deepEqual(await ask(), ['complete', made.body.model.id]);
  assert.equal(
    (await seen(reader, id)).models.some((model: Json) => model.isDefault),
    false,
  );
  const { defaultModelId } = (await reader.call('DELETE /api/models', undefined, { query: { id: made.body.model.id } }))
    .body;
  assert.equal(defaultModelId, models[1], 'without one of their own the shared one counts again');
  await patch(admin, { id, sharedWith: 'none' });
});

test("only its owner changes a shared provider, and other users' attempts are answered as for a missing one", async () => {
  const { admin, id, models } = await share('everyone');
  const [user, other] = [await app.signIn(), await app.signIn({ role: 'admin' })];
  for (const reader of [user, other]) {
    const attempts = (provider: string, model: string) => [
      patch(reader, { id: provider, name: 'Mine' }),
      reader.call('DELETE /api/providers', undefined, { query: { id: provider } }),
      reader.call('POST /api/providers/test', { id: provider }),
      reader.call('POST /api/models', {
        providerId: provider,
        providerModelId: 'x',
        displayName: 'x',
        contextWindow: 100,
        maxOutputTokens: 10,
        tier: 1,
      }),
      reader.call('PATCH /api/models', { id: model, isDefault: true }),
      reader.call('DELETE /api/models', undefined, { query: { id: model } }),
    ];
    const seenTexts = (list: Awaited<ReturnType<typeof patch>>[]) =>
      list.map(({ status, body }) => [status, body.error?.message]);
    const shared = seenTexts(await Promise.all(attempts(id, models[0] ?? '')));
    assert.deepEqual(shared, seenTexts(await Promise.all(attempts('missing', 'missing'))));
    assert.ok(shared.every(([status]) => status === 404));
  }
  assert.equal((await seen(other, id)).sharedWith, 'everyone', 'administrators know with whom');
  const without = await app.signIn({ providerSettingsEnabled: false });
  assert.equal((await patch(without, { id, name: 'Mine' })).body.error.code, 'provider_settings_disabled');
  await patch(admin, { id, sharedWith: 'none' });
});

test('only administrators share providers, in their own catalogue, with existing users', async () => {
  const [admin, user] = [await app.signIn({ role: 'admin' }), await app.signIn()];
  const provider = { name: 'P', baseUrl: upstream.url };
  for (const sharedWith of ['everyone', { userIds: [admin.id] }]) {
    const refused = await user.call('POST /api/providers', { ...provider, sharedWith });
    assert.deepEqual([refused.status, refused.body.error?.code], [403, 'forbidden']);
    const forUser = await admin.call(
      'POST /api/admin/providers',
      { ...provider, sharedWith },
      { query: { userId: user.id } },
    );
    assert.deepEqual([forUser.status, forUser.body.error?.details?.[0]?.path], [400, 'sharedWith']);
  }
  const own = await user.call('POST /api/providers', { ...provider, sharedWith: 'none' });
  assert.deepEqual([own.status, own.body.provider.sharedWith], [201, undefined]);
  for (const sharedWith of ['some', { userIds: 'x' }, { userIds: [7] }, {}, null]) {
    assert.equal((await admin.call('POST /api/providers', { ...provider, sharedWith })).status, 400);
  }
  const unknown = await admin.call('POST /api/providers', { ...provider, sharedWith: { userIds: ['missing'] } });
  assert.deepEqual([unknown.status, unknown.body.error?.code], [404, 'not_found']);
  assert.deepEqual(
    (await admin.call('GET /api/providers')).body.providers.filter(({ name }: Json) => name === 'P'),
    [],
  );

  const { id } = await share({ userIds: [user.id] }, admin);
  assert.ok(await seen(user, id));
  assert.equal(await seen(await app.signIn(), id), undefined);
  const events = (await admin.call('GET /api/admin/audit')).body.events;
  assert.ok(events.some(({ action, targetId }: Json) => action === 'provider.created' && targetId === id));
});

test("audits the owner's changes of a shared provider without keys, and not the users' changes of models", async () => {
  const { admin, id, models } = await share('everyone');
  const moved = 'https://models.example.org/v1?key=in-the-address';
  const ok = async (answered: Promise<{ status: number; text: string }>) => {
    const { status, text } = await answered;
    assert.equal(status, 200, text);
  };
  await ok(patch(admin, { id, baseUrl: moved, apiKey: 'sk-of-the-new-address' }));
  await ok(patch(admin, { id, name: 'House', baseUrl: moved }));
  await ok(admin.call('PATCH /api/models', { id: models[0], providerModelId: 'other' }));
  await ok(patch(admin, { id, sharedWith: 'none' }));
  await ok(patch(admin, { id, baseUrl: upstream.url }));
  await ok(admin.call('PATCH /api/models', { id: models[0], providerModelId: 'another' }));
  await ok(patch(admin, { id, sharedWith: 'everyone' }));
  await ok(admin.call('DELETE /api/models', undefined, { query: { id: models[1] ?? '' } }));
  await ok(admin.call('DELETE /api/providers', undefined, { query: { id } }));
  const { body, text } = await admin.call('GET /api/admin/audit', undefined, { query: { limit: '500' } });
  const mine = body.events.filter((event: Json) => event.details.owner === admin.id).reverse();
  assert.deepEqual(
    mine.map(({ action, details }: Json) => [action, details.origin, details.changed]),
    [
      ['provider.created', new URL(upstream.url).origin, undefined],
      ['model.created', undefined, undefined],
      ['model.created', undefined, undefined],
      ['provider.updated', 'https://models.example.org', ['baseUrl', 'apiKey']],
      ['provider.updated', undefined, ['name']],
      ['model.updated', undefined, ['providerModelId']],
      ['provider.updated', undefined, ['sharedWith']],
      ['provider.updated', new URL(upstream.url).origin, ['baseUrl']],
      ['provider.updated', undefined, ['sharedWith']],
      ['model.deleted', undefined, undefined],
      ['provider.deleted', undefined, undefined],
    ],
  );
  assert.doesNotMatch(text, /sk-|canary|in-the-address/);
});

test('the end of sharing applies from the next turn, with an error that names it', async () => {
  const second = await app.signIn({ role: 'admin' });
  const endings: [string, (shared: Shared) => Promise<Json>][] = [
    ['switched off', ({ admin, id }) => patch(admin, { id, sharedWith: 'none' })],
    ['for others only', ({ admin, id }) => patch(admin, { id, sharedWith: { userIds: [second.id] } })],
    [
      'another administrator',
      ({ admin, id }) =>
        second.call('PATCH /api/admin/providers', { id, sharedWith: 'none' }, { query: { userId: admin.id } }),
    ],
    ['no administrator any more', ({ admin }) => second.call('PATCH /api/admin/users', { id: admin.id, role: 'user' })],
    ['account disabled', ({ admin }) => second.call('PATCH /api/admin/users', { id: admin.id, enabled: false })],
  ];
  for (const [name, end] of endings) {
    const shared = await share('everyone');
    const reader = await app.signIn();
    const chatId = await createChat(reader);
    const decision = { modelPinned: true, modelId: shared.models[0] };
    await answer(reader, chatId, await submit(reader, chatId, 'Hello', decision));
    const ended = await end(shared);
    assert.equal(ended.status, 200, ended.text);
    assert.equal(await seen(reader, shared.id), undefined, name);
    const before = upstream.requests.length;
    const refused = await answer(reader, chatId, await submit(reader, chatId, 'Again', decision), decision);
    assert.match(errorOf(refused), /no longer shared with you/, name);
    const { messages } = await chatDetail(reader, chatId);
    assert.deepEqual([messages.at(-1).status, messages.at(-1).error?.code], ['failed', 'model_unavailable'], name);
    const elsewhere = await createChat(reader);
    const foreign = await reader.call('POST /api/chat/start', {
      chatId: elsewhere,
      message: { id: `m-${elsewhere}`, parts: [{ type: 'text', text: 'x' }] },
      modelId: shared.models[0],
    });
    assert.equal(foreign.status, 404, name);
    assert.match(
      errorOf(await answer(reader, elsewhere, await submit(reader, elsewhere, 'x'))),
      /No model is available/,
    );
    assert.equal(upstream.requests.length, before, 'nothing was sent');
  }
});

test('the key and headers of a shared provider are in no body and no frame of another user', async () => {
  const { admin, id, models } = await share('everyone');
  const seenTexts: string[] = [];
  const reader = await app.signIn({ role: 'admin' });
  const chatId = await createChat(reader);
  for (const modelId of [...models, 'missing']) {
    const messageId = await submit(reader, chatId, 'Hello', { modelId }).catch(() => undefined);
    if (messageId !== undefined) seenTexts.push((await answer(reader, chatId, messageId)).text);
  }
  const broken = await admin.call('POST /api/models', {
    providerId: id,
    providerModelId: 'status-401',
    displayName: 'broken',
    contextWindow: 100_000,
    maxOutputTokens: 4_000,
    tier: 2,
  });
  const failing = await submit(reader, chatId, 'Hello', { modelId: broken.body.model.id });
  seenTexts.push((await answer(reader, chatId, failing)).text);
  const stream = await reader.fetch(`/api/chat/${chatId}/stream`);
  seenTexts.push(stream.status === 200 ? (await readStream(stream)).text : '');
  const { messages } = await chatDetail(reader, chatId);
  const answerId = messages.find(({ role, status }: Json) => role === 'assistant' && status === 'complete').id;
  const reads: [string, Record<string, string>?][] = [
    ...([['/api/providers'], ['/api/model-tiers'], ['/api/me'], ['/api/chats'], ['/api/admin/audit']] satisfies [
      string,
    ][]),
    ['/api/chats', { id: chatId }],
    ['/api/chats/context', { chatId, messageId: answerId }],
    ['/api/chats/export', { id: chatId, format: 'json' }],
    ['/api/admin/users'],
  ];
  for (const [path, query = {}] of reads) {
    const { status, text } = await reader.call(`GET ${path}`, undefined, { query });
    assert.equal(status, 200, path);
    seenTexts.push(text);
  }
  for (const text of seenTexts) assert.doesNotMatch(text, /canary/);
  assert.ok(
    upstream.requests.some(({ headers }) => headers['x-canary'] === header),
    'they were used',
  );
  await patch(admin, { id, sharedWith: 'none' });
});

test('a manifest shares providers, names users by their addresses, and applied twice changes nothing', async () => {
  const root = await app.signIn({ role: 'admin' });
  const reader = await app.signIn();
  const manifest = (sharedWith: Json, role = 'admin') => ({
    version: 1,
    users: [
      {
        email: 'sharer@example.org',
        name: 'Sharer',
        role,
        providers: [{ name: 'Of the manifest', baseUrl: 'https://api.example.org/v1', sharedWith, models: [] }],
      },
    ],
  });
  const byName = { emails: [reader.email] };
  assert.equal((await provision(root, manifest(byName))).status, 200);
  const shown = (who: SignedIn) =>
    who.call('GET /api/providers').then(({ body }) => body.providers.map(({ name }: Json) => name));
  assert.ok((await shown(reader)).includes('Of the manifest'));
  assert.ok(!(await shown(root)).includes('Of the manifest'));
  const again = await provision(root, manifest(byName));
  assert.deepEqual(again.body.applied.providers, { created: 0, updated: 0, unchanged: 1 });
  assert.deepEqual((await provision(root, manifest('everyone'))).body.applied.providers.updated, 1);
  assert.ok((await shown(root)).includes('Of the manifest'));
  const refused = [manifest({ emails: ['nobody@example.org'] }), manifest('everyone', 'user')];
  for (const [index, path] of ['sharedWith.emails.0', 'sharedWith'].entries()) {
    const { status, body } = await provision(root, refused[index]);
    assert.deepEqual([status, body.error?.details?.[0]?.path], [400, `users.0.providers.0.${path}`]);
  }
});

test('the managed edition shares nothing: its catalogue belongs to everyone', async () => {
  const managed = await startTestApp({ config: { edition: 'managed' } });
  try {
    const [admin, user] = [await managed.signIn({ role: 'admin' }), await managed.signIn()];
    const body = { name: 'P', baseUrl: upstream.url, headers: { 'x-a': 'b' } };
    const refused = await admin.call('POST /api/providers', { ...body, sharedWith: 'everyone' });
    assert.deepEqual([refused.status, refused.body.error?.details?.[0]?.path], [400, 'sharedWith']);
    const made = await admin.call('POST /api/providers', body);
    assert.deepEqual([made.body.provider.sharedWith, made.body.provider.canEdit], [undefined, true]);
    const [shown] = (await user.call('GET /api/providers')).body.providers;
    assert.deepEqual([shown.canEdit, shown.sharedWith, shown.headers], [false, undefined, undefined]);
    // A leftover of the time when this was the community edition.
    const { pool } = managed.database.database;
    await pool.query(`update providers set owner_id = $1, shared_with = 'everyone'`, [admin.id]);
    assert.deepEqual((await user.call('GET /api/providers')).body.providers, []);
  } finally {
    await managed.stop();
  }
});
