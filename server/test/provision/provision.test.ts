import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { secretPlaceholder } from '@homeport/contracts/provision/manifest';
import { dump } from 'js-yaml';
import { createCaller, type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { digest, model, password, provision, provisionText, sampleManifest, signIn, text } from './provision-makers.ts';

describe('community edition', () => {
  let app: TestApp;
  let admin: SignedIn;
  before(async () => {
    // Messages that are submitted here wait: digests cover everything stored.
    app = await startTestApp({ timings: { graceMs: 3_600_000 } });
    admin = await app.signIn({ role: 'admin', email: 'root@example.org' });
  });
  after(() => app.stop());

  const as = async (email: string, given = password) => createCaller(app.url, await signIn(app, email, given));
  const users = async (): Promise<Json[]> => (await admin.call('GET /api/admin/users')).body.users;

  test('a manifest makes users, catalogues, conversations and settings, and a second time changes nothing', async () => {
    const first = await provision(admin, sampleManifest());
    assert.equal(first.status, 200, first.text);
    assert.deepEqual(first.body.applied, {
      users: { created: 2, updated: 0, unchanged: 0 },
      providers: { created: 1, updated: 0, unchanged: 0 },
      models: { created: 2, updated: 0, unchanged: 0 },
      conversations: { created: 1, skipped: 0 },
    });
    assert.deepEqual(first.body.warnings, []);
    assert.doesNotMatch(first.text, /secret-1|correct horse/);

    const ada = await as('ada@example.org');
    assert.equal((await ada.call('GET /api/me')).body.user.role, 'admin');
    const catalogue = (await ada.call('GET /api/providers')).body;
    assert.deepEqual(catalogue.modelTiers, [
      { value: 9, label: 'Large' },
      { value: 1, label: 'Small' },
    ]);
    const [provider] = catalogue.providers;
    assert.deepEqual([provider.hasApiKey, provider.headers], [true, { 'x-team': 'blue' }]);
    assert.deepEqual(
      provider.models.map((made: Json) => [made.providerModelId, made.tier, made.isDefault]),
      [
        ['small', 1, false],
        ['large', 9, true],
      ],
    );
    const bob = (await users()).find((user) => user.email === 'bob@example.org');
    assert.deepEqual(
      [bob.role, bob.enabled, bob.hasPassword, bob.providerSettingsEnabled, bob.mcpSettingsEnabled],
      ['user', true, false, false, false],
    );
    const { branding } = (await app.anonymous.call('GET /api/public-config')).body;
    assert.equal(branding.productName, 'Harbour');
    const { oidc } = (await admin.call('GET /api/admin/config')).body;
    assert.deepEqual([oidc.clientId, oidc.hasClientSecret], ['homeport', true]);

    const before = await digest(app);
    const second = await provision(admin, sampleManifest());
    assert.deepEqual(second.body.applied, {
      users: { created: 0, updated: 0, unchanged: 2 },
      providers: { created: 0, updated: 0, unchanged: 1 },
      models: { created: 0, updated: 0, unchanged: 2 },
      conversations: { created: 0, skipped: 1 },
    });
    assert.deepEqual(second.body.changes, []);
    assert.equal(await digest(app), before);
  });

  test('an imported conversation belongs to its owner, and can be searched, exported and continued', async () => {
    const owner = await app.signIn();
    const conversation = {
      id: 'imported-2',
      ownerEmail: owner.email,
      title: 'Old letters',
      archived: true,
      createdAt: '2024-05-06T07:08:09Z',
      messages: [
        text('imported-2-a', 'user', 'Where is the cormorant?'),
        { ...text('imported-2-b', 'assistant', 'On the pier.'), createdAt: '2024-05-07T00:00:00.500Z' },
      ],
    };
    const answer = await provision(admin, { version: 1, conversations: [conversation] });
    assert.deepEqual(answer.body.applied.conversations, { created: 1, skipped: 0 });
    const found = (await owner.call('GET /api/chats', undefined, { query: { q: 'cormorant', archived: '1' } })).body
      .chats;
    assert.deepEqual(
      found.map(({ id, title, archived, createdAt, updatedAt }: Json) => [id, title, archived, createdAt, updatedAt]),
      [['imported-2', 'Old letters', true, '2024-05-06T07:08:09.000Z', '2024-05-07T00:00:00.500Z']],
    );
    const { messages } = (await owner.call('GET /api/chats', undefined, { query: { id: 'imported-2' } })).body;
    assert.deepEqual(
      messages.map(({ id, parentId, role, status, createdAt }: Json) => [id, parentId, role, status, createdAt]),
      [
        ['imported-2-a', null, 'user', 'complete', '2024-05-06T07:08:09.000Z'],
        ['imported-2-b', 'imported-2-a', 'assistant', 'complete', '2024-05-07T00:00:00.500Z'],
      ],
    );
    await owner.call('PATCH /api/chats', { id: 'imported-2', archived: false });
    const next = { chatId: 'imported-2', message: { id: 'imported-2-c', parts: [{ type: 'text', text: 'Still?' }] } };
    assert.equal((await owner.call('POST /api/chat/start', next)).status, 201);
    assert.equal((await admin.call('GET /api/chats', undefined, { query: { id: 'imported-2' } })).status, 404);
  });

  test('keeps a conversation whose id exists, regardless of its owner', async () => {
    const owner = await app.signIn();
    const other = await app.signIn();
    await owner.call('POST /api/chats', { id: 'taken-id', title: 'Mine' });
    const given = {
      id: 'taken-id',
      ownerEmail: other.email,
      title: 'Theirs',
      messages: [text('taken-m', 'user', 'x')],
    };
    const answer = await provision(admin, { version: 1, conversations: [given] });
    assert.deepEqual(answer.body.applied.conversations, { created: 0, skipped: 1 });
    const detail = (await owner.call('GET /api/chats', undefined, { query: { id: 'taken-id' } })).body;
    assert.deepEqual([detail.chat.title, detail.messages], ['Mine', []]);
    assert.equal((await other.call('GET /api/chats', undefined, { query: { id: 'taken-id' } })).status, 404);
  });

  test('members that the manifest omits keep their value', async () => {
    await provision(admin, {
      version: 1,
      users: [
        {
          email: 'omit@example.org',
          name: 'Omit',
          enabled: true,
          mcpSettingsEnabled: false,
          password,
          modelTiers: [{ value: 5, label: 'Five' }],
          providers: [
            {
              name: 'P',
              baseUrl: 'https://a.example/v1',
              apiKey: 'sk-kept',
              headers: { 'x-a': '1' },
              enabled: false,
              models: [model('m', { tier: 5, enabled: false }), model('n', { tier: 5 })],
            },
            { name: 'Q', baseUrl: 'https://q.example/v1', models: [] },
          ],
        },
      ],
    });
    const before = await digest(app);
    const less = {
      version: 1,
      users: [
        {
          email: 'omit@example.org',
          name: 'Omit',
          providers: [{ name: 'P', baseUrl: 'https://a.example/v1', models: [model('m', { tier: 5 })] }],
        },
      ],
    };
    const answer = await provision(admin, less);
    assert.deepEqual(answer.body.changes, []);
    assert.equal(await digest(app), before);
  });

  test('reports and applies a change field by field, and a dry run reports the same without applying it', async () => {
    const manifest = (role: string, baseUrl: string, apiKey: string, tier: number) => ({
      version: 1,
      users: [
        {
          email: 'dry@example.org',
          name: 'Dry',
          role,
          providers: [{ name: 'P', baseUrl, apiKey, models: [model('m', { tier })] }],
        },
      ],
    });
    await provision(admin, manifest('user', 'https://a.example/v1', 'sk-one', 2));
    const changed = manifest('admin', 'https://b.example/v1', 'sk-two', 3);
    const before = await digest(app);
    const dry = await provision(admin, changed, { dryRun: '1' });
    assert.equal(await digest(app), before);
    assert.deepEqual([dry.status, dry.body.dryRun], [200, true]);
    assert.deepEqual(dry.body.changes, [
      { path: 'users.0', action: 'update', summary: 'user dry@example.org: role "user" → "admin"' },
      {
        path: 'users.0.providers.0',
        action: 'update',
        summary:
          'provider "P" of dry@example.org: baseUrl "https://a.example/v1" → "https://b.example/v1", API key changed',
      },
      { path: 'users.0.providers.0.models.0', action: 'update', summary: 'model "m" of "P": tier 2 → 3' },
    ]);
    const real = await provision(admin, changed);
    assert.deepEqual({ ...real.body, dryRun: true }, dry.body);
    assert.notEqual(await digest(app), before);
    assert.deepEqual((await provision(admin, changed)).body.changes, []);
  });

  test('YAML and JSON have the same effect', async () => {
    const manifest = sampleManifest();
    manifest.users[1].name = 'Robert: "no"';
    const yaml = await provisionText(admin, dump(manifest), 'application/yaml; charset=utf-8');
    assert.equal(yaml.status, 200, JSON.stringify(yaml.body));
    assert.deepEqual(yaml.body.applied.users, { created: 0, updated: 1, unchanged: 1 });
    assert.deepEqual((await provision(admin, manifest)).body.changes, []);
  });

  test('the manifest names one default model, and disabling it promotes the oldest usable one', async () => {
    const catalogue = (models: object[]) => ({
      version: 1,
      users: [
        {
          email: 'def@example.org',
          name: 'Default',
          password,
          providers: [{ name: 'P', baseUrl: 'https://a.example/v1', models }],
        },
      ],
    });
    await provision(admin, catalogue([model('a'), model('b'), model('c')]));
    const owner = await as('def@example.org');
    const defaults = async () =>
      (await owner.call('GET /api/providers')).body.providers[0].models
        .filter((made: Json) => made.isDefault)
        .map((made: Json) => made.providerModelId);
    assert.deepEqual(await defaults(), ['a']);
    await provision(admin, catalogue([model('c', { isDefault: true })]));
    assert.deepEqual(await defaults(), ['c']);
    await provision(admin, catalogue([model('c', { enabled: false })]));
    assert.deepEqual(await defaults(), ['a']);
    await provision(admin, catalogue([model('a', { enabled: false }), model('b', { isDefault: true })]));
    assert.deepEqual(await defaults(), ['b']);
  });

  test('removes a tier if the same manifest moves its models, and keeps a tier in use', async () => {
    const catalogue = (tier: number, modelTiers: object[]) => ({
      version: 1,
      users: [
        {
          email: 'tiers@example.org',
          name: 'Tiers',
          modelTiers,
          providers: [{ name: 'P', baseUrl: 'https://a.example/v1', models: [model('m', { tier })] }],
        },
      ],
    });
    const [one, two] = [
      { value: 1, label: 'One' },
      { value: 2, label: 'Two' },
    ];
    await provision(admin, catalogue(1, [one, two]));
    assert.equal((await provision(admin, catalogue(2, [two]))).status, 200);
    const before = await digest(app);
    const user = { email: 'tiers@example.org', name: 'Tiers', modelTiers: [one] };
    const refused = await provision(admin, { version: 1, users: [user] });
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'tier_in_use']);
    assert.deepEqual(refused.body.error.details, { tiers: [2], path: 'users.0.modelTiers' });
    assert.equal(await digest(app), before);
  });

  test('a placeholder keeps the stored secret, and without one it sets nothing and warns', async () => {
    const catalogue = (apiKey: string, secret: string, header: string) => ({
      version: 1,
      oidc: { clientSecret: secret },
      users: [
        {
          email: 'hold@example.org',
          name: 'Hold',
          password: secret,
          providers: [{ name: 'P', baseUrl: 'https://a.example/v1', apiKey, headers: { 'x-h': header }, models: [] }],
        },
      ],
    });
    await admin.call('POST /api/admin/config', { oidc: { clientSecret: null } });
    const empty = await provision(admin, catalogue(secretPlaceholder, secretPlaceholder, secretPlaceholder));
    assert.deepEqual(
      empty.body.warnings.map((warning: string) => warning.split(':')[0]),
      ['users.0.password', 'oidc.clientSecret', 'users.0.providers.0.apiKey', 'users.0.providers.0.headers.x-h'],
    );
    assert.equal(await signIn(app, 'hold@example.org', secretPlaceholder), undefined);
    await provision(admin, catalogue('sk-real', 'a real password 1', 'real'));
    const before = await digest(app);
    const again = await provision(admin, catalogue(secretPlaceholder, secretPlaceholder, secretPlaceholder));
    assert.deepEqual([again.body.warnings, again.body.changes], [[], []]);
    assert.equal(await digest(app), before);
    assert.ok(await signIn(app, 'hold@example.org', 'a real password 1'));
  });

  test('another password ends the sessions of its user, but not the one that applies the manifest', async () => {
    const entry = { email: 'pass@example.org', name: 'Pass', role: 'admin', password };
    await provision(admin, { version: 1, users: [entry] });
    const self = await as('pass@example.org');
    const elsewhere = await as('pass@example.org');
    const changed = { version: 1, users: [{ ...entry, password: 'another password 2' }] };
    assert.equal((await provision(self, changed)).body.changes[0].summary, 'user pass@example.org: password changed');
    assert.equal((await self.call('GET /api/me')).status, 200);
    assert.equal((await elsewhere.call('GET /api/me')).status, 401);
    assert.equal(await signIn(app, 'pass@example.org', password), undefined);
    assert.ok(await signIn(app, 'pass@example.org', 'another password 2'));
  });

  test('a disabled account answers 403 account_disabled, and 401 once it is enabled again', async () => {
    const user = await app.signIn({ name: 'Gone' });
    const entry = { email: user.email, name: 'Gone' };
    await provision(admin, { version: 1, users: [{ ...entry, enabled: false }] });
    assert.equal((await user.call('GET /api/me')).body.error.code, 'account_disabled');
    await provision(admin, { version: 1, users: [{ ...entry, enabled: true }] });
    assert.equal((await user.call('GET /api/me')).status, 401);
  });

  test('records the administrator who applied a manifest in the audit log, and no secret', async () => {
    await provision(admin, sampleManifest());
    const { events } = (await admin.call('GET /api/admin/audit')).body;
    const event = events.find(({ action }: Json) => action === 'manifest.applied');
    assert.deepEqual([event.actorId, event.targetType], [admin.id, 'installation']);
    assert.equal(event.details.usersCreated, 0);
    assert.doesNotMatch(JSON.stringify(events), /secret-1|sk-|battery/);
  });
});

describe('managed edition', () => {
  let app: TestApp;
  let admin: SignedIn;
  before(async () => {
    app = await startTestApp({ config: { edition: 'managed' } });
    admin = await app.signIn({ role: 'admin' });
  });
  after(() => app.stop());

  test('the shared catalogue is at the root of the manifest', async () => {
    const manifest = {
      version: 1,
      modelTiers: [{ value: 3, label: 'Only' }],
      providers: [
        { name: 'Shared', baseUrl: 'https://a.example/v1', apiKey: 'sk-1', models: [model('m', { tier: 3 })] },
      ],
      users: [{ email: 'someone@example.org', name: 'Someone', mcpSettingsEnabled: false }],
    };
    assert.deepEqual((await provision(admin, manifest)).body.applied.models, { created: 1, updated: 0, unchanged: 0 });
    const user = await app.signIn();
    const { providers, modelTiers } = (await user.call('GET /api/providers')).body;
    assert.deepEqual([providers[0].name, providers[0].models[0].isDefault], ['Shared', true]);
    assert.deepEqual(modelTiers, [{ value: 3, label: 'Only' }]);
    assert.deepEqual((await provision(admin, manifest)).body.changes, []);
  });

  test('refuses a catalogue or provider rights below a user', async () => {
    const user = { email: 'u@example.org', name: 'User' };
    for (const fields of [
      { providers: [] },
      { modelTiers: [{ value: 1, label: 'L' }] },
      { providerSettingsEnabled: true },
    ]) {
      const { status, body } = await provision(admin, { version: 1, users: [{ ...user, ...fields }] });
      assert.deepEqual([status, body.error.details[0].path], [400, `users.0.${Object.keys(fields)[0]}`]);
    }
  });
});
