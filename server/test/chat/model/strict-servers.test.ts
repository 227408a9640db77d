import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tool } from '../../../src/chat/tools/tool-run.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import type { Rule } from '../../fakes/provider/strict-rules.ts';
import { type StrictServer, type StrictStyle, startStrictServer } from '../../fakes/provider/strict-server.ts';
import { strictKinds } from '../../fakes/provider/strict-servers.ts';
import { answer, chatDetail, createChat, nextId } from '../chat-harness.ts';

/** Every rule set of a real server in every situation: no conversation is ever lost to a refusal. */

const tool = (name: string, inputSchema: Record<string, unknown>): Tool => ({
  name,
  description: 'A tool',
  inputSchema,
  execute: async (input) => ({ found: input.number ?? 0 }),
});
const unusable = tool('mcp__shop__list', { type: 'array', items: { type: 'string' } });
/** Definitions as MCP servers publish them. */
const tools: Tool[] = [
  tool('look', { type: 'object', properties: { number: { type: 'integer' } } }),
  tool('mcp__shop__regions', { type: 'object' }),
  tool('mcp__shop__attach', {
    type: 'object',
    anyOf: [
      { properties: { content: { type: 'string' } }, required: ['content'] },
      { properties: { url: { type: 'string' } }, required: ['url'] },
    ],
  }),
  tool('mcp__shop__rows', {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { rows: { type: 'array' }, n: { type: ['integer', 'null'] }, p: { $ref: '#/$defs/P' }, any: {} },
    required: null,
    $defs: { P: { type: 'object', properties: { x: { const: 3 }, next: { $ref: '#/$defs/P' } } } },
  }),
  unusable,
];
const picture = {
  type: 'file',
  mediaType: 'image/png',
  filename: 'a.png',
  url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
};

let app: TestApp;
const servers: StrictServer[] = [];

before(async () => {
  app = await startTestApp({ findTools: async () => tools });
});
after(async () => {
  await app.stop();
  await Promise.all(servers.map((server) => server.close()));
});

type Asked = { server: StrictServer; modelId: string };

async function connect(user: SignedIn, rules: readonly Rule[], style: StrictStyle, modelId: string): Promise<Asked> {
  const server = await startStrictServer(rules, style);
  servers.push(server);
  const { body } = await user.call('POST /api/providers', { name: 'Strict', kind: 'openai', baseUrl: server.url });
  const model = {
    providerModelId: modelId,
    displayName: modelId,
    contextWindow: 100_000,
    maxOutputTokens: 4_000,
    tier: 1,
  };
  const made = await user.call('POST /api/models', { providerId: body.provider.id, ...model });
  return { server, modelId: made.body.model.id };
}

/** Asks, and returns the text of the answer. */
async function say(
  user: SignedIn,
  chatId: string,
  { modelId }: Asked,
  text: string,
  files: object[] = [],
): Promise<string> {
  const parts = [{ type: 'text', text }, ...files];
  const message = { id: nextId('m'), role: 'user', parts };
  const started = await user.call('POST /api/chat/start', { chatId, message, modelPinned: true, modelId });
  assert.equal(started.status, 201, started.text);
  return (await answer(user, chatId, started.body.messageId)).text;
}

/** Asks a server, which must answer after three refusals at most for each of its two steps. */
async function expectAnswer(
  user: SignedIn,
  chatId: string,
  asked: Asked,
  text: string,
  files: object[] = [],
): Promise<void> {
  asked.server.count();
  const said = await say(user, chatId, asked, text, files);
  const { refused } = asked.server.count();
  const last = asked.server.requests.findLast(({ refusal }) => refusal !== undefined)?.refusal;
  assert.match(said, /^Seen \d\.$/, `${text}: ${JSON.stringify(last?.body)}`);
  assert.ok(refused <= 3, `${text}: ${refused} refusals, at last ${JSON.stringify(last?.body)}`);
}

const loose: StrictStyle = {
  callId: (turn) => (turn < 3 ? 'call_0' : `toolu_${'x'.repeat(60)}`),
  reasoning: [{ reasoning_content: 'Elsewhere.' }],
};

for (const { name, modelId, rules, style, hasNoTools = false } of strictKinds) {
  test(`${name}: answers with text, tools, thinking and pictures, and again afterwards`, async () => {
    const user = await app.signIn();
    const asked = await connect(user, rules, style, modelId);
    const chatId = await createChat(user);
    await expectAnswer(user, chatId, asked, 'Hello');
    await expectAnswer(user, chatId, asked, 'look');
    await expectAnswer(user, chatId, asked, 'think and look');
    await expectAnswer(user, chatId, asked, 'think and look again');
    await expectAnswer(user, chatId, asked, 'look at this', [picture]);
    await expectAnswer(user, chatId, asked, 'Thanks');
    const seen = asked.server.requests.some(({ body }) => body.messages.some(({ role }) => role === 'tool'));
    assert.equal(seen, !hasNoTools);
    const sent = asked.server.requests.at(-1)?.body.tools?.map((each) => each.function.name);
    const usable = tools.filter((each) => each !== unusable).map((each) => each.name);
    assert.deepEqual(sent, hasNoTools ? undefined : usable);
    const { messages } = await chatDetail(user, chatId);
    const parts: Json[] = messages.flatMap((message: Json) => message.parts);
    const naming = parts.filter((part) => JSON.stringify(part).includes(unusable.name));
    assert.deepEqual(
      naming.map(({ type, data }) => [type, data?.code]),
      [['data-notice', 'tools_left_out']],
      'the unusable tool is named once',
    );
  });

  test(`${name}: continues a conversation that another model began`, async () => {
    const user = await app.signIn();
    const first = await connect(user, [], loose, 'other-model');
    const asked = await connect(user, rules, style, modelId);
    const chatId = await createChat(user);
    for (const text of ['think and look', 'look', 'think and look']) await expectAnswer(user, chatId, first, text);
    await expectAnswer(user, chatId, asked, 'Hello');
    await expectAnswer(user, chatId, asked, 'think and look');
    await expectAnswer(user, chatId, first, 'look');
    await expectAnswer(user, chatId, asked, 'Thanks');
  });

  test(`${name}: continues after answers that failed`, async () => {
    const user = await app.signIn();
    const asked = await connect(user, rules, style, modelId);
    const chatId = await createChat(user);
    assert.equal(await say(user, chatId, asked, 'fail'), '');
    await expectAnswer(user, chatId, asked, 'Hello');
    assert.equal(await say(user, chatId, asked, 'look and fail'), '');
    await expectAnswer(user, chatId, asked, 'Hello again');
    await expectAnswer(user, chatId, asked, 'look');
  });
}
