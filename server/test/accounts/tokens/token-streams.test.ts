import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sessionCheckMs } from '../../../src/accounts/session-watch.ts';
import { createCaller, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { createToken, tokenCaller } from './token-calls.ts';

/** Streams that a token opened end with it, at every replica. */

let here: TestApp;
let there: TestApp;
let administrator: SignedIn;
before(async () => {
  here = await startTestApp();
  there = await startTestApp({ database: here.database });
  administrator = await here.signIn({ role: 'admin' });
});
after(async () => {
  await there.stop();
  await here.stop();
});

/** Opens a stream at both replicas; `ended` resolves once both have ended. */
async function follow(secret: string): Promise<{ ended: Promise<unknown>; isOpen: () => boolean }> {
  let open = 2;
  const streams = await Promise.all(
    [here, there].map(async (app) => {
      const response = await tokenCaller(app, secret).fetch('/api/chats/activity');
      assert.equal(response.status, 200);
      return response;
    }),
  );
  const ended = Promise.all(
    streams.map(async (response) => {
      await response.text();
      open -= 1;
    }),
  );
  return { ended, isOpen: () => open === 2 };
}

const config = (body: unknown) => administrator.call('POST /api/admin/config', body);

const endings: Record<string, (user: SignedIn, id: string) => Promise<unknown>> = {
  'it is deleted': (user, id) => user.call(`DELETE /api/me/tokens?id=${id}`),
  'an administrator deletes it': (_user, id) => administrator.call(`DELETE /api/admin/tokens?id=${id}`),
  'its owner is disabled': (user) => administrator.call('PATCH /api/admin/users', { id: user.id, enabled: false }),
  'it expires': (_user, id) =>
    here.database.database.pool.query('update access_tokens set expires_at = now() where id = $1', [id]),
  'tokens are for administrators only': () => config({ tokens: 'administrators' }),
};

for (const [name, end] of Object.entries(endings)) {
  test(`streams of a token end at both replicas when ${name}`, async (context) => {
    context.after(() => config({ tokens: 'everyone' }));
    const user = await here.signIn();
    const { id, secret } = await createToken(user, ['chats:read']);
    const other = await createToken(administrator, ['chats:read']);
    const mine = await follow(secret);
    const others = await follow(other.secret);
    const startedAt = performance.now();
    await end(user, id);
    await mine.ended;
    assert.ok(performance.now() - startedAt < 5_000 + sessionCheckMs, 'within the time of a check');
    assert.ok(others.isOpen(), 'the streams of other tokens go on');
    await administrator.call(`DELETE /api/me/tokens?id=${other.id}`);
    await others.ended;
  });
}

test('a session of the same person goes on when a token ends', async () => {
  const user = await here.signIn();
  const { id, secret } = await createToken(user, ['chats:read']);
  const mine = await follow(secret);
  const response = await createCaller(there.url, user.cookie).fetch('/api/chats/activity');
  await user.call(`DELETE /api/me/tokens?id=${id}`);
  const reader = response.body?.getReader();
  let isOpen = true;
  void reader?.closed.then(() => {
    isOpen = false;
  });
  await mine.ended;
  assert.ok(isOpen);
  await reader?.cancel();
});
