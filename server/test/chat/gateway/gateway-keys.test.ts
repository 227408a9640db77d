import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { type Json, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { callsOf } from '../../usage/usage-makers.ts';
import { addModels } from '../chat-harness.ts';
import { type GatewayUser, gatewayUser } from './gateway-user.ts';

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

const body = (model: string, text = 'Hello', more: Json = {}) => ({
  model,
  messages: [{ role: 'user', content: text }],
  ...more,
});

function keyed(user: GatewayUser, key: string, given: Json, signal?: AbortSignal): Promise<Response> {
  const init = { headers: { 'idempotency-key': key }, ...(signal === undefined ? {} : { signal }) };
  return user.send('/v1/chat/completions', given, init);
}

test('answers one key once, whole and as a stream, and refuses it for another body', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['words-5']);
  for (const stream of [false, true]) {
    const key = `key ${stream}`;
    const texts: string[] = [];
    for (let time = 0; time < 3; time++) {
      const response = await keyed(user, key, body('words-5', 'Hello', { stream }));
      assert.equal(response.status, 200);
      texts.push(await response.text());
    }
    assert.equal(new Set(texts).size, 1, texts.join('\n'));
    const other = await keyed(user, key, body('words-5', 'Something else', { stream }));
    assert.equal(other.status, 409);
    assert.equal(JSON.parse(await other.text()).error.code, 'input_conflict');
  }
  assert.equal((await callsOf(app, user.id)).length, 2);
  for (const key of ['x'.repeat(256), ' ', 'ü']) {
    const refused = await keyed(user, key, body('words-5')).catch(() => undefined);
    if (refused !== undefined) assert.equal(refused.status, 400, key);
  }
  assert.equal((await keyed(user, 'x'.repeat(255), body('words-5'))).status, 200);
});

test('requests with the key of a running answer join it, also after their client left', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['pause-words-4@0']);
  const before = provider.requests.length;
  const leaving = new AbortController();
  const first = keyed(user, 'joined', body('pause-words-4@0'), leaving.signal).catch(() => undefined);
  await until(() => provider.requests.length === before + 1);
  leaving.abort();
  await first;
  const joining = [keyed(user, 'joined', body('pause-words-4@0')), keyed(user, 'joined', body('pause-words-4@0'))];
  provider.release();
  const texts = await Promise.all(joining.map(async (response) => (await response).text()));
  assert.equal(texts[0], texts[1]);
  assert.ok(JSON.parse(texts[0] ?? '').choices[0].message.content.length > 0);
  assert.equal(provider.requests.length, before + 1);
});

test('an answer that broke off with its process is run again once', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['words-5']);
  const { pool } = app.database.database;
  assert.equal((await keyed(user, 'broken', body('words-5'))).status, 200);
  const breakOff = (runs: number) =>
    pool.query(
      `update gateway_answers set answer = null, runs = $2, lease_until = now() - interval '1 second' where owner_id = $1`,
      [user.id, runs],
    );
  await breakOff(1);
  assert.equal((await keyed(user, 'broken', body('words-5'))).status, 200);
  assert.equal((await callsOf(app, user.id)).length, 2);
  await breakOff(2);
  assert.equal((await keyed(user, 'broken', body('words-5'))).status, 502);
  assert.equal((await callsOf(app, user.id)).length, 2);
});

test('a failed request frees its key', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['error-400', 'words-5']);
  const refused = await keyed(user, 'freed', body('error-400'));
  assert.notEqual(refused.status, 200);
  assert.equal((await keyed(user, 'freed', body('words-5'))).status, 200);
});
