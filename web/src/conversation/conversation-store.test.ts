import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@homeport/contracts/chat/conversations';
import { answer, at, detail, playConversation, queued, running, user } from '../../test/played-conversation.ts';
import { ApiFailure } from '../api/api-failure.ts';

test('shows the stored conversation, follows the running response, and reconciles at the end', async () => {
  const stored: Message = {
    ...user('a1'),
    role: 'assistant',
    parentId: 'u1',
    parts: [{ type: 'text', text: 'Hi there', state: 'done' }],
  };
  const { store, connected, until, text } = playConversation([
    detail({ response: running('a1', 'u1') }),
    detail({ messages: [user('u1'), stored] }),
  ]);
  const first = connected();
  store.follow();
  const connection = await first;
  connection.send(answer('a1', 'Hi there'));
  await until(() => text() === 'Hi there');
  connection.end();
  await until(() => store.getView().response === null && store.getView().connection === 'idle');
  assert.deepEqual(store.getView().messages.at(-1), stored);
  assert.equal(store.getView().messages.length, 2);
});

test('keeps the stored part of a running answer until the stream has caught up', async (t) => {
  const stored: Message = { ...user('a1'), role: 'assistant', parentId: 'u1', status: 'streaming' };
  stored.parts = [{ type: 'text', text: 'one two ', state: 'streaming' }];
  const reload = async () => {
    const { connected, ...rest } = playConversation([
      detail({ messages: [user('u1'), stored], response: running('a1', 'u1') }),
    ]);
    const first = connected();
    rest.store.follow();
    return { ...rest, connection: await first };
  };

  await t.test('it never becomes less', async () => {
    const { store, connection, until, text } = await reload();
    const shown = new Set<string | undefined>();
    store.subscribe(() => shown.add(text()));
    const frames = answer('a1', 'one two three four');
    connection.send(frames.slice(0, 1));
    await until(() => store.getView().connection === 'following');
    connection.send(frames.slice(1, 6), 1);
    await until(() => text() === 'one two three ');
    assert.deepEqual([...shown], ['one two ', 'one two three ']);
    store.unfollow();
  });

  await t.test('if less has come when it ends, that is shown', async () => {
    const { store, connection, until, text } = await reload();
    connection.send(answer('a1', 'one'));
    await until(() => text() === 'one');
    store.unfollow();
  });
});

test('updates the outline for new parts and the end, not for every word', async () => {
  const { store, connected, until, text } = playConversation([detail({ response: running('a1', 'u1') })]);
  const first = connected();
  store.follow();
  const frames = answer('a1', 'one two three four');
  const one = await first;
  one.send(frames.slice(0, 4));
  await until(() => text() === 'one ');
  const outline = store.getOutline();
  one.send(frames.slice(4, 6), 4);
  await until(() => text() === 'one two three ');
  assert.equal(store.getOutline(), outline);
  assert.equal(store.messageOf('a1'), store.getView().messages.at(-1));
  one.send(frames.slice(6), 6);
  await until(() => store.getOutline() !== outline);
  assert.equal(store.getOutline(), store.getView());
  store.unfollow();
});

test('resumes a broken stream after the last frame, without lost or repeated words', async (t) => {
  t.mock.method(Math, 'random', () => 0);
  const { store, connected, until, text } = playConversation([detail({ response: running('a1', 'u1') })]);
  const first = connected();
  store.follow();
  const frames = answer('a1', 'one two three four');
  const one = await first;
  assert.equal(one.after, undefined);
  one.send(frames.slice(0, 5));
  await until(() => text() === 'one two ');
  const second = connected();
  one.break();
  const two = await second;
  assert.equal(two.after, '5');
  two.send(frames.slice(5), 5);
  await until(() => text() === 'one two three four');
  store.unfollow();
});

test('when another response runs after a break, it is followed from its beginning', async (t) => {
  t.mock.method(Math, 'random', () => 0);
  const later = detail({ messages: [user('u1'), user('u2')], response: running('a2', 'u2') });
  const { store, connected, until, text } = playConversation([detail({ response: running('a1', 'u1') }), later]);
  const first = connected();
  store.follow();
  const one = await first;
  one.send(answer('a1', 'old words').slice(0, 4));
  await until(() => text() === 'old ');
  const second = connected();
  one.break();
  const two = await second;
  assert.equal(two.after, undefined);
  two.send(answer('a2', 'new words'));
  await until(() => text() === 'new words');
  store.unfollow();
});

test('a promoted input becomes a message and its response is followed at once', async () => {
  const { store, connected, until, text } = playConversation([
    detail({ response: running('a1', 'u1'), inputs: [queued('u2')] }),
  ]);
  const first = connected();
  store.follow();
  const one = await first;
  const second = connected();
  one.send([
    ...answer('a1', 'first'),
    { type: 'data-next', transient: true, data: { messageId: 'u2', assistantId: 'a2' } },
  ]);
  one.end();
  const two = await second;
  assert.deepEqual(
    store.getView().messages.map((message) => message.id),
    ['u1', 'a1', 'u2'],
  );
  assert.deepEqual(store.getView().inputs, []);
  assert.equal(store.getView().response?.assistantId, 'a2');
  two.send(answer('a2', 'second'));
  await until(() => text() === 'second');
  store.unfollow();
});

test('refetches after the promotion of an input from another tab', async () => {
  const { store, connected, until } = playConversation([
    detail({ response: running('a1', 'u1') }),
    detail({ messages: [user('u1'), user('u2')], response: running('a2', 'u2') }),
  ]);
  const first = connected();
  store.follow();
  const one = await first;
  const second = connected();
  one.send([
    ...answer('a1', 'first'),
    { type: 'data-next', transient: true, data: { messageId: 'u2', assistantId: 'a2' } },
  ]);
  one.end();
  const two = await second;
  two.send(answer('a2', 'second'));
  await until(() => store.getView().messages.some((message) => message.id === 'a2'));
  assert.deepEqual(
    store.getView().messages.map((message) => message.id),
    ['u1', 'u2', 'a2'],
  );
  store.unfollow();
});

test('a message that waits for its response to begin stays a message', async (t) => {
  t.mock.method(Math, 'random', () => 0);
  const waiting = detail({ inputs: [queued('u2')] });
  const { store, connected, until } = playConversation([
    waiting,
    detail({ messages: [user('u1'), user('u2')], response: running('a2', 'u2') }),
  ]);
  store.addSubmitted({ id: 'u2', parts: [{ type: 'text', text: 'u2' }] }, undefined, at);
  const first = connected();
  store.follow();
  await until(() => store.getView().chat !== undefined);
  assert.deepEqual(
    store.getView().messages.map((message) => message.id),
    ['u1', 'u2'],
  );
  assert.deepEqual(store.getView().inputs, []);
  await first;
  assert.equal(store.getView().response?.assistantId, 'a2');
  store.unfollow();
});

test('a response that has not begun yet is waited for', async (t) => {
  t.mock.method(Math, 'random', () => 0);
  const { store, connected, none, until, text } = playConversation([detail({ response: running('a1', 'u1') })]);
  none.add(1);
  const first = connected();
  store.expectResponse({ assistantId: 'a1', messageId: 'u1' });
  const one = await first;
  one.send(answer('a1', 'late'));
  await until(() => text() === 'late');
  store.unfollow();
});

test('refreshes the lists for an answer that ended before its stream was opened', async () => {
  const { store, until, none, activity } = playConversation([detail({ messages: [user('u1')] })]);
  none.add(1);
  store.addSubmitted({ id: 'u1', parts: [] }, undefined, '');
  store.expectResponse({ assistantId: 'a1', messageId: 'u1' });
  await until(() => store.getView().response === null && store.getView().connection === 'idle');
  assert.equal(activity.count, 1);
});

test('only closes the stream on leaving', async () => {
  const { store, connected, connections } = playConversation([detail({ response: running('a1', 'u1') })]);
  const first = connected();
  store.follow();
  await first;
  store.unfollow();
  assert.equal(store.getView().connection, 'idle');
  assert.equal(store.getView().response?.assistantId, 'a1');
  assert.equal(connections.length, 1);
});

test('reports a missing conversation, and keeps the view after a failed reload', async () => {
  const missing = playConversation([new ApiFailure('not_found', 'No', { status: 404 })]);
  missing.store.follow();
  await missing.until(() => missing.store.getView().phase === 'failed');
  assert.equal(missing.store.getView().failure?.code, 'not_found');
  const shown = playConversation([detail(), new ApiFailure('internal_error', 'No', { status: 500 })]);
  shown.store.follow();
  await shown.until(() => shown.store.getView().phase === 'ready' && shown.store.getView().connection === 'idle');
  shown.store.follow();
  shown.store.unfollow();
  assert.equal(shown.store.getView().messages.length, 1);
});

test('shows a pause of the provider until the answer continues', async () => {
  const { store, connected, until, text } = playConversation([detail({ response: running('a1', 'u1') })]);
  const first = connected();
  store.follow();
  const connection = await first;
  const wait = { reason: 'rate_limited', retryAt: '2026-01-01T00:00:40.000Z' } as const;
  const [start, ...rest] = answer('a1', 'Here it is');
  assert.ok(start);
  connection.send([start, { type: 'data-retry', transient: true, data: wait }]);
  await until(() => store.getView().providerWait !== undefined);
  assert.deepEqual(store.getView().providerWait, wait);
  connection.send(rest, 2);
  await until(() => text() === 'Here it is');
  assert.equal(store.getView().providerWait, undefined);
  store.unfollow();
});

test('follows a requested summary without a message, and reports its failure', async () => {
  const compaction = { ...running('s1', 'u1'), kind: 'compaction' } as const;
  const made = { id: 's', upToMessageId: 'u1', text: 'In short.', createdAt: at };
  const { store, connected, until } = playConversation([
    detail({ messages: [user('u1')], response: compaction }),
    detail({ messages: [user('u1')], summaries: [made] }),
  ]);
  const first = connected();
  store.follow();
  const connection = await first;
  connection.send([{ type: 'data-step', transient: true, data: { name: 'compaction', state: 'started' } }]);
  await until(() => store.getView().isSummarizing);
  connection.send(
    [
      { type: 'error', errorText: 'Too busy.' },
      { type: 'finish', finishReason: 'error' },
    ],
    1,
  );
  await until(() => store.getView().summaryFailure === 'Too busy.');
  assert.deepEqual(
    store.getView().messages.map(({ id }) => id),
    ['u1'],
  );
  connection.end();
  await until(() => store.getView().response === null && store.getView().connection === 'idle');
  assert.deepEqual([store.getView().summaries, store.getView().isSummarizing], [[made], false]);
});

test('gives its connection to another window and goes on where it was, without asking for the messages', async () => {
  const { store, connected, until, text, turns, connections } = playConversation([
    detail({ response: running('a1', 'u1') }),
    new Error('asked for the messages'),
  ]);
  const first = connected();
  store.follow();
  const frames = answer('a1', 'one two three');
  (await first).send(frames.slice(0, 5));
  await until(() => text() === 'one two ');
  const second = connected();
  turns[0]?.abort();
  const connection = await second;
  assert.equal(connection.after, '5');
  assert.equal(store.getView().connection, 'following');
  connection.send(frames.slice(5), 5);
  await until(() => text() === 'one two three');
  assert.equal(connections.length, 2);
  store.unfollow();
});
