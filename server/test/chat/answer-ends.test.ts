import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import {
  callTool,
  chunk,
  type FakeScript,
  failure,
  finish,
  say,
  stream,
  think,
} from '../fakes/provider/provider-scripts.ts';
import { bring } from '../imports/import-makers.ts';
import { addModels, answer, chatDetail, createChat, partsOf, postChat, submit } from './chat-harness.ts';

/** The end of an answer, as its message and its stream tell it (contract.md section 12). */

let app: TestApp;
let provider: FakeProvider;
let folder: string;
before(async () => {
  provider = await startFakeProvider();
  folder = await mkdtemp(join(tmpdir(), 'answer-ends-'));
  app = await startTestApp({
    config: { dataDir: folder },
    findTools: async () => [
      { name: 'look', description: 'Looks', inputSchema: { type: 'object' }, execute: async () => 'seen' },
    ],
  });
});
after(async () => {
  await app.stop();
  await provider.close();
  await rm(folder, { recursive: true, force: true });
});

type Asked = { user: SignedIn; chatId: string; messageId: string; message: Json; streamed: Json };

async function ask(kind: (typeof providerKinds)[number], ...scripts: FakeScript[]): Promise<Asked> {
  const user = await app.signIn();
  await addModels(user, provider, ['ends'], kind);
  provider.script('ends', (call) => stream([...say('On and on.'), ...finish(call, 3)]));
  provider.enqueue('ends', ...scripts);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'Go');
  const { frames } = await answer(user, chatId, messageId);
  const [asked, message] = (await chatDetail(user, chatId)).messages;
  assert.deepEqual([asked.finishReason, asked.finishDetail], [null, null], 'a person’s message has no end');
  const streamed = frames.at(-1)?.frame;
  assert.ok(streamed?.type === 'finish');
  return { user, chatId, messageId, message, streamed: streamed.messageMetadata };
}

const cut = { max: [...say('Half an'), chunk({}, 'length'), { event: '[DONE]' }] };

for (const kind of providerKinds) {
  test(`${kind}: keeps that an answer was cut at the output limit`, async () => {
    const { message, streamed, user, chatId, messageId } = await ask(kind, stream(cut.max));
    assert.deepEqual([message.status, message.finishReason, message.finishDetail], ['complete', 'length', null]);
    assert.deepEqual([streamed.finishReason, streamed.finishDetail], ['length', null]);
    const { frames } = await answer(user, chatId, messageId);
    const last = frames.at(-1)?.frame;
    assert.equal(last?.type === 'finish' && last.messageMetadata?.finishReason, 'length', 'a replay says so too');
  });

  test(`${kind}: keeps that an answer was only thoughts`, async () => {
    const { message } = await ask(kind, stream([...think('Hm, well.'), chunk({}, 'stop'), { event: '[DONE]' }]));
    assert.deepEqual([message.status, message.finishReason], ['complete', 'reasoning_only']);
  });

  test(`${kind}: keeps that the connection broke`, async () => {
    const { message, streamed } = await ask(kind, stream([...say('Half an'), { drop: true }]));
    assert.deepEqual([message.status, message.finishReason], ['failed', 'error']);
    assert.equal(streamed.finishReason, 'error');
  });
}

for (const kind of providerKinds) {
  test(`${kind}: makes reasoning of text that a lone closing mark ends, also after it was streamed`, async () => {
    const user = await app.signIn();
    await addModels(user, provider, ['lone'], kind);
    const text = [
      ...say('I should add. '),
      chunk({ content: '</th' }),
      chunk({ content: 'ink>\n\n' }),
      ...say('Four.'),
    ];
    provider.script('lone', (call) => stream([...text, ...finish(call, 9)]));
    const chatId = await createChat(user);
    const { frames } = await answer(user, chatId, await submit(user, chatId, 'Add'));
    const [, message] = (await chatDetail(user, chatId)).messages;
    assert.deepEqual(
      message.parts.map(({ type, text, state }: Json) => [type, text, state]),
      [
        ['step-start', undefined, undefined],
        ['reasoning', 'I should add. ', 'done'],
        ['text', 'Four.', 'done'],
      ],
    );
    assert.deepEqual(partsOf(frames), message.parts, 'the stream comes to the same');
    assert.equal(message.finishReason, 'stop');
    const next = await answer(user, chatId, await submit(user, chatId, 'Again'));
    assert.equal(next.status, 200);
    const sent = provider.requests.findLast(({ body }) => body.model === 'lone')?.raw;
    assert.ok(!JSON.stringify(sent).includes('I should add'), 'its reasoning is no answer for the model either');
  });
}

test('keeps a refusal with the maker’s explanation', async () => {
  const refusal = [chunk({ refusal: 'I can’t help ' }), chunk({ refusal: 'with that.' }), chunk({}, 'stop')];
  const { message, streamed } = await ask('openai', stream([...refusal, { event: '[DONE]' }]));
  assert.deepEqual([message.finishReason, message.finishDetail], ['refusal', 'I can’t help with that.']);
  assert.equal(streamed.finishDetail, 'I can’t help with that.');
});

test('keeps the end of an answer that failed before its first word', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['refuses']);
  provider.script('refuses', () => failure(401));
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'Go');
  assert.ok((await postChat(user, { chatId, messageId })).status >= 400);
  const [, message] = (await chatDetail(user, chatId)).messages;
  assert.deepEqual([message.status, message.finishReason, message.finishDetail], ['failed', 'error', null]);
});

test('names a turn that used up its steps tool_calls', async () => {
  const admin = await app.signIn({ role: 'admin' });
  const { body } = await admin.call('POST /api/admin/config', { turnBudget: { steps: 1 } });
  assert.equal(body.turnBudget.steps, 1);
  try {
    const { message } = await ask('openai', stream([...callTool(0, 'c1', 'look', '{}'), chunk({}, 'tool_calls')]));
    assert.deepEqual([message.status, message.finishReason], ['complete', 'tool_calls']);
  } finally {
    await admin.call('POST /api/admin/config', { turnBudget: { steps: 200 } });
  }
});

test('exports the end of an answer, and brings it back with an import', async () => {
  const { user, chatId } = await ask('openai', stream(cut.max));
  const exported = await user.fetch(`/api/chats/export?id=${chatId}&format=json`);
  const [, message] = (JSON.parse(await exported.text()) as Json).messages;
  assert.equal(message.finishReason, 'length');
  const archive = Buffer.from(await (await user.fetch('/api/me/export')).arrayBuffer());
  const other = await app.signIn();
  assert.equal((await bring(other, archive)).import.state, 'done');
  const { chats } = (await other.call('GET /api/chats')).body;
  const [, brought] = (await chatDetail(other, chats[0].id)).messages;
  assert.equal(brought.finishReason, 'length');
  const shown = await user.fetch(`/api/chats/export?id=${chatId}&format=markdown`);
  assert.match(await shown.text(), /Half an\n\n\*\(cut off at the output limit\)\*/);
});
