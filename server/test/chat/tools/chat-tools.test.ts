import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import type { Tool } from '../../../src/chat/tools/tool-run.ts';
import { startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { addModels, answer, chatDetail, createChat, partsOf, postChat, readStream, submit } from '../chat-harness.ts';

let app: TestApp;
let provider: FakeProvider;
let waiting: { release: () => void } | undefined;
const calls: unknown[] = [];

const lookUp: Tool = {
  name: 'look_up',
  description: 'Looks a number up',
  inputSchema: { type: 'object', properties: { number: { type: 'integer' } } },
  async execute(input, { signal }) {
    calls.push(input);
    if (input.wait === true) {
      await new Promise<void>((resolve, reject) => {
        waiting = { release: resolve };
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    }
    return { found: input.number };
  },
};

before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ findTools: async () => [lookUp] });
});
after(async () => {
  await app.stop();
  await provider.close();
});

test('tools run, their results are stored, and the next turn sends them to the provider', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['tools-2', 'echo']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'look up');
  const streamed = await answer(user, chatId, messageId);
  assert.equal(calls.length, 2);
  assert.match(streamed.text, /Done after 2 tool results/);
  const detail = await chatDetail(user, chatId);
  assert.deepEqual(detail.messages[1].parts, partsOf(streamed.frames));
  const tools = detail.messages[1].parts.filter((part: { type: string }) => part.type === 'dynamic-tool');
  assert.deepEqual(
    tools.map((part: { output: unknown }) => part.output),
    [{ found: 0 }, { found: 1 }],
  );
  assert.ok(detail.messages[1].usage.outputTokens > 0);

  const second = await submit(user, chatId, 'and again');
  await answer(user, chatId, second);
  const sent = provider.requests.findLast((request) => request.path.endsWith('/chat/completions'))?.body.messages ?? [];
  const roles = sent.map((message) => message.role);
  assert.deepEqual(roles.slice(0, 6), ['system', 'user', 'assistant', 'tool', 'tool', 'assistant']);
});

test('Stop interrupts a running tool and closes its call for the next turn', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['tool']);
  provider.script('tool', (call) =>
    call.count === 1
      ? {
          steps: [
            {
              event: {
                choices: [
                  {
                    index: 0,
                    delta: { tool_calls: [{ id: 'c1', function: { name: 'look_up', arguments: '{"wait":true}' } }] },
                    finish_reason: 'tool_calls',
                  },
                ],
              },
            },
            { event: '[DONE]' },
          ],
        }
      : {
          steps: [
            { event: { choices: [{ index: 0, delta: { content: 'fine' }, finish_reason: 'stop' }] } },
            { event: '[DONE]' },
          ],
        },
  );
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const streaming = readStream(await postChat(user, { chatId, messageId }));
  await until(async () => waiting !== undefined);
  const stored = await until(async () => {
    const [, reply] = (await chatDetail(user, chatId)).messages;
    return reply.parts.some((part: { type: string }) => part.type === 'dynamic-tool') ? reply : undefined;
  });
  assert.equal(stored.status, 'streaming');
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await streaming;
  const detail = await until(async () => {
    const found = await chatDetail(user, chatId);
    return found.response === null ? found : undefined;
  });
  assert.equal(detail.messages[1].status, 'stopped');
  assert.equal(
    detail.messages[1].parts.find((part: { type: string }) => part.type === 'dynamic-tool').state,
    'output-error',
  );
  const next = await submit(user, chatId, 'next');
  assert.equal((await answer(user, chatId, next)).text, 'fine');
  const sent = provider.requests.at(-1)?.body.messages ?? [];
  assert.deepEqual(
    sent.map((message) => message.role),
    ['system', 'user', 'assistant', 'tool', 'user'],
  );
});
