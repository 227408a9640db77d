import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { seededRandom } from '../../../../contracts/test/seeded-random.ts';
import { until } from '../../../../contracts/test/until.ts';
import { interruptExpired } from '../../../src/chat/ledger/interruption.ts';
import type { Tool } from '../../../src/chat/tools/tool-run.ts';
import { type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { callTool, failure, finish, say, stream, think } from '../../fakes/provider/provider-scripts.ts';
import {
  addModels,
  answer,
  chatDetail,
  createChat,
  idle,
  partsOf,
  passLease,
  postChat,
  readStream,
  submit,
} from '../chat-harness.ts';

let app: TestApp;
let provider: FakeProvider;
/** Called by the tool, which awaits the returned promise. */
let onCall: ((signal: AbortSignal) => Promise<void>) | undefined;

const look: Tool = {
  name: 'look',
  description: 'Looks a number up',
  inputSchema: { type: 'object', properties: { number: { type: 'integer' } } },
  async execute(input, { signal }) {
    await onCall?.(signal);
    return { found: input.number };
  },
};

before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ timings: { tickMs: 10, sweepMs: 600_000 }, findTools: async () => [look] });
});
after(async () => {
  await app.stop();
  await provider.close();
});

type Part = { type: string; text?: string; output?: unknown };

for (const kind of providerKinds) {
  test(`${kind}: a response is streamed, stored and counted, with its reasoning separate`, async () => {
    const user = await app.signIn();
    await addModels(user, provider, ['reason'], kind);
    const chatId = await createChat(user);
    const streamed = await answer(user, chatId, await submit(user, chatId, 'go'));
    assert.equal(provider.requests.at(-1)?.kind, kind);
    const [, message] = (await chatDetail(user, chatId)).messages;
    assert.deepEqual(message.parts, partsOf(streamed.frames));
    assert.deepEqual(
      message.parts.flatMap((part: Part) => (part.text === undefined ? [] : [[part.type, part.text]])),
      [
        ['reasoning', 'First I think about it.'],
        ['text', 'Then I answer.'],
      ],
    );
    assert.ok(message.usage.outputTokens > 0 && message.usage.inputTokens > 0);
  });

  test(`${kind}: tools run in parallel, and the next turn includes them`, async () => {
    const user = await app.signIn();
    await addModels(user, provider, ['tools-2'], kind);
    const chatId = await createChat(user);
    const streamed = await answer(user, chatId, await submit(user, chatId, 'look'));
    assert.match(streamed.text, /Done after 2 tool results/);
    const [, message] = (await chatDetail(user, chatId)).messages;
    const tools = message.parts.filter((part: Part) => part.type === 'dynamic-tool');
    assert.deepEqual(
      tools.map((part: Part) => part.output),
      [{ found: 0 }, { found: 1 }],
    );
    await answer(user, chatId, await submit(user, chatId, 'again'));
    const roles = provider.requests.at(-1)?.body.messages?.map((sentMessage) => sentMessage.role) ?? [];
    const calls = roles.filter((role) => role === 'tool').length;
    assert.ok(calls >= 2 && roles.includes('assistant'), roles.join());
  });

  test(`${kind}: Stop reaches the provider and keeps the text`, async () => {
    const user = await app.signIn();
    const model = `words-600${providerKinds.indexOf(kind)}@100`;
    await addModels(user, provider, [model], kind);
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'go');
    await readStream(await postChat(user, { chatId, messageId }), ({ id }) => id > 40);
    await user.call(`POST /api/chat/${chatId}/stop`, {});
    await idle(app);
    const request = provider.requests.find((candidate) => candidate.body.model === model);
    assert.equal(await request?.closed, 'aborted');
    const [, message] = (await chatDetail(user, chatId)).messages;
    assert.equal(message.status, 'stopped');
    assert.match(message.parts.at(-1).text, /^ word0 word1/);
  });

  test(`${kind}: a refusal before the first word is retried, and a break after it keeps the text`, async () => {
    const user = await app.signIn();
    await addModels(user, provider, ['drop-20', 'stream-error'], kind);
    const chatId = await createChat(user);
    provider.enqueue('drop-20', failure(529, 'overloaded', { 'retry-after': '0' }), (call) =>
      stream([...say('Recovered.'), ...finish(call, 1)]),
    );
    assert.equal((await answer(user, chatId, await submit(user, chatId, 'go'))).text, 'Recovered.');
    await answer(user, chatId, await submit(user, chatId, 'go'));
    const dropped = (await chatDetail(user, chatId)).messages.at(-1);
    assert.deepEqual([dropped.status, dropped.parts.at(-1).text.split(' ').length], ['failed', 21]);
    provider.enqueue('drop-20', stream([...say('Half of an'), { event: { error: { message: 'secret', code: 500 } } }]));
    await answer(user, chatId, await submit(user, chatId, 'go'));
    const broken = (await chatDetail(user, chatId)).messages.at(-1);
    assert.deepEqual([broken.status, broken.parts.at(-1).text], ['failed', 'Half of an']);
    assert.equal(broken.error.details.providerMessage, 'secret', 'the words of the provider stand apart');
    delete broken.error.details.providerMessage;
    assert.ok(!/secret|sk-/.test(JSON.stringify(broken)));
  });
}

/** The replica of the running response is gone: it writes nothing more, and its lease expires. */
async function crash(user: SignedIn, chatId: string): Promise<void> {
  const { deps } = app.service;
  const { response } = await chatDetail(user, chatId);
  const run = deps.responses.find(response.assistantId);
  run?.lose();
  await run?.done;
  // A heartbeat sent before the loss can renew its lease once more.
  await until('it is interrupted', async () => {
    await passLease(app, chatId);
    await interruptExpired(deps, { chatId });
    return (await chatDetail(user, chatId)).response === null;
  });
}

for (const kind of ['anthropic', 'openai-responses', 'gemini'] as const) {
  test(`${kind}: signed reasoning goes back byte for byte over many tools and crashes, and to no other provider`, async () => {
    const seed = 20_261_122;
    const random = seededRandom(seed);
    const steps = 24;
    const model = `signed-${kind}`;
    provider.script(model, (call) => {
      const messages = call.body.messages ?? [];
      const asked = messages.findLastIndex((message) => message.role === 'user');
      const results = messages.slice(asked).filter((message) => message.role === 'tool').length;
      if (results >= steps) return stream([...say('Done.'), ...finish(call, 1)]);
      const calls = Array.from({ length: 1 + (results % 2) }, (_, at) =>
        callTool(at, `call_${kind}_${call.count}_${at}`, 'look', '{"number":1}'),
      );
      return stream([...think(`Thought ${call.count}: ü🙂 "x".`), ...calls.flat(), ...finish(call, 1, 'tool_calls')]);
    });
    const user = await app.signIn();
    await addModels(user, provider, [model], kind);
    const chatId = await createChat(user);
    provider.seals.kept = 0;
    let crashes = 0;
    let isCrashing = false;
    onCall = async (signal) => {
      if (isCrashing || crashes >= 5 || random() > 0.3) return;
      isCrashing = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    };
    let seen = '';
    const messageId = await submit(user, chatId, 'go');
    for (let body: object = { chatId, messageId }; ; body = { chatId, resume: true }) {
      const reading = readStream(await postChat(user, body));
      await until(async () => isCrashing || app.service.deps.responses.size === 0);
      if (!isCrashing) {
        const streamed = await reading;
        seen += JSON.stringify(streamed.frames);
        assert.ok(streamed.done && streamed.text.endsWith('Done.'), `seed ${seed}: ${seen.slice(-500)}`);
        break;
      }
      crashes += 1;
      await crash(user, chatId);
      isCrashing = false;
      seen += JSON.stringify((await reading).frames);
    }
    onCall = undefined;
    assert.deepEqual(provider.seals.faults, [], `seed ${seed}`);
    assert.ok(
      crashes >= 2 && provider.seals.kept > 40,
      `${crashes} crashes, ${provider.seals.kept} seals, seed ${seed}`,
    );
    const detail = await chatDetail(user, chatId);
    const { rows } = await app.service.deps.db.pool.query('select echoes from responses where chat_id = $1', [chatId]);
    assert.deepEqual(rows, [{ echoes: null }]);
    assert.ok(seen.includes('Thought'));
    assert.doesNotMatch(`${seen}${JSON.stringify(detail)}`, /signature|encrypted_content|[A-Za-z0-9+/]{43}=/i);
  });
}
