import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import fc from 'fast-check';
import { validateManifest } from '../../src/provision/manifest/manifest.ts';
import { parseManifestText } from '../../src/provision/manifest/manifest-text.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { makeChat, say } from '../conversations/conversation-makers.ts';
import { digest, model, provision, provisionText, sampleManifest, text } from './provision-makers.ts';

/** Invalid manifests: each error names its path, nothing is applied, and the answer is never a 500. */

let app: TestApp;
let admin: SignedIn;
let foreignMessage: string;
before(async () => {
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin', email: 'root@example.org' });
  const owner = await app.signIn();
  const { database } = app.database;
  const chatId = await makeChat(database, owner.id);
  foreignMessage = await say(database, { chatId, parentId: null, text: 'Mine' });
});
after(() => app.stop());

type Change = (manifest: Json) => void;
const cases: [name: string, path: string, change: Change][] = [
  ['no version', 'version', (m) => delete m.version],
  ['another version', 'version', (m) => (m.version = 2)],
  ['an unknown member', 'colour', (m) => (m.colour = 'red')],
  ['an unknown member of branding', 'branding.colour', (m) => (m.branding.colour = 'red')],
  ['an unknown member of a user', 'users.1.colour', (m) => (m.users[1].colour = 'red')],
  ['an unknown member of a provider', 'users.0.providers.0.secret', (m) => (m.users[0].providers[0].secret = 'x')],
  [
    'an unknown member of a model',
    'users.0.providers.0.models.1.id',
    (m) => (m.users[0].providers[0].models[1].id = 'x'),
  ],
  ['an unknown member of a tier', 'users.0.modelTiers.0.name', (m) => (m.users[0].modelTiers[0].name = 'x')],
  ['an unknown member of a conversation', 'conversations.0.projectId', (m) => (m.conversations[0].projectId = 'x')],
  [
    'an unknown member of a message',
    'conversations.0.messages.1.parentId',
    (m) => (m.conversations[0].messages[1].parentId = 'x'),
  ],
  [
    'an unknown member of a part',
    'conversations.0.messages.0.parts.0.html',
    (m) => (m.conversations[0].messages[0].parts[0].html = 'x'),
  ],
  [
    'an unknown kind of part',
    'conversations.0.messages.0.parts.0.type',
    (m) => (m.conversations[0].messages[0].parts[0].type = 'video'),
  ],
  ['an invalid email address', 'users.0.email', (m) => (m.users[0].email = 'ada')],
  ['an address twice', 'users.1.email', (m) => (m.users[1].email = 'ADA@example.org')],
  ['a short name', 'users.1.name', (m) => (m.users[1].name = 'B')],
  ['a weak password', 'users.0.password', (m) => (m.users[0].password = 'short1')],
  ['an unknown role', 'users.0.role', (m) => (m.users[0].role = 'root')],
  ['a root catalogue in the community edition', 'providers', (m) => (m.providers = [])],
  ['root tiers in the community edition', 'modelTiers', (m) => (m.modelTiers = [{ value: 1, label: 'L' }])],
  [
    'a base URL with a password',
    'users.0.providers.0.baseUrl',
    (m) => (m.users[0].providers[0].baseUrl = 'https://a:b@c.example/v1'),
  ],
  ['a forbidden header', 'users.0.providers.0.headers.host', (m) => (m.users[0].providers[0].headers = { host: 'x' })],
  ['no tier', 'users.0.providers.0.models.0.tier', (m) => delete m.users[0].providers[0].models[0].tier],
  [
    'a tier that is not defined',
    'users.0.providers.0.models.0.tier',
    (m) => (m.users[0].providers[0].models[0].tier = 2),
  ],
  [
    'more output than context',
    'users.0.providers.0.models.0.maxOutputTokens',
    (m) => (m.users[0].providers[0].models[0].maxOutputTokens = 8001),
  ],
  [
    'two defaults',
    'users.0.providers.0.models.1.isDefault',
    (m) => (m.users[0].providers[0].models[0].isDefault = true),
  ],
  [
    'a disabled default',
    'users.0.providers.0.models.1.isDefault',
    (m) => (m.users[0].providers[0].models[1].enabled = false),
  ],
  ['a tier value twice', 'users.0.modelTiers.1.value', (m) => (m.users[0].modelTiers[1].value = 9)],
  [
    '33 tiers',
    'users.0.modelTiers',
    (m) => (m.users[0].modelTiers = Array.from({ length: 33 }, (_, i) => ({ value: i + 1, label: `L${i}` }))),
  ],
  ['an unknown owner', 'conversations.0.ownerEmail', (m) => (m.conversations[0].ownerEmail = 'nobody@example.org')],
  ['a conversation twice', 'conversations.1.id', (m) => m.conversations.push({ ...m.conversations[0], messages: [] })],
  ['a message twice', 'conversations.0.messages.1.id', (m) => (m.conversations[0].messages[1].id = 'imported-1-a')],
  ['an invalid time', 'conversations.0.createdAt', (m) => (m.conversations[0].createdAt = 'yesterday')],
  ['a time before 1970', 'conversations.0.createdAt', (m) => (m.conversations[0].createdAt = '0000-01-01T00:00:00Z')],
  ['an empty title', 'conversations.0.title', (m) => (m.conversations[0].title = ' ')],
  [
    'NUL in a text',
    'conversations.0.messages.0.parts.0.text',
    (m) => (m.conversations[0].messages[0].parts[0].text = 'a\u0000'),
  ],
  ['half a surrogate pair', 'users.1.name', (m) => (m.users[1].name = 'Bo\ud800')],
  ['an invalid color', 'branding.primaryColor', (m) => (m.branding.primaryColor = 'red')],
  ['an invalid image', 'branding.logoDataUrl', (m) => (m.branding.logoDataUrl = 'data:image/png;base64,AAAA')],
  ['an identity provider switched on without issuer', 'oidc.issuer', (m) => (m.oidc.enabled = true)],
];

for (const [index, [name, path, change]] of cases.entries()) {
  test(`${name}: answers 400 with ${path}, and applies nothing`, async () => {
    const manifest = sampleManifest();
    change(manifest);
    const refused = refusal(manifest);
    if (refused !== undefined) {
      assert.deepEqual([refused.code, refused.details[0]?.path], ['invalid_request', path]);
      assert.doesNotMatch(JSON.stringify(refused), /secret-1|correct horse/);
      if (index % 8 !== 0) return;
    }
    const before = await digest(app);
    const { status, body } = await provision(admin, manifest);
    assert.deepEqual([status, body.error?.code, body.error?.details[0].path], [400, 'invalid_request', path]);
    assert.doesNotMatch(JSON.stringify(body), /secret-1|correct horse/);
    assert.equal(await digest(app), before);
  });
}

test('a message id of another conversation: answers 409 id_taken with its path, and applies nothing', async () => {
  const manifest = sampleManifest();
  manifest.conversations[0].messages[1].id = foreignMessage;
  const before = await digest(app);
  const { status, body } = await provision(admin, manifest);
  const path = 'conversations.0.messages.1.id';
  assert.deepEqual([status, body.error.code, body.error.details[0].path], [409, 'id_taken', path]);
  assert.equal(await digest(app), before);
});

test('removing the last administrator: answers 409 last_admin with its path, and applies nothing', async () => {
  for (const fields of [{ role: 'user' }, { enabled: false }]) {
    const users = [
      { email: 'new@example.org', name: 'New' },
      { email: 'root@example.org', name: 'Root', ...fields },
    ];
    const before = await digest(app);
    const { status, body } = await provision(admin, { version: 1, users });
    const path = `users.1.${Object.keys(fields)[0]}`;
    assert.deepEqual([status, body.error.code, body.error.details[0].path], [409, 'last_admin', path]);
    assert.equal(await digest(app), before);
  }
  const users = [
    { email: 'second@example.org', name: 'Second', role: 'admin' },
    { email: 'root@example.org', name: 'Root', role: 'user' },
  ];
  assert.equal((await provision(admin, { version: 1, users }, { dryRun: '1' })).status, 200);
});

test('one invalid entry out of thousands: applies nothing, whichever stage finds it', async () => {
  const many = (count: number, bad: (index: number) => object) => ({
    version: 1,
    users: Array.from({ length: count }, (_, i) => ({
      email: `many-${i}@example.org`,
      name: `Many ${i}`,
      providers: [{ name: 'P', baseUrl: 'https://a.example/v1', models: [model('m', i === count - 1 ? bad(0) : {})] }],
    })),
    conversations: Array.from({ length: count }, (_, i) => ({
      id: `many-${i}`,
      ownerEmail: `many-${i % 10}@example.org`,
      title: `Many ${i}`,
      messages: [text(`many-${i}-m`, 'user', 'Hello')],
      ...(i === count - 1 ? bad(1) : {}),
    })),
  });
  const count = 2_000;
  const before = await digest(app);
  const faults: [string, (place: number) => object][] = [
    [`users.${count - 1}.providers.0.models.0.displayName`, (place) => (place === 0 ? { displayName: '' } : {})],
    [`users.${count - 1}.providers.0.models.0.tier`, (place) => (place === 0 ? { tier: 77 } : {})],
    [`conversations.${count - 1}.ownerEmail`, (place) => (place === 1 ? { ownerEmail: 'nobody@example.org' } : {})],
    [
      `conversations.${count - 1}.messages.0.id`,
      (place) => (place === 1 ? { messages: [text(foreignMessage, 'user', 'x')] } : {}),
    ],
  ];
  for (const [path, bad] of faults) {
    const { body } = await provision(admin, many(count, bad));
    assert.equal(body.error?.details[0].path, path);
    assert.equal(await digest(app), before, path);
  }
});

const yaml = (lines: string) => provisionText(admin, lines, 'application/yaml');
const bomb = [
  'a: &a [x, x, x, x, x, x, x, x, x, x]',
  ...'bcdefghijklmno'.split('').map((name, i) => {
    const last = 'abcdefghijklmn'[i];
    return `${name}: &${name} [${Array(10).fill(`*${last}`).join(', ')}]`;
  }),
].join('\n');

test('answers 400 quickly for YAML that is invalid, of several documents, cyclic or an alias bomb', async () => {
  const texts = [
    ...[
      '',
      '   \n',
      '# nothing',
      'version: 1\nversion: 1',
      'version: 1\n---\nversion: 1',
      ': :',
      '\tversion: 1',
      '{',
      '[]',
      'a',
    ],
    ...[
      'version: *nowhere',
      '&a [*a]',
      'version: &v 1\nusers: &u [*u]',
      bomb,
      'version: !!js/function "x"',
      '!!binary aGVsbG8=',
    ],
    ...['%YAML 9.9\n---\nversion: 1', `version: ${'['.repeat(100_000)}`, `${'a: {'.repeat(50_000)}`, '? [1, 2]\n: 3'],
    ...['version: 1\n__proto__: {version: 1}', 'version: 1\nconstructor: 1', 'version: 1\n<<: {users: []}'],
  ];
  for (const lines of texts) {
    const { status, body } = await yaml(lines);
    assert.deepEqual([status, body.error?.code], [400, 'invalid_request'], lines.slice(0, 60));
  }
  assert.equal((await yaml('version: 1\nusers: &u []\nconversations: *u')).status, 200);
});

test('an error about invalid YAML contains no secret of the text', async () => {
  const { body } = await yaml('version: 1\nusers:\n  - {email: a@example.org, password: hunter2hunter2 name: x: y}\n');
  assert.match(body.error.details[0].message, /line 3/);
  assert.doesNotMatch(JSON.stringify(body), /hunter2/);
});

test('rejects bytes that are not UTF-8, other types, and more than 64 MiB', async () => {
  const send = (body: string | Uint8Array<ArrayBuffer>, type: string) =>
    admin.fetch('/api/admin/provision', { method: 'POST', body, headers: { 'content-type': type } });
  for (const type of ['application/json', 'application/yaml']) {
    assert.equal((await send(new Uint8Array([0xff, 0xfe, 0x00]), type)).status, 400, type);
  }
  assert.equal((await send('version: 1', 'text/plain')).status, 415);
  assert.equal((await send(new Uint8Array(64 * 1024 * 1024 + 1), 'application/yaml')).status, 413);
});

test('only administrators apply a manifest', async () => {
  const user = await app.signIn();
  assert.equal((await provision(user, { version: 1 })).body.error.code, 'forbidden');
  assert.equal((await app.anonymous.call('POST /api/admin/provision', { version: 1 })).status, 401);
});

test('concurrent manifests are each applied completely or asked to retry', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => {
      const users = [{ email: `at-once-${i}@example.org`, name: `At once ${i}` }];
      return provision(admin, { version: 1, users });
    }),
  );
  const codes = answers.map(({ status, body }) => (status === 200 ? 'ok' : body.error.code));
  assert.ok(
    codes.every((code) => code === 'ok' || code === 'rate_limited'),
    codes.join(),
  );
  assert.ok(codes.filter((code) => code === 'ok').length >= 4, codes.join());
});

test('any change of a manifest is applied or rejected with its path, and a 400 applies nothing', async () => {
  const places = leaves(sampleManifest());
  let runs = 0;
  const odd = fc.oneof(
    fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, '', ' ', '\u0000', '\ud800', 'x'.repeat(300), [], {}, [[]]),
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );
  const changes = fc.array(fc.tuple(fc.constantFrom(...places), odd), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(changes, async (given) => {
      const manifest = sampleManifest();
      for (const [path, value] of given) replace(manifest, path, value);
      const refused = refusal(manifest);
      runs += 1;
      if (refused !== undefined) {
        assert.equal(refused.code, 'invalid_request');
        assert.equal(typeof refused.details[0]?.path, 'string');
        if (runs % 20 !== 0) return;
      }
      const before = await digest(app);
      const { status, body } = await provision(admin, manifest, { dryRun: '1' });
      assert.ok([200, 400, 409].includes(status), `${status} ${JSON.stringify(body)}`);
      if (status !== 200) assert.equal(typeof (body.error.details[0]?.path ?? body.error.details.path), 'string');
      assert.equal(await digest(app), before);
    }),
    { numRuns: 100 },
  );
});

/** The refusal of its own thread, without the thread, which would compile the same code again each time. */
function refusal(manifest: Json): { code: string; details: { path: string }[] } | undefined {
  try {
    validateManifest(parseManifestText(Buffer.from(JSON.stringify(manifest)), 'json'), 'community');
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, details: error.details as { path: string }[] };
  }
}

type Path = (string | number)[];

/** Paths of all members, including nested ones. */
function leaves(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const below = Object.keys(value).flatMap((key) =>
    leaves(value[key], [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return path.length === 0 ? below : [path, ...below];
}

function replace(manifest: Json, path: Path, value: unknown): void {
  let holder = manifest;
  for (const key of path.slice(0, -1)) {
    holder = holder?.[key];
    if (typeof holder !== 'object' || holder === null) return;
  }
  const last = path.at(-1);
  if (last !== undefined) holder[last] = value;
}
