import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseSession } from './database.ts';
import {
  addModels,
  Caller,
  freePort,
  type Json,
  type Running,
  readEvents,
  scratchFolder,
  setUp,
  startProduct,
  startProvider,
} from './product.ts';

/**
 * The wrong SETTINGS_ENCRYPTION_KEY: the product starts and lists records, no data is destroyed, and the right key
 * restores access.
 */

const rightKey = 'the right key of thirty-two bytes or more';
const wrongKey = 'another key of also thirty-two bytes or so';
const authSecret = 'an auth secret of thirty-two bytes or more';

test('keeps all stored data when the encryption key changes, without decrypting it', async () => {
  const dataDir = scratchFolder();
  const port = await freePort();
  const provider = await startProvider();
  const start = (key: string, previous = '') => {
    const keys = { SETTINGS_ENCRYPTION_KEY: key, SETTINGS_ENCRYPTION_KEY_PREVIOUS: previous };
    return startProduct(dataDir, { AUTH_SECRET: authSecret, ...keys }, port);
  };
  let product = await start(rightKey);
  const caller = await setUp(product.url);
  await addModels(caller, provider.url, ['echo']);
  const headers = { 'x-team': 'blue' };
  const { provider: added } = await caller.must('POST', '/api/providers', { ...other(provider), headers });
  assert.equal(await say(caller), 'complete');
  const before = await envelopes(dataDir);
  await stop(product);

  product = await start(wrongKey);
  const listed = await caller.must('GET', '/api/providers');
  assert.deepEqual(errorsOf(listed), ['credentials_unreadable', 'credentials_unreadable']);
  assert.deepEqual([listed.providers[0].hasApiKey, listed.providers[0].models.length], [true, 1]);
  assert.equal(await say(caller), '409 credentials_unreadable');
  const tested = await caller.call('POST', '/api/providers/test', { id: added.id });
  assert.deepEqual([tested.status, tested.body.error.code], [409, 'credentials_unreadable']);
  // Renaming and enabling keep credentials that cannot be decrypted.
  await caller.must('PATCH', '/api/providers', { id: added.id, name: 'Renamed', enabled: true });
  assert.deepEqual(await envelopes(dataDir), before);
  // Entering it again makes it readable with this key.
  await caller.must('PATCH', '/api/providers', { id: added.id, apiKey: 'sk-entered-again', headers });
  assert.equal((await caller.must('POST', '/api/providers/test', { id: added.id })).ok, true);
  assert.deepEqual(errorsOf(await caller.must('GET', '/api/providers')), ['credentials_unreadable', undefined]);
  await stop(product);

  product = await start(rightKey, wrongKey);
  const restored = await caller.must('GET', '/api/providers');
  assert.deepEqual(errorsOf(restored), [undefined, undefined]);
  assert.deepEqual(restored.providers[1].headers, headers);
  assert.equal(await say(caller), 'complete');
  await stop(product);
  provider.kill('SIGKILL');
});

test('ends all sessions when AUTH_SECRET changes, and rejects tampered envelopes', async () => {
  const dataDir = scratchFolder();
  const port = await freePort();
  const provider = await startProvider();
  let product = await startProduct(dataDir, { AUTH_SECRET: authSecret, SETTINGS_ENCRYPTION_KEY: rightKey }, port);
  const caller = await setUp(product.url);
  await addModels(caller, provider.url, ['echo']);
  await caller.must('POST', '/api/providers', other(provider));
  const database = await DatabaseSession.open(dataDir);
  await database.query(
    `update providers p set api_key = o.api_key from providers o where p.id <> o.id and o.name = 'Second'`,
  );
  database.close();
  const [moved, own] = errorsOf(await caller.must('GET', '/api/providers'));
  assert.deepEqual([moved, own], ['credentials_unreadable', undefined], 'an envelope of another row does not open');
  assert.equal(await say(caller), '409 credentials_unreadable');
  await stop(product);

  product = await startProduct(dataDir, { AUTH_SECRET: `${authSecret}!`, SETTINGS_ENCRYPTION_KEY: rightKey }, port);
  assert.equal((await caller.call('GET', '/api/me')).status, 401);
  assert.equal((await new Caller(product.url, '').call('GET', '/api/health')).status, 200);
  await stop(product);
  provider.kill('SIGKILL');
});

const other = (provider: Running) => ({ name: 'Second', baseUrl: provider.url, apiKey: 'sk-second' });

const errorsOf = (list: Json): unknown[] => list.providers.map((provider: Json) => provider.credentialsError);

/** The sealed values as stored. */
async function envelopes(dataDir: string): Promise<unknown> {
  const database = await DatabaseSession.open(dataDir);
  const rows = await database.query('select id, api_key, headers from providers order by id');
  database.close();
  return rows;
}

/** One question in a new conversation: how the answer ended, or how it was refused. */
async function say(caller: Caller): Promise<string> {
  const { chat } = await caller.must('POST', '/api/chats', {});
  const message = { id: `m-${chat.id}`, parts: [{ type: 'text', text: 'Hello' }] };
  await caller.must('POST', '/api/chat/start', { chatId: chat.id, message });
  const response = await caller.fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chatId: chat.id, messageId: message.id }),
  });
  if (response.status !== 200) return `${response.status} ${JSON.parse(await response.text()).error.code}`;
  await readEvents(response);
  const { messages } = await caller.must('GET', `/api/chats?id=${chat.id}`);
  return messages.at(-1).status;
}

async function stop(product: Running): Promise<void> {
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);
}
