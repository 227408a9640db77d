import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { stream } from '../fakes/provider/provider-scripts.ts';
import { addModels, createChat, idle, postChat, readStream, submit } from './chat-harness.ts';

let app: TestApp;
let provider: FakeProvider;
/** Reads of a page of messages: the number that waits in the database while `gate` is closed, and the maximum. */
const reads = { open: 0, most: 0, gate: Promise.resolve() };
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({
    trace: async (statement, work) => {
      if (!statement.includes('with recursive branch')) return work();
      reads.open += 1;
      reads.most = Math.max(reads.most, reads.open);
      await reads.gate;
      return work().finally(() => {
        reads.open -= 1;
      });
    },
  });
});
after(async () => {
  await app.stop();
  await provider.close();
});

async function person(): Promise<SignedIn> {
  const user = await app.signIn();
  await addModels(user, provider, ['echo']);
  return user;
}

const start = (user: SignedIn, chatId: string, id: string, parts: unknown[]) =>
  user.call('POST /api/chat/start', { chatId, message: { id, parts } });

test('one user reads two conversations at the same time, and others do not wait for them', async () => {
  const [reader, other] = [await person(), await person()];
  const chats = [await createChat(reader), await createChat(other)];
  for (const [index, user] of [reader, other].entries()) {
    const messageId = await submit(user, chats[index] ?? '', 'hello');
    await readStream(await postChat(user, { chatId: chats[index], messageId }));
  }
  await idle(app);
  const gate = Promise.withResolvers<void>();
  reads.gate = gate.promise;
  reads.most = 0;
  const read = (user: SignedIn, index: number) =>
    user.call('GET /api/chats', undefined, { query: { id: chats[index] ?? '' } });
  const own = Array.from({ length: 8 }, () => read(reader, 0));
  await until('two reads at the database', () => reads.open === 2);
  const others = read(other, 1);
  await until('the read of the other person', () => reads.open === 3);
  gate.resolve();
  for (const { status } of await Promise.all([...own, others])) assert.equal(status, 200);
  assert.equal(reads.most, 3);
});

test('stores a large message as sent, with the hash of the whole request', async () => {
  const user = await person();
  const chatId = await createChat(user);
  const text = 'Größe "\u{1f600}" \n'.repeat(40_000);
  const parts = Array.from({ length: 8 }, (_, index) => ({ type: 'text', text: `${index} ${text}` }));
  const id = `large-${Date.now()}`;
  assert.equal((await start(user, chatId, id, parts)).status, 201);
  const { rows } = await app.database.database.pool.query('select request_hash from inputs where id = $1', [id]);
  const identity = JSON.stringify([user.id, chatId, parts, 'default', {}]);
  assert.equal(rows[0].request_hash, createHash('sha256').update(identity).digest('base64url'));
  assert.equal((await start(user, chatId, id, parts)).status, 201, 'the same again');
  const changed = [...parts.slice(1), { type: 'text', text: 'another' }];
  assert.equal((await start(user, chatId, id, changed)).body.error.code, 'input_conflict');
  await readStream(await postChat(user, { chatId, messageId: id }));
  const { messages } = (await user.call('GET /api/chats', undefined, { query: { id: chatId } })).body;
  assert.deepEqual(messages.find((message: { id: string }) => message.id === id).parts, parts);
});

test('a conversation with 16 MB in its queue accepts no more, and an input is answered with its parts', async () => {
  const user = await person();
  const chatId = await createChat(user);
  provider.enqueue('echo', () => stream([{ hang: true }]));
  const first = await submit(user, chatId, 'wait');
  const running = postChat(user, { chatId, messageId: first });
  await until('the running answer', async () => {
    const { response } = (await user.call('GET /api/chats', undefined, { query: { id: chatId } })).body;
    return response !== null;
  });
  const parts = Array.from({ length: 6 }, () => ({ type: 'text', text: 'x'.repeat(990_000) }));
  const statuses: number[] = [];
  for (let index = 0; index < 4; index += 1) {
    const body = { chatId, message: { id: `queued-${index}-${chatId}`, parts } };
    const { status, body: answer } = await user.call('POST /api/chat/turn-inputs', body);
    statuses.push(status);
    if (status === 201) assert.deepEqual(answer.input.message.parts, parts);
    else assert.match(answer.error.message, new RegExp(`${limits.queuedBytesPerChat / 1024 ** 2} MB`));
  }
  assert.deepEqual(statuses, [201, 201, 201, 429]);
  const queued = (await user.call('GET /api/chat/turn-inputs', undefined, { query: { chatId } })).body.inputs;
  assert.deepEqual(
    queued.map((input: { message: { parts: unknown } }) => input.message.parts),
    [parts, parts, parts],
  );
  for (const { id } of queued) await user.call('DELETE /api/chat/turn-inputs', undefined, { query: { chatId, id } });
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await readStream(await running);
});
