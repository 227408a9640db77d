import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { startTestApp, type TestApp } from '../app.ts';
import { addModels, answer, createChat, idle, postChat, readStream, submit } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/** GET /metrics (contract.md section 10). */

const metricsToken = 'a-token-for-metrics';
let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ config: { metricsToken } });
});
after(async () => {
  await app.stop();
  await provider.close();
});

async function read(authorization?: string) {
  const response = await fetch(`${app.url}/metrics`, { headers: authorization === undefined ? {} : { authorization } });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

function codeIn(text: string): string {
  return JSON.parse(text).error.code;
}

/** Values by series, as in `name{label="x"}`. */
async function series(): Promise<Map<string, number>> {
  const { status, text } = await read(`Bearer ${metricsToken}`);
  assert.equal(status, 200);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

test('requires the bearer token', async () => {
  for (const authorization of [
    undefined,
    'Bearer',
    'Bearer wrong',
    `Basic ${metricsToken}`,
    metricsToken,
    `Bearer ${metricsToken}x`,
  ]) {
    const { status, text, headers } = await read(authorization);
    assert.equal(status, 401, authorization);
    assert.equal(headers.get('www-authenticate'), 'Bearer');
    assert.equal(JSON.parse(text).error.code, 'unauthorized');
  }
  const { status, headers, text } = await read(`Bearer ${metricsToken}`);
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; version=0.0.4; charset=utf-8']);
  assert.match(text, /^process_resident_memory_bytes /m);
  assert.match(text, /^nodejs_eventloop_lag_p99_seconds /m);
});

test('answers 404 without a configured token, even to browsers', async () => {
  const bare = await startTestApp();
  try {
    for (const headers of [{}, { authorization: 'Bearer ' }, { authorization: 'Bearer undefined' }]) {
      const response = await fetch(`${bare.url}/metrics`, { headers });
      assert.deepEqual([response.status, codeIn(await response.text())], [404, 'not_found']);
    }
  } finally {
    await bare.stop();
  }
});

test('counts requests by row of the endpoint table, never by the requested path', async () => {
  const user = await app.signIn();
  const chat = await createChat(user);
  await user.call('POST /api/chat/:chatId/stop'.replace(':chatId', chat), {});
  await user.call('GET /api/chats', undefined, { query: { id: 'missing-one' } });
  await user.fetch('/api/no-such-place/secret-path');
  await user.fetch('/api/chats', { method: 'PROPFIND' });
  const counted = await series();
  const count = (labels: string) => counted.get(`homeport_http_request_duration_seconds_count{${labels}}`);
  assert.equal(count('method="POST",route="/api/chat/:chatId/stop",status="200"'), 1);
  assert.equal(count('method="GET",route="/api/chats",status="404"'), 1);
  assert.equal(count('method="GET",route="none",status="404"'), 1);
  assert.equal(count('method="other",route="none",status="405"'), 1);
  assert.ok(![...counted.keys()].some((name) => name.includes(chat) || name.includes('secret-path')));
});

test('measures responses, streams, calls, tokens and connections', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-5', 'hang-5']);
  const before = await series();
  const grown = async (name: string) => ((await series()).get(name) ?? 0) - (before.get(name) ?? 0);
  const chat = await createChat(user);
  await answer(user, chat, await submit(user, chat, 'Hello'));
  await idle(app);
  assert.equal(await grown('homeport_responses_total{state="complete"}'), 1);
  assert.equal(await grown('homeport_provider_call_duration_seconds_count{outcome="2xx"}'), 1);
  assert.ok((await grown('homeport_tokens_total{kind="output"}')) > 0);
  assert.ok(((await series()).get('homeport_database_connections{state="busy"}') ?? -1) >= 0);

  const models = (await user.call('GET /api/providers')).body.providers[0].models;
  const modelId = models.find((model: { displayName: string }) => model.displayName === 'hang-5').id;
  const other = await createChat(user);
  const leaving = new AbortController();
  const response = await postChat(
    user,
    { chatId: other, messageId: await submit(user, other, 'Go on'), modelId },
    { signal: leaving.signal },
  );
  const reading = readStream(response, ({ frame }) => frame.type === 'text-delta');
  await reading;
  const during = await series();
  assert.equal(during.get('homeport_responses_running'), 1);
  leaving.abort();
  await until(async () => (await series()).get('homeport_streams_open') === 0);
  await user.call(`POST /api/chat/${other}/stop`, {});
  await idle(app);
  assert.equal((await series()).get('homeport_responses_running'), 0);
  assert.equal(await grown('homeport_responses_total{state="stopped"}'), 1);
});
