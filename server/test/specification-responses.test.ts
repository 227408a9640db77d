import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { oidcConfiguration } from '@homeport/contracts/accounts/single-sign-on';
import { model, modelTier, provider } from '@homeport/contracts/catalogue/catalogue';
import { chat, input } from '@homeport/contracts/chat/conversations';
import { endpoints } from '@homeport/contracts/endpoints';
import * as fields from '@homeport/contracts/fields';
import { artifact } from '@homeport/contracts/files/artifacts';
import { mcpServer } from '@homeport/contracts/mcp/mcp';
import { branding } from '@homeport/contracts/system';
import type { z } from 'zod';
import { type SignedIn, startTestApp, type TestApp } from './app.ts';
import { addModels, createChat, nextId, postChat, submission, submit } from './chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from './fakes/provider/provider.ts';
import {
  contract,
  differences,
  objectsOf,
  recordInContract,
  rowsAt,
  type SpelledShape,
  specification,
  spelledInContract,
  spelledInSpecification,
  tableOf,
} from './specification-shapes.ts';

/** Every response that the specification or the contract spells out, member by member. */

/** Members of a response beyond its shape, each with the sentence of the contract that allows it. */
const allowed: Record<string, Record<string, string>> = {
  'GET /api/chats': {
    nextBefore: '`nextBefore` in the answer',
    summaries: 'also carries `summaries: [',
    plan: 'Tools `plan`, `ask`',
  },
  'GET /api/projects': {
    nextCursor: 'the answer then carries `nextCursor`',
    'projects.instructions': 'project (owners write, members read)',
  },
  'GET /api/skills/files': {
    skill: 'members beyond these are free',
    'files.bytes': 'members beyond these are free',
    'files.sha256': 'members beyond these are free',
  },
  'GET /api/chats/changes': {
    left: 'members beyond these are free',
    truncated: 'members beyond these are free',
  },
  'GET /api/chats/sources': {
    'sources.number': 'Members beyond these are free',
    'sources.publishedAt': 'Members beyond these are free',
    'sources.isPage': 'Members beyond these are free',
    'sources.hash': 'Members beyond these are free',
  },
  'GET /api/workspace/status': { message: '(+ `message` when something is worth telling)' },
  'POST /api/workspace/status': { message: '(+ `message` when something is worth telling)' },
  'DELETE /api/workspace/status': { message: '(+ `message` when something is worth telling)' },
};

/** Shapes of the third plan (contract.md section 12) whose endpoints can still be missing. */
const thirdPlan = /^\/api\/(?:shares|me\/identities|me\/tokens|chats\/sources|admin\/web-search|me\/web-search)\b/;

/** The schemas that a spelled-out response can mean: that of its status, or of any success. */
function schemasOf({ method, path, status }: SpelledShape): z.ZodObject[] {
  return rowsAt(method, path).flatMap(([, { response, status: usual = 200, others = {} }]) =>
    objectsOf(status === undefined || status === usual ? response : others[status]),
  );
}

/** Members that no allowance covers, of the variant of a response that fits best. */
function unexplained(spelled: SpelledShape): string[] {
  const reasons = allowed[`${spelled.method} ${spelled.path}`] ?? {};
  const found = schemasOf(spelled).map((schema) => {
    const { more, less } = differences(spelled.shape, schema);
    return [
      ...more.filter((name) => reasons[name] === undefined).map((name) => `+${name}`),
      ...less.map((name) => `-${name}`),
    ];
  });
  return found.sort((one, other) => one.length - other.length)[0] ?? ['no such response'];
}

test('responses that the specification spells out have its members and no others', () => {
  const spelled = spelledInSpecification().filter(({ method, path }) => rowsAt(method, path).length > 0);
  assert.deepEqual(
    spelled.map(({ method, path, text }) => `${method} ${path} ${text}`),
    [
      'GET /api/health {ok: true}',
      'GET /api/health {ok: false}',
      'GET /api/setup {required: boolean, claimRequired: boolean}',
      'GET /api/me {user}',
      'GET /api/providers {providers, canEdit, modelTiers}',
      'POST /api/chat/start {messageId}',
      'POST /api/chat/turn-inputs {input}',
      'POST /api/chat {admitted: true, assistantId}',
      'GET /api/mcp {servers, canEdit}',
      'GET /api/mcp {server, canEdit}',
      'GET /api/model-tiers {modelTiers: [...]}',
      'PUT /api/model-tiers {modelTiers: [...]}',
    ],
    'the tables are read whole',
  );
  for (const each of spelled) assert.deepEqual(unexplained(each), [], `${each.method} ${each.path}`);
});

test('responses that the contract spells out have its members, and others only where it allows them', () => {
  const spelled = spelledInContract().filter(
    ({ method, path }) => rowsAt(method, path).length > 0 || !thirdPlan.test(path),
  );
  assert.ok(spelled.length >= 28, `only ${spelled.length} shapes were found`);
  for (const each of spelled) assert.deepEqual(unexplained(each), [], `${each.method} ${each.path} ${each.text}`);
  for (const [route, reasons] of Object.entries(allowed)) {
    for (const [name, sentence] of Object.entries(reasons)) {
      assert.ok(
        contract.replace(/\n\s*/g, ' ').includes(sentence),
        `${route} ${name}: "${sentence}" is not in the contract`,
      );
    }
  }
});

test('the user of GET /api/me has the eight members that the specification names and no others', () => {
  const [, list = ''] = /Response \{user\} containing only ([^.]+)\./.exec(specification) ?? [];
  const named = list.split(', ');
  assert.equal(named.length, 8);
  for (const name of ['getMe', 'patchMe', 'postSetup', 'putInvitation'] as const) {
    assert.deepEqual(Object.keys(endpoints[name].response.shape.user.shape), named, name);
  }
  assert.deepEqual(tableOf('User').sort(), [...named].sort(), 'as the table of its fields');
});

test('records have the fields of their tables in the specification, and others only where the contract names them', () => {
  const names = (schema: z.ZodObject) => Object.keys(schema.shape).sort();
  assert.deepEqual(names(branding), tableOf('Branding configuration').sort());
  assert.deepEqual(names(modelTier), tableOf('Model tier definition').sort());
  assert.match(specification, /modelTiers is the ordered array of \{value, label\}/);
  const oidc = new Set(tableOf('OIDC configuration'));
  assert.deepEqual(
    names(oidcConfiguration).filter((name) => !oidc.delete(name) && !new RegExp(`\`${name}\\b`).test(contract)),
    ['credentialsError', 'credentialsOrigin'],
    'shown only when a stored secret is unusable (contract.md section 11, "Credentials and addresses")',
  );
  assert.deepEqual([...oidc], []);
  const listed = new Set(tableOf('MCP server'));
  for (const name of ['headers']) listed.delete(name);
  for (const name of listed) assert.ok(name in mcpServer.shape, name);
  assert.equal('headers' in mcpServer.shape, false, 'the list has hasHeaders instead');
});

/** Records of the contract with the schema that each is; `more`: members named elsewhere in it, or free by section 11. */
const records: [string, z.ZodObject, string[]][] = [
  [
    'Provider',
    provider,
    [
      ...['kind', 'canEdit', 'sharedWith', 'credentialsError', 'credentialsOrigin', 'modelTiers'],
      ...['region', 'onlyRegions', 'firstByteSeconds', 'outage'],
    ],
  ],
  ['Model', model, ['parameters', 'abilities', 'prices', 'estimatedPrices', 'sources', 'lessons', 'standIns']],
  [
    'Chat',
    chat,
    [
      ...['assistantId', 'instructions', 'parameters', 'toolRules', 'temporary', 'web'],
      ...['autoCompaction', 'waiting', 'lastStatus'],
    ],
  ],
  [
    'Server',
    mcpServer,
    [
      ...['command', 'args', 'hasEnv', 'version', 'connection', 'clientId', 'hasClientSecret'],
      ...['credentialsError', 'credentialsOrigin', 'offerId', 'createdAt', 'volatileTexts', 'trustedWithOffer'],
      ...['tools.title', 'tools.outputSchema', 'tools.annotations'],
    ],
  ],
  ['Artifact', artifact, ['version', 'source']],
];

for (const [name, schema, more] of records) {
  test(`a ${name} has the members that the contract lists, and only known others`, () => {
    const { more: grown, less } = differences(recordInContract(name), schema);
    assert.deepEqual(less, []);
    assert.deepEqual(
      grown.filter((member) => !more.includes(member)),
      [],
    );
  });
}

test('a queued input and the answer to a moved conversation match the contract', () => {
  assert.deepEqual(Object.keys(input.shape), ['id', 'chatId', 'state', 'message', 'createdAt']);
  assert.deepEqual(Object.keys(endpoints.patchChat.response.shape), ['chat', 'movedArtifacts', 'artifactFolder']);
  assert.deepEqual(Object.keys(endpoints.postArtifactImport.response.shape), ['artifact', 'skipped']);
  const invitation = ['id', 'email', 'name', 'role', 'state', 'createdAt', 'expiresAt'];
  assert.deepEqual(Object.keys(endpoints.postInvitation.response.shape), ['invitation', 'token', 'url']);
  assert.deepEqual(Object.keys(endpoints.postInvitation.response.shape.invitation.shape), invitation);
});

let app: TestApp;
let fake: FakeProvider;
let user: SignedIn;
before(async () => {
  fake = await startFakeProvider();
  app = await startTestApp();
  user = await app.signIn();
  await addModels(user, fake, ['echo']);
});
after(async () => {
  await app.stop();
  await fake.close();
});

/** Members that the service really sends, compared with those of the specification. */
const sent: Record<string, () => Promise<[unknown, string[]]>> = {
  'GET /api/me': async () => [(await user.call('GET /api/me')).body.user, Object.keys(fields.user.shape)],
  'GET /api/providers': async () => [
    (await user.call('GET /api/providers')).body,
    ['providers', 'canEdit', 'modelTiers'],
  ],
  'GET /api/model-tiers': async () => [(await user.call('GET /api/model-tiers')).body, ['modelTiers']],
  'GET /api/setup': async () => [(await app.anonymous.call('GET /api/setup')).body, ['required', 'claimRequired']],
  'GET /api/health': async () => [(await app.anonymous.call('GET /api/health')).body, ['ok']],
  'GET /api/public-config': async () => [
    (await app.anonymous.call('GET /api/public-config')).body,
    ['branding', 'setup', 'sso', 'edition', 'limits'],
  ],
  'GET /api/mcp': async () => [(await user.call('GET /api/mcp')).body, ['servers', 'canEdit']],
  'GET /api/workspace/status': async () => [
    (await user.call('GET /api/workspace/status')).body,
    ['phase', 'ready', 'mode'],
  ],
  'POST /api/chat/start': async () => [
    (await user.call('POST /api/chat/start', submission(await createChat(user), 'Hi'))).body,
    ['messageId'],
  ],
  'POST /api/chat/turn-inputs': async () => [
    (await user.call('POST /api/chat/turn-inputs', submission(await createChat(user), 'Hi'))).body,
    ['input'],
  ],
  'POST /api/admin/provision': async () => {
    const administrator = await app.signIn({ role: 'admin' });
    return [(await administrator.call('POST /api/admin/provision', { version: 1 })).body, ['applied', 'warnings']];
  },
  'POST /api/chat with detach': async () => {
    const chatId = await createChat(user);
    const response = await postChat(user, { chatId, messageId: await submit(user, chatId, 'Hi'), detach: true });
    assert.equal(response.status, 202);
    return [await response.json(), ['admitted', 'assistantId']];
  },
  'an error': async () => [
    (await user.call('GET /api/chats', undefined, { query: { id: nextId('missing') } })).body.error,
    ['message', 'code', 'requestId'],
  ],
};

for (const [name, ask] of Object.entries(sent)) {
  test(`${name} sends exactly the members of the specification`, async () => {
    const [body, members] = await ask();
    assert.ok(typeof body === 'object' && body !== null);
    assert.deepEqual(Object.keys(body).sort(), [...members].sort());
  });
}
