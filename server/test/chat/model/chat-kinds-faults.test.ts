import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ProviderKind, providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { until } from '../../../../contracts/test/until.ts';
import type { Tool } from '../../../src/chat/tools/tool-run.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import {
  callTool,
  type FakeScript,
  failure,
  finish,
  say,
  stream,
  think,
} from '../../fakes/provider/provider-scripts.ts';
import { addModels, answer, chatDetail, createChat, idle, postChat, readStream, submit } from '../chat-harness.ts';

/** Failures of a provider, in every protocol. */

let app: TestApp;
let provider: FakeProvider;
let elsewhere: FakeProvider;
/** Conversations whose tool is running. */
const looking = new Set<string>();

const lookIn = (chatId: string): Tool => ({
  name: 'look',
  description: 'Looks until it is stopped',
  inputSchema: { type: 'object', properties: {} },
  async execute(_input, { signal }) {
    looking.add(chatId);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return 'stopped';
  },
});

before(async () => {
  provider = await startFakeProvider();
  elsewhere = await startFakeProvider();
  app = await startTestApp({
    timings: { tickMs: 10, sweepMs: 600_000 },
    findTools: async ({ response }) => [lookIn(response.chat_id)],
  });
});
after(async () => {
  await app.stop();
  await provider.close();
  await elsewhere.close();
});

const asked = (model: string) => provider.requests.filter((request) => request.body.model === model);

async function inChat(kind: ProviderKind, model: string): Promise<{ user: SignedIn; chatId: string }> {
  const user = await app.signIn();
  await addModels(user, provider, [model], kind);
  return { user, chatId: await createChat(user) };
}

test('retries rate limits, overload and errors before the first word, and shows the wait', async () => {
  const refusals: [FakeScript, string | undefined][] = [
    [failure(429, 'slow down', { 'retry-after': '2' }), 'rate_limited'],
    [failure(529, 'overloaded', { 'retry-after': '2' }), 'unavailable'],
    [failure(503, 'down'), undefined],
    [stream([{ event: { error: { message: 'secret', code: 529 } } }]), undefined],
  ];
  const cases = providerKinds.flatMap((kind) => refusals.map((refusal, at) => ({ kind, refusal, at })));
  await Promise.all(
    cases.map(async ({ kind, refusal: [refusal, reason], at }) => {
      const model = `busy-${at}-${kind}`;
      provider.script(model, (call) =>
        call.count === 1 ? refusal : stream([...say('Recovered.'), ...finish(call, 1)]),
      );
      const { user, chatId } = await inChat(kind, model);
      const before = Date.now();
      const { frames, text } = await answer(user, chatId, await submit(user, chatId, 'go'));
      assert.equal(text, 'Recovered.', model);
      assert.equal(asked(model).length, 2, model);
      const waits = frames.flatMap(({ frame }) => (frame.type === 'data-retry' ? [frame.data] : []));
      assert.deepEqual(
        waits.map((wait) => wait.reason),
        reason === undefined ? [] : [reason],
        model,
      );
      for (const { retryAt } of waits) assert.ok(Date.parse(retryAt) >= before + 2_000, model);
      assert.ok(!JSON.stringify(frames).includes('secret'));
    }),
  );
});

test('tries a persistent refusal three times', async () => {
  await Promise.all(
    providerKinds.map(async (kind) => {
      const model = `gone-${kind}`;
      provider.script(model, () => failure(503, 'secret words'));
      const { user, chatId } = await inChat(kind, model);
      const { body, status } = await answer(user, chatId, await submit(user, chatId, 'go'));
      assert.deepEqual([status, body.error.code, asked(model).length], [502, 'provider_error', 3], kind);
      assert.equal(body.error.details.providerMessage, 'secret words', 'the words of the provider stand apart');
      delete body.error.details.providerMessage;
      assert.ok(!/secret|sk-/.test(JSON.stringify(body)));
    }),
  );
});

type Moment = { name: string; first: FakeScript; isThere(frame: Json): boolean; ends: 'aborted' | 'complete' };
const never = { hang: true } as const;
const moments: Moment[] = [
  { name: 'before-head', first: { head: false, steps: [never] }, isThere: () => false, ends: 'aborted' },
  { name: 'before-words', first: stream([never]), isThere: () => false, ends: 'aborted' },
  {
    name: 'thinking',
    first: stream([...think('Half a thought'), never]),
    isThere: ({ type }) => type === 'reasoning-delta',
    ends: 'aborted',
  },
  {
    name: 'words',
    first: stream([...say('Half of an'), never]),
    isThere: ({ type }) => type === 'text-delta',
    ends: 'aborted',
  },
  {
    name: 'call',
    first: stream([...say('I look.'), ...callTool(0, 'call_a', 'look', '{"number":1}').slice(0, 2), never]),
    isThere: ({ type }) => type === 'text-delta',
    ends: 'aborted',
  },
  {
    name: 'tool',
    first: stream([
      ...callTool(0, 'call_b', 'look', '{}'),
      ...finish({ body: {}, headers: {}, count: 1 }, 1, 'tool_calls'),
    ]),
    isThere: () => false,
    ends: 'complete',
  },
  {
    name: 'retry',
    first: failure(429, 'slow down', { 'retry-after': '60' }),
    isThere: ({ type }) => type === 'data-retry',
    ends: 'complete',
  },
];

for (const { name, first, isThere, ends } of moments) {
  test(`Stop (${name}) ends the response and its request immediately, and the response can be continued`, async () => {
    await Promise.all(
      providerKinds.map(async (kind) => {
        const model = `stop-${name}-${kind}`;
        provider.script(model, (call) => (call.count === 1 ? first : stream([...say('Went on.'), ...finish(call, 1)])));
        const { user, chatId } = await inChat(kind, model);
        const messageId = await submit(user, chatId, 'go');
        const started = postChat(user, { chatId, messageId, detach: true });
        await until(`the provider is asked (${model})`, () => asked(model).length === 1);
        if (name === 'tool') await until('the tool runs', () => looking.has(chatId));
        else if (name !== 'before-head' && name !== 'before-words') {
          await readStream(await user.fetch(`/api/chat/${chatId}/stream`), ({ frame }) => isThere(frame));
        }
        assert.equal((await user.call(`POST /api/chat/${chatId}/stop`, {})).body.stopped, true, model);
        assert.equal(await asked(model)[0]?.closed, ends, model);
        await started;
        await until(`${model} is over`, async () => (await chatDetail(user, chatId)).response === null);
        const [, stopped] = (await chatDetail(user, chatId)).messages;
        assert.equal(stopped.status, 'stopped', model);
        for (const part of stopped.parts) assert.ok(!/streaming|input-available/.test(part.state ?? ''), part.state);
        assert.equal(asked(model).length, 1, model);

        const went = await readStream(await postChat(user, { chatId, resume: true }));
        assert.ok(went.text.endsWith('Went on.'), `${model}: ${went.text}`);
        const [, whole] = (await chatDetail(user, chatId)).messages;
        assert.deepEqual([whole.status, asked(model).length], ['complete', 2], model);
        assert.deepEqual(whole.parts.slice(0, stopped.parts.length), stopped.parts, model);
      }),
    );
    await idle(app);
  });
}

for (const kind of providerKinds) {
  test(`${kind}: the key is stored encrypted, sent to the provider only, and never shown`, async () => {
    const model = `leaks-${kind}`;
    const key = 'sk-test-key';
    provider.script(model, (call) => failure(401, `Bad key ${Object.values(call.headers).join()}`));
    const { user, chatId } = await inChat(kind, model);
    const refused = await answer(user, chatId, await submit(user, chatId, 'go'));
    const { headers = {} } = asked(model)[0] ?? {};
    const carrying = Object.keys(headers).filter((name) => headers[name]?.includes(key));
    const usual = { anthropic: 'x-api-key', gemini: 'x-goog-api-key' } as Partial<Record<ProviderKind, string>>;
    assert.deepEqual(carrying, [usual[kind] ?? 'authorization']);
    assert.ok(!asked(model)[0]?.path.includes(key));
    const { rows } = await app.database.database.pool.query('select * from providers where owner_id = $1', [user.id]);
    assert.equal(rows.length, 1);
    const outputs = [refused.body, await chatDetail(user, chatId), (await user.call('GET /api/providers')).body, rows];
    assert.ok(!JSON.stringify(outputs).includes(key));
  });

  test(`${kind}: a redirect carries neither key nor conversation elsewhere, and reaches no internal address`, async () => {
    const model = `moved-${kind}`;
    const { user, chatId } = await inChat(kind, model);
    const refused: string[] = [];
    for (const location of ['http://169.254.169.254/latest', 'http://[fd00:ec2::254]/', 'file:///etc/passwd']) {
      provider.script(model, () => ({ status: 307, headers: { location }, steps: [] }));
      const { body } = await answer(user, chatId, await submit(user, chatId, 'go'));
      refused.push(body.error.code);
    }
    assert.deepEqual(refused, Array(3).fill('blocked_destination'));
    elsewhere.script(model, (call) => stream([...say('Elsewhere.'), ...finish(call, 1)]));
    provider.script(model, () => ({
      status: 307,
      headers: { location: `${elsewhere.url}${asked(model).at(-1)?.path.replace('/v1', '')}` },
      steps: [],
    }));
    const { body } = await answer(user, chatId, await submit(user, chatId, 'go'));
    assert.equal(body.error.code, 'provider_unreachable');
    assert.deepEqual(elsewhere.requests, []);
  });
}
