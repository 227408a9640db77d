import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type EndpointSpec, maxBodyBytes } from '@homeport/contracts/endpoint';
import { type EndpointName, endpoints } from '@homeport/contracts/endpoints';
import type { Json } from '../app.ts';
import { samples } from '../authorization/authorization-samples.ts';
import { beingBuilt } from '../authorization/authorization-samples-workspace.ts';
import { type Actor, makeWorld, type Records, type World } from '../authorization/authorization-world.ts';
import { startResponse } from '../conversations/conversation-makers.ts';

/**
 * The checks of a request run in the order of contract.md section 1, at every endpoint: the first that fails answers.
 */

const names = Object.keys(endpoints)
  .filter((name): name is EndpointName => Object.hasOwn(endpoints, name))
  .filter((name) => !beingBuilt.includes(name))
  // The gateway takes tokens only, from any origin, and has the errors of other APIs: gateway.test.ts.
  .filter((name) => endpoints[name].access !== 'token');
const unsafe = names.filter((name) => endpoints[name].method !== 'GET');
const foreignOrigin = { origin: 'https://elsewhere.example' };
/** Invalid in every way that a body can be. */
const hopeless = { 'content-type': 'text/plain' };

let world: World;
let user: Actor;
let administrator: Actor;
let workspace: Actor;
let without: Actor;
let foreign: Records;
before(async () => {
  world = await makeWorld('community');
  user = await world.makeActor('plain user');
  administrator = await world.makeActor('administrator');
  workspace = await world.makeActor('workspace');
  without = await world.makeActor('without provider rights');
  foreign = await world.makeForeignRecords();
});
after(() => world.stop());

const specOf = (name: EndpointName): EndpointSpec => endpoints[name];
const bodied = names.filter((name) => specOf(name).body !== undefined);
const pathOf = (spec: EndpointSpec): string =>
  spec.path.replace(/:\w+/g, 'missing') + (spec.access === 'admin-for-user' ? `?userId=${user.records.person}` : '');
const isAdministration = ({ access }: EndpointSpec) => access === 'admin' || access === 'admin-for-user';

type Sent = { headers?: Record<string, string>; body?: string | Uint8Array<ArrayBuffer>; method?: string };

async function send(spec: EndpointSpec, actor: Actor | undefined, sent: Sent = {}) {
  const response = await fetch(world.app.url + pathOf(spec), {
    method: sent.method ?? spec.method,
    headers: { ...actor?.credentials, ...sent.headers },
    ...(sent.body === undefined ? {} : { body: sent.body }),
  });
  const text = await response.text();
  const body: Json = text === '' ? undefined : JSON.parse(text);
  return { status: response.status, code: body?.error?.code, body, headers: response.headers };
}

/** A caller whom this endpoint admits. */
const callerOf = ({ access }: EndpointSpec) =>
  access === 'workspace' ? workspace : access.startsWith('admin') ? administrator : user;
const isPublic = (name: EndpointName) => endpoints[name].access === 'public';

for (const name of names.filter((name) => !isPublic(name))) {
  const spec = specOf(name);
  test(`${spec.method} ${spec.path}: answers 401 before everything else`, async () => {
    const body = spec.body === undefined ? {} : { body: '{' };
    const { status, code } = await send(spec, undefined, { headers: { ...foreignOrigin, ...hopeless }, ...body });
    assert.deepEqual([status, code], [401, 'unauthorized']);
  });
}

for (const name of unsafe) {
  const spec = specOf(name);
  test(`${spec.method} ${spec.path}: refuses a foreign Origin before the request is read`, async () => {
    // Callers of their own where only the origin is wrong: signing out from the own origin works.
    const kind = spec.access === 'workspace' ? 'workspace' : 'plain user';
    const requests = [samples[name].request];
    const caller = kind === 'workspace' ? workspace : user;
    const sender = spec.body === undefined ? await world.makeActor(kind, { requests }) : caller;
    const digest = await world.digest();
    for (const origin of ['https://elsewhere.example', 'null', `${world.app.url}.example`, 'http://localhost:1']) {
      const body = spec.body === undefined ? {} : { body: '{' };
      const { status, code } = await send(spec, sender, { headers: { ...hopeless, origin }, ...body });
      assert.deepEqual([status, code], [403, 'origin_not_allowed'], origin);
    }
    assert.equal(await world.digest(), digest);
    const own = await send(spec, sender, {
      headers: { origin: world.app.url, 'content-type': 'text/plain' },
      body: '{',
    });
    assert.notEqual(own.code, 'origin_not_allowed');
  });
}

for (const name of bodied) {
  const spec = specOf(name);
  test(`${spec.method} ${spec.path}: checks permission, then type, then size, then content, then existence`, async () => {
    if (spec.access === 'provider-editor') {
      assert.equal((await send(spec, without, { headers: hopeless, body: '{' })).code, 'provider_settings_disabled');
    }
    if (isAdministration(spec)) {
      assert.equal((await send(spec, user, { headers: hopeless, body: '{' })).code, 'forbidden');
    }
    const tooLarge = new Uint8Array(maxBodyBytes(spec) + 1);
    const json = { 'content-type': 'application/json' };
    const typed = await send(spec, callerOf(spec), { headers: hopeless, body: tooLarge.slice(0, 100) });
    assert.deepEqual([typed.status, typed.code], [415, 'unsupported_media_type']);
    const sized = await send(spec, callerOf(spec), { headers: json, body: tooLarge });
    assert.deepEqual([sized.status, sized.code], [413, 'payload_too_large']);
    for (const body of [
      '{',
      '[]',
      '"text"',
      'null',
      '7',
      '{"a":"\\u0000"}',
      '{"a":"\\ud800"}',
      '\ufeff{',
      '{"a":1}}',
    ]) {
      const { status, code } = await send(spec, callerOf(spec), { headers: json, body });
      assert.deepEqual([status, code], [400, 'invalid_request'], body);
    }
  });

  test(`${spec.method} ${spec.path}: answers 415 for JSON under other types`, async () => {
    const types = [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
      'application/jsonp',
    ];
    for (const type of [...types, 'application/json-patch+json', ',application/json', '']) {
      const { status, code } = await send(spec, callerOf(spec), { headers: { 'content-type': type }, body: '{}' });
      assert.deepEqual([status, code], [415, 'unsupported_media_type'], type);
    }
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', ' application/json ;x=y']) {
      const { status } = await send(spec, callerOf(spec), { headers: { 'content-type': type }, body: '{' });
      assert.equal(status, 400, type);
    }
  });
}

test('an invalid request is 400 even if the record does not exist', async () => {
  const cases: [EndpointName, unknown][] = [
    ['patchProvider', { id: foreign.provider, name: '' }],
    ['postModel', { providerId: foreign.provider, tier: 0 }],
    ['patchModel', { id: foreign.model, isDefault: false }],
    ['patchChat', { id: foreign.chat, title: '' }],
    ['postChatStart', { chatId: foreign.chat, message: { id: 'm', parts: [] } }],
    ['postTurnInput', { chatId: foreign.chat, message: { id: 'm' } }],
    ['postChatResponse', { chatId: foreign.chat }],
    ['postChatStop', { assistantId: '' }],
  ];
  for (const [name, body] of cases) {
    const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    assert.equal((await send(specOf(name), user, json)).status, 400, name);
  }
});

test('404 precedes 409, so that another user’s state is not revealed', async () => {
  const { database } = world.app.database;
  await startResponse(database, { id: foreign.chat, ownerId: 'x' });
  await database.pool.query('update chats set archived = true where id = $1', [foreign.chat]);
  await database.pool.query(`update inputs set state = 'applied' where id = $1`, [foreign.input]);
  const parts = [{ type: 'text', text: 'Hello' }];
  const cases: [EndpointName, unknown, Record<string, string>?][] = [
    ['patchChat', { id: foreign.chat, archived: true }],
    ['patchChat', { id: foreign.chat, freshContext: true }],
    ['patchChat', { id: foreign.chat, activeMessageId: foreign.message }],
    ['postChat', { id: foreign.chat, projectId: 'missing' }],
    ['postChatStart', { chatId: foreign.chat, message: { id: foreign.message, parts } }],
    ['postTurnInput', { chatId: foreign.chat, message: { id: foreign.input, parts } }],
    ['postChatResponse', { chatId: foreign.chat, messageId: foreign.message, regenerate: true }],
    ['postChatResponse', { chatId: foreign.chat, resume: true }],
    ['postChatResponse', { chatId: foreign.chat, messageId: foreign.input }],
    ['deleteTurnInput', undefined, { chatId: foreign.chat, id: foreign.input }],
    ['patchTurnInput', { chatId: foreign.chat, id: foreign.input, steer: true }],
    ['patchTurnInput', { chatId: user.records.chat, id: foreign.input, steer: true }],
    ['deleteTurnInput', undefined, { chatId: user.records.chat, id: foreign.input }],
  ];
  for (const [name, body, query] of cases) {
    const spec = specOf(name);
    const response = await fetch(`${world.app.url}${spec.path}?${new URLSearchParams(query)}`, {
      method: spec.method,
      headers: { ...user.credentials, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: Json = await response.json();
    assert.deepEqual([response.status, answer.error?.code], [404, 'not_found'], `${name} ${JSON.stringify(body)}`);
  }
});

test('any known path with another method is 405 with its methods, for every caller', async () => {
  for (const path of new Set(names.map((name) => endpoints[name].path))) {
    const taken: string[] = names.filter((name) => endpoints[name].path === path).map((name) => endpoints[name].method);
    const allow = [...taken, ...(taken.includes('GET') ? ['HEAD'] : [])].sort().join(', ');
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      if (taken.includes(method) || (method === 'HEAD' && taken.includes('GET'))) continue;
      for (const actor of [undefined, user]) {
        const spec = specOf(names.find((name) => endpoints[name].path === path) ?? 'getMe');
        const answer = await send(spec, actor, { method });
        assert.deepEqual([answer.status, answer.headers.get('allow')], [405, allow], `${method} ${path}`);
        if (method !== 'HEAD') assert.equal(answer.code, 'method_not_allowed');
      }
    }
  }
});

test('HEAD requires the same permission as GET and carries no body', async () => {
  for (const name of names.filter((name) => endpoints[name].method === 'GET' && !isPublic(name))) {
    const { status, body } = await send(specOf(name), undefined, { method: 'HEAD' });
    assert.deepEqual([status, body], [401, undefined], name);
  }
});

test('every sample of the matrix is a valid request', () => {
  for (const name of names) {
    const spec = specOf(name);
    const request = samples[name].request(user);
    for (const part of ['params', 'query', 'body'] as const) {
      const result = spec[part]?.safeParse(request[part] ?? {});
      assert.ok(result?.success !== false, `${name} ${part}: ${result?.error}`);
    }
  }
});
