import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels, createChat, nextId, postChat, readStream, submit } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  await provider.close();
});

async function ageSession(user: SignedIn): Promise<void> {
  const expires_at = new Date(Date.now() + 3 * 86_400_000);
  await app.service.deps.db.kysely.updateTable('sessions').set({ expires_at }).where('user_id', '=', user.id).execute();
}

test('the request that renews the session sets the cookie in streams, refusals and empty responses', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-3']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const requests = {
    stream: () => postChat(user, { chatId, messageId }),
    nothing: () => user.fetch(`/api/chat/${chatId}/stream`),
    missing: () => user.fetch(`/api/chat/${nextId('c')}/stream`),
    invalid: () => user.fetch('/api/chats?limit=0'),
  };
  for (const [name, send] of Object.entries(requests)) {
    await ageSession(user);
    const response = await send();
    assert.match(
      response.headers.getSetCookie().join('\n'),
      /^homeport\.session_token=[^\n]*Max-Age=604800[^\n]*$/,
      name,
    );
    await readStream(response);
    assert.equal((await user.fetch('/api/me')).headers.has('set-cookie'), false, 'once a day');
  }
});

test('a handler that sets the session cookie sets the only one', async () => {
  const user = await app.signIn();
  await ageSession(user);
  const renewed = await user.fetch('/api/auth/get-session');
  assert.equal(renewed.headers.getSetCookie().length, 1);
});
