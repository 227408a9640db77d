import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import {
  addSmallModel,
  type CountedRequest,
  prose,
  random,
  reader,
  speak,
  startConversation,
  useTool,
} from '../turn/compaction-harness.ts';

/** The prefix that a request shares with the one before, which a provider's cache can reuse. */

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

const turns = 60;
const textOf = ({ body }: CountedRequest): string =>
  `${JSON.stringify(body.tools)}${JSON.stringify(body.messages).slice(0, -1)}`;

function commonLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

test('requests over 60 turns with tools and files repeat the previous request as their prefix', async () => {
  const user = await app.signIn();
  const next = random(7);
  const model = await addSmallModel(user, provider, {
    window: 16_000,
    maxOutputTokens: 2_000,
    play(call) {
      const results = call.body.messages?.slice(call.body.messages.findLastIndex(({ role }) => role === 'user')) ?? [];
      const steps = results.filter(({ role }) => role === 'tool').length;
      return steps < call.count % 3
        ? useTool(call, 'read', { tokens: 50 + next(400) })
        : speak(call, prose(40 + next(160), call.count));
    },
  });
  const { chatId, say } = await startConversation(user, model);
  const { kysely } = app.database.database;
  const countStarts = async () =>
    (await kysely.selectFrom('summaries').select('id').where('chat_id', '=', chatId).execute()).length;
  // The first request after each turn that shortened the conversation.
  const compacted = new Set<number>();
  for (let turn = 0; turn < turns; turn++) {
    const [starts, asked] = [await countStarts(), model.answers.length];
    const file = Buffer.from(prose(200, turn)).toString('base64');
    const parts = [
      { type: 'text', text: `Question ${turn}: ${prose(20, turn)}` },
      ...(turn % 6 === 5
        ? [{ type: 'file', mediaType: 'text/plain', filename: `${turn}.txt`, url: `data:text/plain;base64,${file}` }]
        : []),
    ];
    await say('', { message: { id: `${chatId}-${turn}`, parts } });
    if ((await countStarts()) > starts) compacted.add(asked);
  }
  let repeated = 0;
  let repeatable = 0;
  for (const [index, answer] of model.answers.entries()) {
    const before = model.answers[index - 1];
    if (before === undefined || compacted.has(index)) continue;
    repeated += commonLength(textOf(before), textOf(answer));
    repeatable += textOf(before).length;
  }
  assert.ok(compacted.size > 0 && compacted.size <= turns / 10, `${compacted.size} turns began anew`);
  assert.ok(repeated >= repeatable * 0.95, `${repeated} of ${repeatable} characters`);
});
