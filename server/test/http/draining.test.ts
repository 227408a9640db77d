import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { type Answer, createCaller, startTestApp, type TestApp } from '../app.ts';
import { addModels, createChat, postChat, readStream, submit } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/** A replica that is asked to stop, as balancers, clients and users at other replicas see it. */

const noticeMs = 86_400_000;
let provider: FakeProvider;
let stays: TestApp;
before(async () => {
  provider = await startFakeProvider();
  stays = await startTestApp();
});
after(async () => {
  await stays.stop();
  await provider.close();
});

/** A replica whose notice lasts until it is ended. */
async function startLeaving(): Promise<{ app: TestApp; endNotice: () => void }> {
  const notice = Promise.withResolvers<void>();
  const clock: Clock = {
    ...systemClock,
    sleep: (milliseconds, signal) =>
      milliseconds === noticeMs ? notice.promise : systemClock.sleep(milliseconds, signal),
  };
  return { app: await startTestApp({ database: stays.database, clock }), endNotice: () => notice.resolve() };
}

/** A kept-alive connection: sends text and reads one answer of known length. */
function openConnection(url: string): { socket: Socket; ask(text: string): Promise<string> } {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setTimeout(30_000, () => socket.destroy(new Error('no answer within 30 s')));
  return {
    socket,
    async ask(text) {
      socket.write(text);
      let answer = '';
      while (!isWhole(answer)) answer += String((await once(socket, 'data'))[0]);
      return answer;
    },
  };
}

function isWhole(answer: string): boolean {
  const [head = '', body] = answer.split('\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  return body !== undefined && length !== undefined && body.length >= Number(length);
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
const statusOf = (answer: string) => Number(answer.split(' ')[1]);
const closes = (answer: string) => /\r\nconnection: close\r\n/i.test(answer);

test('announces the shutdown to balancers first, and answers requests that arrive meanwhile', async () => {
  const { app, endNotice } = await startLeaving();
  const [kept, idle] = [openConnection(app.url), openConnection(app.url)];
  for (const connection of [kept, idle]) {
    const before = await connection.ask(get('/api/health'));
    assert.deepEqual([statusOf(before), closes(before)], [200, false]);
  }
  const stopped = app.service.stop(30_000, noticeMs);
  const health = await kept.ask(get('/api/health'));
  assert.deepEqual([statusOf(health), closes(health), health.endsWith('{"ok":false}')], [503, true, true]);
  await once(kept.socket, 'close');
  const late = await app.anonymous.call('GET /api/public-config');
  assert.deepEqual([late.status, late.headers.get('connection')], [200, 'close']);
  const live = await app.anonymous.call('GET /api/live');
  assert.deepEqual([live.status, live.body], [200, { ok: true, version: '0.0.0-test' }]);
  const idleClosed = once(idle.socket, 'close');
  endNotice();
  await Promise.all([stopped, idleClosed]);
  await assert.rejects(app.anonymous.fetch('/api/live'));
});

test('answers a request in progress before its connection ends', async () => {
  const user = await stays.signIn();
  const { app, endNotice } = await startLeaving();
  const body = JSON.stringify({ title: 'Begun before the end' });
  const { socket, ask } = openConnection(app.url);
  socket.write(
    `POST /api/chats HTTP/1.1\r\nhost: localhost\r\ncookie: ${user.cookie}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  );
  await once(app.service.server, 'request');
  const stopped = app.service.stop(30_000, noticeMs);
  endNotice();
  await assert.rejects(async () => {
    for (;;) await createCaller(app.url, undefined).fetch('/api/live', { headers: { connection: 'close' } });
  });
  const answer = await ask(body.slice(5));
  assert.deepEqual([statusOf(answer), closes(answer)], [201, true]);
  await stopped;
});

test("releases a follower of another replica's response between two events without losing one", async () => {
  const user = await stays.signIn();
  // Runs until it is stopped.
  await addModels(user, provider, ['words-60000@100']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const whole = readStream(await postChat(user, { chatId, messageId }));
  const { app, endNotice } = await startLeaving();
  endNotice();
  const elsewhere = createCaller(app.url, user.cookie);
  let stopped: Promise<void> | undefined;
  const { body, headers } = await elsewhere.fetch(`/api/chat/${chatId}/stream`);
  const [events, bytes] = body?.tee() ?? [];
  // Fails if the connection breaks instead of ending.
  const ended = new Response(bytes).text();
  const part = await readStream(new Response(events, { headers }), ({ id }) => {
    if (id > 20) stopped ??= app.service.stop(30_000);
    return false;
  });
  await Promise.all([stopped, ended]);
  assert.equal(part.done, false);
  const seen = part.frames.at(-1)?.id ?? 0;
  let halted: Promise<Answer> | undefined;
  const rest = await readStream(
    await user.fetch(`/api/chat/${chatId}/stream`, { headers: { 'last-event-id': String(seen) } }),
    ({ id }) => {
      if (id > seen + 20) halted ??= user.call(`POST /api/chat/${chatId}/stop`, {});
      return false;
    },
  );
  assert.equal((await halted)?.status, 200);
  assert.equal(part.text + rest.text, (await whole).text);
  assert.equal(rest.done, true);
});
