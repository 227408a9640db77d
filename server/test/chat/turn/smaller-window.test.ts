import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tool } from '../../../src/chat/tools/tool-run.ts';
import { type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { voices } from '../../fakes/provider/strict-rules.ts';
import { type StrictServer, startStrictServer } from '../../fakes/provider/strict-server.ts';
import { answer, createChat, submit } from '../chat-harness.ts';

/** A server whose context window is smaller than the model's settings say. */

/** Definitions count too, though this server counts messages only. */
const tool: Tool = {
  name: 'look',
  description: 'Looks at one of many things. '.repeat(1_300),
  inputSchema: { type: 'object', properties: {} },
  execute: async () => ({}),
};
const maxLength = 30_000;
const refusal = voices.vllm(
  "This model's maximum context length is 4096 tokens. However, your messages resulted in 8000 tokens.",
);

let app: TestApp;
let user: SignedIn;
let server: StrictServer;
before(async () => {
  const rule = ({ messages }: { messages: unknown }) =>
    JSON.stringify(messages).length > maxLength ? refusal : undefined;
  server = await startStrictServer([rule], { callId: () => 'call_0', reasoning: [] });
  app = await startTestApp({ findTools: async () => [tool] });
  user = await app.signIn();
});
after(async () => {
  await app.stop();
  await server.close();
});

test('sends less after a refusal, even if the tools take most of the window that the server names', async () => {
  const { body } = await user.call('POST /api/providers', { name: 'Small', kind: 'openai', baseUrl: server.url });
  const sizes = { contextWindow: 128_000, maxOutputTokens: 8_192, tier: 1 };
  const model = { providerId: body.provider.id, providerModelId: 'm', displayName: 'M', ...sizes };
  assert.equal((await user.call('POST /api/models', model)).status, 201);
  const chatId = await createChat(user);
  for (let count = 1; count <= 6; count++) {
    const text = `Number ${count}: ${'words and more words '.repeat(250)}`;
    const { status, text: said } = await answer(user, chatId, await submit(user, chatId, text));
    assert.equal(status, 200, `${count}: ${said}`);
  }
  assert.ok(server.count().refused >= 1);
});
