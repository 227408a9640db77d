import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { createCaller, type Json, startTestApp, type TestApp, testConfig } from '../../app.ts';
import { databaseSettings } from '../../database.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { dataFolder, ready, type ServerProcess, startServer } from '../../process.ts';
import { chatDetail, postChat, readStream, submission } from '../chat-harness.ts';
import {
  addSmallModel,
  prose,
  random,
  reader,
  speak,
  startConversation,
  textOf,
  textsOf,
  useTool,
} from './compaction-harness.ts';

/**
 * Random conversations larger than their window, and a service that is killed while it makes a summary. More of both:
 * COMPACTION_RUNS=40.
 */

const runs = Number(process.env.COMPACTION_RUNS ?? '2');
const kills = Number(process.env.COMPACTION_KILLS ?? '2');
const firstSeed = Number(process.env.COMPACTION_SEED ?? '1');
const windows = runs > 2 ? [3_000, 6_000, 12_000, 24_000, 48_000] : [3_000, 8_000];

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ timings: { tickMs: 10 }, findTools: async () => [reader] });
});
after(async () => {
  await app.stop();
  await provider.close();
});

for (const window of windows) {
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    const isToolHeavy = seed % 2 === 0;
    const kind = isToolHeavy ? 'tool-heavy' : 'text-heavy';
    test(`a ${kind} conversation larger than a window of ${window} never sends more than it (seed ${seed})`, async () => {
      const next = random(seed * 1_000 + window);
      const user = await app.signIn();
      const density = 0.8 + next(7) / 10;
      const size = (share: number) =>
        Math.ceil((window * share) / density / 100) + next(Math.ceil((window * share) / 100));
      const model = await addSmallModel(user, provider, {
        window,
        maxOutputTokens: Math.ceil(window / (4 + next(5))),
        density,
        summarize: (call, request) => {
          // A good model's summary: every rule that it was shown.
          const rules = [...new Set(textsOf(request.body).match(/Rule \d+: never [a-z]+/g) ?? [])];
          return next(12) === 0 ? speak(call, '') : speak(call, rules.join('\n'), density);
        },
        play(call) {
          const since =
            call.body.messages?.slice(call.body.messages.findLastIndex(({ role }) => role === 'user')) ?? [];
          const steps = since.filter(({ role }) => role === 'tool').length;
          return isToolHeavy && steps < call.count % 4
            ? useTool(call, 'read', { tokens: size(6) }, density)
            : speak(call, prose(size(isToolHeavy ? 1 : 6), call.count), density);
        },
      });
      const { chatId, say } = await startConversation(user, model);
      const rules: string[] = [];
      for (let turn = 0; turn < 60 && (model.summaries.length < 3 || turn < 16); turn++) {
        const rule = `Rule ${turn}: never ${prose(1, turn)}`;
        if (turn < 4) rules.push(rule);
        const { done, body } = await say(`${turn < 4 ? `${rule}\n` : ''}Question ${turn}. ${prose(size(2), turn)}`);
        assert.ok(done, JSON.stringify(body));
      }
      for (const { tokens, body } of model.asked) {
        const limit = body.max_tokens ?? 0;
        assert.ok(tokens + limit <= window, `${tokens} and ${limit} of ${window}`);
      }
      assert.ok(model.summaries.length > 0);
      const firstRound = model.summaries.map(({ body }) => textsOf(body)).join('\n');
      for (const rule of rules) assert.ok(firstRound.includes(rule), `${rule} was not shown`);
      const { messages } = await chatDetail(user, chatId);
      assert.ok(messages.every(({ status }: Json) => status === 'complete'));
    });
  }
}

/** The points between the question and the answer at which the service is killed. */
const moments = ['sent', 'summary asked', 'summary answered', 'answer asked', 'first words'] as const;
type Moment = (typeof moments)[number];

test('a service killed at any moment of a summary loses nothing, repeats nothing, and continues the conversation', async (t) => {
  const user = await app.signIn();
  const reached = new Set<Moment>();
  const reach = (moment: Moment) => void reached.add(moment);
  const model = await addSmallModel(user, provider, {
    summarize(call) {
      reach('summary asked');
      return speak(call, '- Rules: kept.');
    },
    play(call) {
      reach('answer asked');
      return speak(call, prose(200, call.count));
    },
  });
  const env = {
    ...databaseSettings(app.database),
    AUTH_SECRET: testConfig.authSecret ?? '',
    SETTINGS_ENCRYPTION_KEY: testConfig.encryptionKey ?? '',
    ALLOW_PRIVATE_EGRESS: 'true',
    ALLOW_INSECURE_HTTP: 'true',
    MODEL_TITLES: 'false',
    DATA_DIR: dataFolder(),
  };
  const next = random(firstSeed);
  let server: ServerProcess | undefined;
  let address = '';
  for (let kill = 0; kill < kills; kill++) {
    if (server === undefined) {
      server = startServer(env);
      address = await ready(server);
    }
    const moment = moments[kill < moments.length ? (kill + 1) % moments.length : next(moments.length)] ?? 'sent';
    const { chatId, say } = await startConversation(user, model);
    const before = model.summaries.length;
    for (let turn = 0; turn < 4; turn++) await say(`Question ${turn}. ${prose(100, turn)}`);
    assert.equal(model.summaries.length, before, 'the window is not full yet');
    const { messages: earlier } = await chatDetail(user, chatId);
    reached.clear();
    const there = { ...createCaller(address, user.cookie), id: user.id, email: user.email };
    const question = submission(chatId, `Question 4. ${prose(1_400, 4)}`, { modelId: model.id, modelPinned: true });
    assert.equal((await there.call('POST /api/chat/start', question)).status, 201);
    const streaming = postChat(there, { chatId, messageId: question.message.id })
      .then((response) =>
        readStream(response, ({ frame }) => {
          if (frame.type === 'data-step' && frame.data.state === 'done') reach('summary answered');
          if (frame.type === 'text-delta') reach('first words');
          return false;
        }),
      )
      .catch(() => undefined);
    reach('sent');
    await until(async () => reached.has(moment));
    server.child.kill('SIGKILL');
    await server.exited;
    server = undefined;
    await streaming;
    await app.database.database.pool.query('update responses set lease_until = now() where chat_id = $1', [chatId]);
    await app.service.deps.responses.interruptExpired({ chatId });
    const again = await readStream(await postChat(user, { chatId, messageId: question.message.id }));
    const detail = await chatDetail(user, chatId);
    if (detail.messages.at(-1).status !== 'complete') await readStream(await postChat(user, { chatId, resume: true }));
    t.diagnostic(`killed when ${moment}; then ${again.status} and ${detail.messages.at(-1).status}`);
    const { messages, summaries } = await chatDetail(user, chatId);
    assert.deepEqual(messages.slice(0, earlier.length), earlier);
    assert.deepEqual(
      messages.slice(earlier.length).map(({ role, status }: Json) => [role, status]),
      [
        ['user', 'complete'],
        ['assistant', 'complete'],
      ],
    );
    assert.deepEqual(
      summaries.map(({ text }: Json) => text),
      ['- Rules: kept.'],
    );
    assert.match(textOf(model.answers.at(-1)?.body.messages?.at(2)?.content), /- Rules: kept\.$/);
  }
  server?.child.kill('SIGKILL');
});
