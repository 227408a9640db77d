import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { WorkspaceRuntime } from '../../src/workspaces/runtime.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels, answer, chatDetail, submit } from '../chat/chat-harness.ts';
import { type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/**
 * Conversations with an assistant: its effect on a turn, resources that a reader lacks, and deleted assistants
 * (contract.md section 11).
 */

let app: TestApp;
let provider: FakeProvider;
let mcp: [FakeMcp, FakeMcp];
let owner: SignedIn;
let member: SignedIn;
let projectId: string;

/** Workspaces are enabled; none is ever needed here. */
const idleRuntime: WorkspaceRuntime = {
  kind: 'local',
  start: (_workspace, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  stop: async () => undefined,
  status: async () => ({ phase: 'starting', generation: undefined, detail: undefined }),
  dial: () => Promise.reject(new Error('It does not run')),
  list: async () => [],
  close: async () => undefined,
};

before(async () => {
  provider = await startFakeProvider();
  mcp = [await startFakeMcp(), await startFakeMcp()];
  app = await startTestApp({ workspaceRuntime: idleRuntime });
  [owner, member] = [await app.signIn(), await app.signIn()];
  const { body } = await owner.call('POST /api/projects', { name: 'Boats' });
  projectId = body.project.id;
  await owner.call('POST /api/projects/members', { projectId, email: member.email, role: 'member' });
});
after(async () => {
  await app.stop();
  await Promise.all(mcp.map((one) => one.close()));
  await provider.close();
});

const make = async (who: SignedIn, fields: Json): Promise<Json> => {
  const { status, body } = await who.call('POST /api/assistants', { name: 'Captain', ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.assistant;
};
const chatWith = async (who: SignedIn, fields: Json): Promise<string> => {
  const { status, body } = await who.call('POST /api/chats', fields);
  assert.equal(status, 201, JSON.stringify(body));
  return body.chat.id;
};
const change = async (who: SignedIn, route: string, body: Json): Promise<void> => {
  const { status, text } = await who.call(`PATCH ${route}`, body);
  assert.equal(status, 200, text);
};

type Asked = { message: Json; sent: Json; notices: string[]; tools: string[]; system: string };

async function ask(who: SignedIn, chatId: string, extra: object = {}): Promise<Asked> {
  const before = provider.requests.length;
  const { status, frames } = await answer(who, chatId, await submit(who, chatId, 'Hello', extra));
  assert.equal(status, 200);
  const sent: Json = provider.requests[before]?.body;
  const { messages } = await chatDetail(who, chatId);
  return {
    message: messages.at(-1),
    sent,
    notices: frames.flatMap(({ frame }) => (frame.type === 'data-notice' ? [frame.data.code, frame.data.message] : [])),
    tools: (sent.tools ?? []).map((tool: Json) => tool.function.name),
    system: sent.messages[0].content,
  };
}

async function serverOf(who: SignedIn, fake: FakeMcp, name: string, offerId?: string): Promise<string> {
  const place = offerId === undefined ? { url: fake.url } : { offerId };
  const { body } = await who.call('POST /api/mcp', { name, ...place });
  const { id, fingerprint } = body.server;
  assert.equal((await who.call('POST /api/mcp/trust', { id, fingerprint })).status, 200);
  return id;
}

test('an assistant sets instructions, model and parameters; the more specific setting wins, and the response names its version', async () => {
  const who = await app.signIn();
  const [first, second] = await addModels(who, provider, ['echo', 'words-3']);
  const parameters = { temperature: 0.25, seed: 7 };
  const fields = { instructions: 'Speak like a sailor, {{user_name}}.', modelId: second, parameters };
  const { id } = await make(who, fields);
  const chatId = await chatWith(who, { assistantId: id, parameters: { seed: 8 } });
  assert.equal((await chatDetail(who, chatId)).chat.assistantId, id);

  const one = await ask(who, chatId);
  assert.match(one.system, /# You are "Captain"\n\nSpeak like a sailor, the person\.\n\n# Now/);
  assert.deepEqual([one.sent.model, one.sent.temperature, one.sent.seed], ['words-3', 0.25, 8]);
  assert.deepEqual([one.message.assistant, one.message.modelId], [{ id, name: 'Captain', version: 1 }, second]);
  assert.deepEqual(one.notices, []);

  await change(who, '/api/assistants', { id, name: 'Admiral', instructions: 'Be brief.' });
  const two = await ask(who, chatId, { modelId: first });
  assert.match(two.system, /# You are "Admiral"\n\nBe brief\./);
  assert.deepEqual([two.sent.model, two.message.assistant], ['echo', { id, name: 'Admiral', version: 2 }]);

  await change(who, '/api/chats', { id: chatId, modelPinned: true, modelId: first });
  assert.equal((await ask(who, chatId)).sent.model, 'echo', 'a pinned model stays');
  await change(who, '/api/chats', { id: chatId, modelPinned: false });
  assert.equal((await ask(who, chatId)).sent.model, 'words-3');

  const context = await who.call('GET /api/chats/context', undefined, { query: { chatId, messageId: one.message.id } });
  assert.equal(context.body.system, one.system);
  assert.deepEqual(
    context.body.instructions.map(({ layer }: Json) => layer),
    ['installation', 'assistant', 'moment'],
  );
});

test('switching or leaving an assistant takes effect with the next turn', async () => {
  const who = await app.signIn();
  await addModels(who, provider, ['echo']);
  const [a, b] = [await make(who, { instructions: 'As A.' }), await make(who, { instructions: 'As B.' })];
  const chatId = await chatWith(who, { assistantId: a.id });
  assert.match((await ask(who, chatId)).system, /As A\./);
  await change(who, '/api/chats', { id: chatId, assistantId: b.id });
  const asB = await ask(who, chatId);
  assert.match(asB.system, /As B\./);
  assert.doesNotMatch(asB.system, /As A\./);
  await change(who, '/api/chats', { id: chatId, assistantId: null });
  const alone = await ask(who, chatId);
  assert.doesNotMatch(alone.system, /As [AB]\./);
  assert.equal(alone.message.assistant, undefined);
});

test('an assistant restricts servers and workspace, and never adds any', async () => {
  const who = await app.signIn();
  await addModels(who, provider, ['echo']);
  const [one, two] = [await serverOf(who, mcp[0], 'One'), await serverOf(who, mcp[1], 'Two')];
  const { id } = await make(who, { mcpServerIds: [one], workspace: false });
  const chatId = await chatWith(who, { assistantId: id });
  const servers = ({ tools }: Asked) => [...new Set(tools.flatMap((name) => /^mcp__(\w+?)__/.exec(name)?.[1] ?? []))];
  assert.deepEqual(servers(await ask(who, chatId)), ['One']);
  assert.deepEqual(servers(await ask(who, chatId, { mcpServerIds: [two] })), []);
  assert.deepEqual(servers(await ask(who, chatId, { mcpServerIds: [one, two] })), ['One']);
  await change(who, '/api/chats', { id: chatId, mcpServerIds: [] });
  assert.deepEqual(servers(await ask(who, chatId)), []);
  await change(who, '/api/chats', { id: chatId, mcpServerIds: null });
  await change(who, '/api/assistants', { id, mcpServerIds: null, workspace: true });
  const all = await ask(who, chatId);
  assert.deepEqual(servers(all).sort(), ['One', 'Two']);
  assert.ok(all.tools.includes('bash'));
});

test("uses a reader's own model and servers where the assistant's are missing, and notes that once per version", async () => {
  const [modelId] = await addModels(owner, provider, ['words-5', 'echo']);
  const admin = await app.signIn({ role: 'admin' });
  const { body } = await admin.call('POST /api/admin/mcp/offers', { name: 'Same', url: mcp[0].url });
  const offerId: string = body.offer.id;
  const servers = [await serverOf(owner, mcp[0], 'Ours', offerId), await serverOf(owner, mcp[1], 'Mine')];
  const shared = { audience: 'project', projectId, modelId, mcpServerIds: servers };
  const { id } = await make(owner, shared);
  await addModels(member, provider, ['echo']);
  await serverOf(member, mcp[0], 'Same', offerId);
  await serverOf(member, mcp[1], 'Guessed');
  const chatId = await chatWith(member, { assistantId: id });
  const first = await ask(member, chatId);
  assert.equal(first.sent.model, 'echo');
  assert.deepEqual(first.notices, [
    'assistant_incomplete',
    "You don't have the model of the assistant “Captain”, so your default model answers. " +
      'One MCP server of the assistant “Captain” is not among yours and left out.',
  ]);
  assert.ok(
    first.tools.length > 0 && first.tools.every((name) => name.startsWith('mcp__Same__') || !/^mcp/.test(name)),
  );
  assert.deepEqual((await ask(member, chatId)).notices, []);
  await change(owner, '/api/assistants', { id, tier: 1 });
  assert.match((await ask(member, chatId)).notices[1] ?? '', /another one of its tier answers/);

  await addModels(member, provider, ['words-5']);
  const now = await ask(member, chatId);
  assert.equal(now.sent.model, 'words-5', 'the same model of their own provider');
});

test('continues without an assistant that the reader lost, with one note', async () => {
  const { id } = await make(owner, { audience: 'project', projectId, instructions: 'For members.' });
  const guest = await app.signIn();
  await owner.call('POST /api/projects/members', { projectId, email: guest.email, role: 'member' });
  await addModels(guest, provider, ['echo']);
  const chatId = await chatWith(guest, { assistantId: id });
  const before = await ask(guest, chatId);
  await owner.call('DELETE /api/projects/members', undefined, { query: { projectId, userId: guest.id } });
  const lost = await ask(guest, chatId);
  assert.doesNotMatch(lost.system, /For members/);
  assert.deepEqual([lost.notices[0], lost.message.assistant], ['assistant_unavailable', undefined]);
  assert.deepEqual((await ask(guest, chatId)).notices, []);
  const { chat, messages } = await chatDetail(guest, chatId);
  assert.equal(chat.assistantId, null);
  assert.deepEqual(messages.find((message: Json) => message.id === before.message.id).assistant, {
    id,
    name: 'Captain',
    version: 1,
  });
  const refused = await guest.call('PATCH /api/chats', { id: chatId, assistantId: id });
  assert.deepEqual([refused.status, refused.body.error.message], [404, 'Assistant not found']);
  assert.equal((await guest.call('POST /api/chats', { assistantId: id })).status, 404);
});

test('conversations of a deleted assistant stay readable and can be continued', async () => {
  const who = await app.signIn();
  await addModels(who, provider, ['echo']);
  const { id } = await make(who, { instructions: 'Gone soon.' });
  const chatId = await chatWith(who, { assistantId: id });
  const before = await ask(who, chatId);
  assert.equal((await who.call('DELETE /api/assistants', undefined, { query: { id } })).status, 200);
  const { chat, messages } = await chatDetail(who, chatId);
  assert.equal(chat.assistantId, null);
  assert.deepEqual(messages.at(-1).assistant, { id, name: 'Captain', version: 1 });
  const after = await ask(who, chatId);
  assert.equal(after.message.status, 'complete');
  const query = { chatId, messageId: before.message.id };
  assert.equal((await who.call('GET /api/chats/context', undefined, { query })).body.system, before.system);
  const file = await who.fetch(`/api/chats/export?id=${chatId}&format=json`);
  assert.match(await file.text(), /"assistant":\{"id": ?"[^"]+", ?"name": ?"Captain"/);
});

test('both the live stream of a response and its replay name the assistant', async () => {
  const who = await app.signIn();
  await addModels(who, provider, ['echo']);
  const { id } = await make(who, {});
  const chatId = await chatWith(who, { assistantId: id });
  const messageId = await submit(who, chatId, 'Hello');
  for (const { frames } of [await answer(who, chatId, messageId), await answer(who, chatId, messageId)]) {
    const end = frames.find(({ frame }) => frame.type === 'finish')?.frame;
    assert.deepEqual(end?.type === 'finish' && end.messageMetadata?.assistant, { id, name: 'Captain', version: 1 });
  }
});

test('in the managed edition everyone uses the model that an administrator chose', async () => {
  const managed = await startTestApp({ config: { edition: 'managed' } });
  try {
    const [root, person] = [await managed.signIn({ role: 'admin' }), await managed.signIn()];
    const [, chosen] = await addModels(root, provider, ['echo', 'words-3']);
    const { id } = await make(root, { audience: 'everyone', modelId: chosen });
    const seen = (await person.call('GET /api/assistants', undefined, { query: { id } })).body.assistant;
    assert.deepEqual([seen.modelId, seen.missing.model], [chosen, false]);
    const chatId = await chatWith(person, { assistantId: id });
    const { sent, notices } = await ask(person, chatId);
    assert.deepEqual([sent.model, notices], ['words-3', []]);
    await change(root, '/api/models', { id: chosen, enabled: false });
    const without = await ask(person, chatId);
    assert.deepEqual([without.sent.model, without.notices[0]], ['echo', 'assistant_incomplete']);
  } finally {
    await managed.stop();
  }
});
