import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { type Json, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { failure, finish, say, stream } from '../../fakes/provider/provider-scripts.ts';
import { callsOf, sumsDiffer } from '../../usage/usage-makers.ts';
import { addModels } from '../chat-harness.ts';
import { ask, type Front, fronts, results } from './front-clients.ts';
import { type GatewayUser, gatewayUser } from './gateway-user.ts';

/** Each front protocol over each protocol of providers. */

const kinds: ProviderKind[] = ['openai', 'openai-responses', 'anthropic', 'gemini'];
const models = ['echo', 'reason', 'tools-2', 'short', 'filtered', 'drop-20', 'busy', 'signed-2', 'json'];

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  provider.script('short', (call) => stream([...say('Only the beginning'), ...finish(call, 3, 'length')]));
  provider.script('filtered', (call) => stream([...say('I can’t'), ...finish(call, 2, 'content_filter')]));
  provider.script('busy', () => failure(529, 'Overloaded', { 'retry-after': '120' }));
  provider.script('json', (call) => stream([...say('{"a":1}'), ...finish(call, 2)]));
});
after(async () => {
  assert.deepEqual(await sumsDiffer(app), []);
  await app.stop();
  await provider.close();
});

for (const kind of kinds) {
  describe(`models of ${kind}`, () => {
    let user: GatewayUser;
    before(async () => {
      user = await gatewayUser(app);
      await addModels(user.signedIn, provider, models, kind);
    });
    for (const front of fronts) pairTests(kind, front, () => user);
  });
}

function pairTests(kind: ProviderKind, front: Front, user: () => GatewayUser): void {
  const asking = (model: string, more: Json = {}) => ask(user().send, front, { model, ...more });

  for (const streamed of [false, true]) {
    const way = streamed ? 'as a stream' : 'whole';
    test(`${front}, ${way}: passes on text, reasoning and usage`, async () => {
      const echo = await asking('echo', { text: 'One two three', stream: streamed });
      assert.deepEqual([echo.status, echo.text, echo.finish], [200, 'One two three', 'stop'], echo.raw);
      const [counted] = (await callsOf(app, user().id)).slice(-1);
      assert.ok(counted);
      assert.deepEqual(
        [echo.usage?.input, echo.usage?.output],
        [Number(counted.input_tokens), Number(counted.output_tokens)],
      );
      const reasoned = await asking('reason', { stream: streamed });
      assert.equal(reasoned.text, 'Then I answer.', reasoned.raw);
      assert.match(reasoned.reasoning, /First I think about it\./);
    });

    test(`${front}, ${way}: passes on parallel calls, and takes their results`, async () => {
      const asked = await asking('tools-2', { tool: 'look_up', stream: streamed });
      assert.equal(asked.finish, 'calls', asked.raw);
      assert.deepEqual(
        asked.calls.map(({ name, input }) => [name, input]),
        [
          ['look_up', { number: 0 }],
          ['look_up', { number: 1 }],
        ],
      );
      const history = [...asked.turn, ...results[front](asked.calls)];
      const answered = await asking('tools-2', { tool: 'look_up', stream: streamed, history });
      assert.equal(answered.text, 'Done after 2 tool results.', answered.raw);
    });

    test(`${front}, ${way}: tells that an answer was cut or refused`, async () => {
      assert.equal((await asking('short', { stream: streamed })).finish, 'length');
      assert.equal((await asking('filtered', { stream: streamed })).finish, 'refused');
    });

    test(`${front}, ${way}: ends a broken answer with an error, and tells an overload`, async () => {
      const broken = await asking('drop-20', { stream: streamed });
      assert.equal(broken.status, streamed ? 200 : 502, broken.raw);
      assert.ok(broken.error?.message, broken.raw);
      assert.doesNotMatch(broken.raw, /\[DONE\]|response\.completed|message_stop/);
      const busy = await asking('busy', { stream: streamed });
      assert.equal(busy.status, front === 'messages' ? 529 : 503, busy.raw);
      if (front === 'messages') assert.equal(busy.error.type, 'overloaded_error');
      else assert.equal(busy.error.code, 'overloaded');
    });
  }

  test(`${front}: asks for a forced tool and for JSON in the provider's words`, async () => {
    const forced: Record<Front, Json> = {
      chat: { tool_choice: { type: 'function', function: { name: 'look_up' } }, parallel_tool_calls: false },
      responses: { tool_choice: { type: 'function', name: 'look_up' }, parallel_tool_calls: false },
      messages: { tool_choice: { type: 'tool', name: 'look_up', disable_parallel_tool_use: true } },
    };
    const called = await asking('tools-2', { tool: 'look_up', extra: forced[front] });
    assert.equal(called.status, 200, called.raw);
    const raw: Json = provider.requests.at(-1)?.raw;
    const choice = raw.tool_choice ?? raw.toolConfig.functionCallingConfig;
    assert.match(JSON.stringify(choice), /look_up/);
    if (kind === 'anthropic') assert.equal(choice.disable_parallel_tool_use, true);
    else if (kind === 'gemini') assert.equal(called.calls.length, 1, 'Gemini cannot be asked for one call');
    else assert.equal(raw.parallel_tool_calls, false);

    const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
    const formats: Record<Front, Json> = {
      chat: { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } },
      responses: { text: { format: { type: 'json_schema', name: 'answer', schema } } },
      messages: { output_config: { format: { type: 'json_schema', schema } } },
    };
    const json = await asking('json', { extra: formats[front] });
    assert.equal(json.text, '{"a":1}', json.raw);
    const sent: Json = provider.requests.at(-1)?.raw;
    const format =
      sent.response_format?.json_schema ?? sent.text?.format ?? sent.output_config?.format ?? sent.generationConfig;
    assert.deepEqual((format.schema ?? format.responseSchema).required, ['a']);
  });

  test(`${front}: gives the model its thinking back in the next step`, async () => {
    if (front === 'chat') return;
    const before = provider.seals.kept;
    for (const streamed of [false, true]) {
      const first = await asking('signed-2', { tool: 'mcp__it__look', stream: streamed });
      assert.equal(first.finish, 'calls', first.raw);
      const history = [...first.turn, ...results[front](first.calls)];
      const second = await asking('signed-2', { tool: 'mcp__it__look', stream: streamed, history });
      assert.equal(second.status, 200, second.raw);
    }
    assert.deepEqual(provider.seals.faults, []);
    if (kind !== 'openai') assert.ok(provider.seals.kept > before);
  });
}
