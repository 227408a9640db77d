import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { addModels } from '../chat-harness.ts';
import { gatewayUser } from './gateway-user.ts';

/** Unmodified clients from npm against the gateway. */

let app: TestApp;
let provider: FakeProvider;
let openai: OpenAI;
let anthropic: Anthropic;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['echo', 'reason', 'tools-2'], 'anthropic');
  openai = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: user.token, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: app.url, apiKey: user.token, maxRetries: 0 });
});
after(async () => {
  await app.stop();
  await provider.close();
});

const parameters = { type: 'object' as const, properties: { number: { type: 'integer' } } };
const messages = [{ role: 'user' as const, content: 'Hello' }];

test("OpenAI's client completes chats, streams them and calls tools", async () => {
  const listed = await openai.models.list();
  assert.deepEqual(
    listed.data.map(({ id }) => id),
    ['echo', 'reason', 'tools-2'],
  );
  const whole = await openai.chat.completions.create({ model: 'echo', messages });
  assert.equal(whole.choices[0]?.message.content, 'Hello');
  const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters } }];
  const runner = openai.chat.completions.stream({ model: 'tools-2', messages, tools });
  const streamed = await runner.finalChatCompletion();
  assert.equal(streamed.choices[0]?.message.tool_calls?.length, 2);
  await assert.rejects(openai.chat.completions.create({ model: 'none', messages }), OpenAI.NotFoundError);
});

test("OpenAI's client reads responses, whole and as events", async () => {
  const whole = await openai.responses.create({ model: 'reason', input: 'Hello' });
  assert.equal(whole.output_text, 'Then I answer.');
  assert.equal(whole.output[0]?.type, 'reasoning');
  const tools = [{ type: 'function' as const, name: 'look_up', parameters, strict: false }];
  const streamed = await openai.responses.stream({ model: 'tools-2', input: 'Hello', tools }).finalResponse();
  assert.deepEqual(
    streamed.output.map((item) => item.type === 'function_call' && JSON.parse(item.arguments)),
    [{ number: 0 }, { number: 1 }],
  );
});

test("Anthropic's client creates messages, streams them, calls tools and counts tokens", async () => {
  const whole = await anthropic.messages.create({ model: 'echo', max_tokens: 100, messages });
  assert.deepEqual(whole.content, [{ type: 'text', text: 'Hello' }]);
  const tools = [{ name: 'look_up', input_schema: parameters }];
  const streamed = await anthropic.messages
    .stream({ model: 'tools-2', max_tokens: 100, messages, tools })
    .finalMessage();
  assert.deepEqual([streamed.stop_reason, streamed.content.length], ['tool_use', 2]);
  const { input_tokens: tokens } = await anthropic.messages.countTokens({ model: 'echo', messages });
  assert.ok(tokens > 0);
  const models = await anthropic.models.list();
  assert.equal(models.data[0]?.type, 'model');
  const wrong = new Anthropic({ baseURL: app.url, apiKey: 'hp_wrong', maxRetries: 0 });
  await assert.rejects(
    wrong.messages.create({ model: 'echo', max_tokens: 1, messages }),
    Anthropic.AuthenticationError,
  );
});
