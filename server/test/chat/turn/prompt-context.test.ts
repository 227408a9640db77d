import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { addModels, answer, chatDetail, createChat, submit } from '../chat-harness.ts';

/** The prompt context of models: its sources, its readers, and the copy kept with each response. */

let app: TestApp;
let provider: FakeProvider;
let admin: SignedIn;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin' });
});
after(async () => {
  await app.stop();
  await provider.close();
});

/** Asks in a conversation; resolves with the response's id and the provider's request. */
async function ask(user: SignedIn, chatId: string, extra: object = {}): Promise<{ id: string; sent: Json }> {
  const before = provider.requests.length;
  const messageId = await submit(user, chatId, 'Hello', extra);
  assert.equal((await answer(user, chatId, messageId)).status, 200);
  const { messages } = await chatDetail(user, chatId);
  return { id: messages.at(-1).id, sent: provider.requests[before]?.body };
}
const context = async (user: SignedIn, chatId: string, messageId: string): Promise<Json> =>
  (await user.call('GET /api/chats/context', undefined, { query: { chatId, messageId } })).body;
const change = async (user: SignedIn, route: string, body: object): Promise<Json> => {
  const changed = await user.call(route, body);
  assert.equal(changed.status, 200, changed.text);
  return changed.body;
};

test('every layer reaches the model as a system message, and a change applies from the next turn', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['echo']);
  const project = (await user.call('POST /api/projects', { name: 'Moon' })).body.project.id;
  const chatId = (await user.call('POST /api/chats', { projectId: project, instructions: 'Rhyme.' })).body.chat.id;
  const first = await ask(user, chatId);
  assert.match(first.sent.messages[0].content, /^You are a helpful assistant/);
  assert.deepEqual(
    first.sent.messages.map(({ role }: Json) => role),
    ['system', 'user'],
  );

  await change(admin, 'POST /api/admin/config', { instructions: 'House rules.' });
  await change(user, 'PATCH /api/projects', { id: project, instructions: 'Metric units.' });
  await change(user, 'PATCH /api/me/personalization', {
    instructions: 'I am {{user_name}}.',
    aboutMe: { name: true, timeZone: 'Asia/Tokyo' },
  });
  const { sent } = await ask(user, chatId);
  const { name } = (await user.call('GET /api/me')).body.user;
  assert.ok(
    sent.messages[0].content.startsWith(
      `House rules.\n\n# The project "Moon"\n\nMetric units.\n\n# From the person you are talking to\n\nI am ${name}.\n\n` +
        '# For this conversation\n\nRhyme.\n\n# Now\n\n- You have no tools.\n',
    ),
    sent.messages[0].content,
  );
  await change(admin, 'POST /api/admin/config', { instructions: null });
});

test('shows the prompt context of a response as it was sent, even after all of it has changed', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['echo']);
  const chatId = await createChat(user);
  await change(user, 'PATCH /api/me/personalization', { instructions: 'First words.' });
  await change(user, 'PATCH /api/chats', { id: chatId, instructions: 'Only here.', parameters: { temperature: 0.3 } });
  const answers: { id: string; sent: Json }[] = [];
  for (const instructions of ['Second words.', 'Third words.', null]) {
    answers.push(await ask(user, chatId));
    await change(user, 'PATCH /api/me/personalization', { instructions });
  }
  await change(user, 'PATCH /api/chats', { id: chatId, instructions: null, parameters: null });
  const { messages } = await chatDetail(user, chatId);
  for (const [index, { id, sent }] of answers.entries()) {
    const shown = await context(user, chatId, id);
    assert.equal(shown.system, sent.messages[0].content);
    assert.equal(shown.instructions.map(({ text }: Json) => text).join('\n\n'), shown.system);
    assert.deepEqual(shown.parameters, { temperature: 0.3 });
    assert.equal(sent.temperature, 0.3);
    assert.deepEqual(
      shown.messages.map((message: Json) => [message.id, message.state]),
      messages.slice(0, index * 2 + 1).map((message: Json) => [message.id, 'sent']),
    );
    assert.deepEqual(shown.model, { providerName: 'Fake', providerModelId: 'echo' });
    assert.equal(shown.summary, null);
  }
  const { rows } = await app.database.database.pool.query(
    `select count(*)::int as n from told_texts where owner_id = $1 and text like '%Only here.%'`,
    [user.id],
  );
  assert.deepEqual(rows, [{ n: 1 }], 'a text is kept once, however often it is told');
});

test('parameters: the turn’s precede the conversation’s and the model’s, and only those that are set are sent', async () => {
  const user = await app.signIn();
  const [modelId] = await addModels(user, provider, ['echo']);
  const chatId = await createChat(user);
  const bare = await ask(user, chatId);
  for (const name of ['temperature', 'top_p', 'reasoning_effort', 'verbosity', 'stop', 'seed']) {
    assert.equal(Object.hasOwn(bare.sent, name), false, name);
  }
  await change(user, 'PATCH /api/models', { id: modelId, parameters: { temperature: 1, seed: 7, stop: ['END'] } });
  await change(user, 'PATCH /api/chats', { id: chatId, parameters: { temperature: 0.5, verbosity: 'low' } });
  const { sent, id } = await ask(user, chatId, { parameters: { reasoningEffort: 'high', maxOutputTokens: 50 } });
  const { temperature, seed, stop, verbosity, reasoning_effort, max_tokens } = sent;
  assert.deepEqual(
    { temperature, seed, stop, verbosity, reasoning_effort, max_tokens },
    { temperature: 0.5, seed: 7, stop: ['END'], verbosity: 'low', reasoning_effort: 'high', max_tokens: 50 },
  );
  assert.equal((await context(user, chatId, id)).tokens.answerRoom, 50);
  const bad = await user.call('PATCH /api/chats', { id: chatId, parameters: { temperature: 3, stop: ['', 'a'] } });
  assert.equal(bad.body.error.code, 'invalid_request');
  assert.deepEqual(
    bad.body.error.details.map(({ path }: Json) => path),
    ['parameters.temperature', 'parameters.stop.0'],
  );
});

test('a retry with other parameters of the turn is a conflict', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['echo']);
  const chatId = await createChat(user);
  const message = { id: `p-${chatId}`, parts: [{ type: 'text', text: 'Once' }] };
  const send = (parameters?: object) => user.call('POST /api/chat/start', { chatId, message, parameters });
  assert.equal((await send({ temperature: 0.1 })).status, 201);
  assert.equal((await send({ temperature: 0.1 })).status, 201);
  assert.equal((await send({ temperature: 0.2 })).body.error.code, 'input_conflict');
  assert.equal((await send()).body.error.code, 'input_conflict');
});

test("owners read their instructions, members a project’s, and administrators no other user's", async () => {
  const [user, member] = await Promise.all([app.signIn(), app.signIn()]);
  await change(user, 'PATCH /api/me/personalization', { instructions: 'canary-person' });
  const project = (await user.call('POST /api/projects', { name: 'Shared' })).body.project.id;
  await user.call('POST /api/projects/members', { projectId: project, email: member.email, role: 'member' });
  await change(user, 'PATCH /api/projects', { id: project, instructions: 'canary-project' });
  const chatId = (await user.call('POST /api/chats', { instructions: 'canary-chat' })).body.chat.id;
  assert.equal((await member.call('GET /api/projects')).body.projects[0].instructions, 'canary-project');
  const foreign = await member.call('PATCH /api/projects', { id: project, instructions: 'mine' });
  assert.equal(foreign.body.error.code, 'forbidden');
  const byAdmin = await admin.call('PATCH /api/projects', { id: project, instructions: 'mine' });
  assert.equal(byAdmin.body.error.code, 'forbidden');
  const seen = await Promise.all([
    admin.call('GET /api/projects', undefined, { query: { all: '1' } }),
    admin.call('GET /api/admin/users'),
    admin.call('GET /api/admin/audit'),
    admin.call('GET /api/chats', undefined, { query: { id: chatId } }),
    member.call('GET /api/chats', undefined, { query: { id: chatId } }),
  ]);
  assert.doesNotMatch(seen.map(({ text }) => text).join('\n'), /canary/);
  const changes = (seen[2]?.body.events ?? []).filter(({ actorId }: Json) => actorId === user.id);
  assert.deepEqual(changes.filter(({ details }: Json) => details.changed?.[0] === 'instructions').length, 2);
});

test('rejects texts that are too long or of the wrong type by name, and accepts the longest', async () => {
  const user = await app.signIn();
  const chatId = await createChat(user);
  const long = 'x'.repeat(16_001);
  const routes: [SignedIn, string, object][] = [
    [user, 'PATCH /api/me/personalization', {}],
    [user, 'PATCH /api/chats', { id: chatId }],
    [admin, 'POST /api/admin/config', {}],
  ];
  for (const [who, route, body] of routes) {
    const refused = await who.call(route, { ...body, instructions: long });
    assert.deepEqual([refused.status, refused.body.error.details[0].path], [400, 'instructions'], route);
    await change(who, route, { ...body, instructions: long.slice(1) });
    await change(who, route, { ...body, instructions: null });
  }
  const zone = await user.call('PATCH /api/me/personalization', { aboutMe: { timeZone: 'Middle/Earth' } });
  assert.equal(zone.body.error.details[0].path, 'aboutMe.timeZone');
  assert.equal((await user.call('PATCH /api/me/personalization', {})).status, 400);
});

test("a temporary conversation is answered, but has no place in lists and search, and no model's title", async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['echo']);
  const { id: chatId, temporary } = (await user.call('POST /api/chats', { temporary: true })).body.chat;
  assert.equal(temporary, true);
  await ask(user, chatId);
  const list = async (query: Record<string, string>) =>
    (await user.call('GET /api/chats', undefined, { query })).body.chats.length;
  assert.deepEqual([await list({}), await list({ q: 'Hello' }), await list({ archived: '1' })], [0, 0, 0]);
  assert.equal((await chatDetail(user, chatId)).messages.length, 2);
  await change(user, 'PATCH /api/chats', { id: chatId, temporary: false });
  assert.deepEqual([await list({}), await list({ q: 'Hello' })], [1, 1]);
});
