import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { searchKinds } from '@homeport/contracts/search-kinds';
import { createKeyRing } from '../../src/secrets/key-ring.ts';
import { resealSearchKeys } from '../../src/web-search/settings.ts';
import { type SignedIn, startTestApp, type TestApp, testConfig } from '../app.ts';
import { type FakeSearchService, startSearchService } from '../fakes/search-service.ts';

/** The settings of web search, the installation's and a person's own, and their test. */

let app: TestApp;
let admin: SignedIn;
let service: FakeSearchService;
before(async () => {
  service = await startSearchService();
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin' });
});
after(async () => {
  await app.stop();
  await service.close();
});
beforeEach(() => {
  service.requests.length = 0;
});

const put = 'PUT /api/admin/web-search';
const runTest = 'POST /api/admin/web-search/test';
const found = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    t: 0,
    url: `https://example.org/${index}`,
    title: `Title ${index}`,
    content: 'Text',
    description: 'Text',
    text: 'Text',
    snippet: 'Text',
  }));
/** A response with results as each service writes it. */
const responses = {
  searxng: { results: found(3) },
  brave: { type: 'search', web: { results: found(3) } },
  tavily: { results: found(3) },
  exa: { results: found(3) },
  kagi: { meta: {}, data: [...found(3), { t: 1, list: ['related'] }] },
} as const;

test('a fresh installation has no search service, and asks before effects', async () => {
  const { body } = await admin.call('GET /api/admin/web-search');
  const fresh = { kind: 'off', baseUrl: null, hasApiKey: false, forEveryone: true, askAfterReading: 'on' };
  assert.deepEqual(body, { webSearch: fresh });
  const user = await app.signIn();
  const own = await user.call('GET /api/me/web-search');
  assert.deepEqual(own.body, {
    webSearch: {
      kind: 'off',
      baseUrl: null,
      hasApiKey: false,
      askAfterReading: 'on',
      isAskForced: false,
      isOffered: false,
    },
  });
  assert.equal((await user.call(put, { kind: 'off' })).status, 403);
  assert.equal((await admin.call(runTest)).status, 400);
});

test('keeps an omitted key, clears it with null, and never shows it', async () => {
  const key = 'secret-search-key';
  const saved = await admin.call(put, {
    kind: 'brave',
    apiKey: key,
    forEveryone: false,
    askAfterReading: 'forced',
  });
  const expected = {
    kind: 'brave',
    baseUrl: null,
    hasApiKey: true,
    forEveryone: false,
    askAfterReading: 'forced',
  };
  assert.deepEqual(saved.body, { webSearch: expected });
  const kept = await admin.call(put, { kind: 'brave', forEveryone: true, askAfterReading: 'on' });
  assert.equal(kept.body.webSearch.hasApiKey, true);
  const { rows } = await app.database.database.pool.query('select * from web_search_settings');
  const audit = await admin.call('GET /api/admin/audit');
  for (const text of [saved.text, kept.text, audit.text, JSON.stringify(rows)]) assert.ok(!text.includes(key));
  assert.equal(audit.body.events[0].action, 'web_search.updated');
  assert.deepEqual(audit.body.events[0].details, { kind: 'brave', changed: ['forEveryone', 'askAfterReading'] });
  const cleared = await admin.call(put, { kind: 'brave', apiKey: null });
  assert.equal(cleared.body.webSearch.hasApiKey, false);
});

test('refuses what is no origin, SearXNG without one, and keys with spaces', async () => {
  const bad = [
    [{ kind: 'searxng' }, 'baseUrl'],
    [{ kind: 'searxng', baseUrl: null }, 'baseUrl'],
    [{ kind: 'searxng', baseUrl: 'https://search.example.org/path' }, 'baseUrl'],
    [{ kind: 'searxng', baseUrl: 'https://search.example.org/?q=1' }, 'baseUrl'],
    [{ kind: 'searxng', baseUrl: 'https://name:word@search.example.org' }, 'baseUrl'],
    [{ kind: 'searxng', baseUrl: 'file:///etc' }, 'baseUrl'],
    [{ kind: 'brave', apiKey: 'two words' }, 'apiKey'],
    [{ kind: 'google' }, 'kind'],
    [{ kind: 'off', askAfterReading: 'sometimes' }, 'askAfterReading'],
    [{ kind: 'off', forEveryone: 'yes' }, 'forEveryone'],
  ] as const;
  for (const [body, path] of bad) {
    const { status, body: answer } = await admin.call(put, body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.deepEqual(
      answer.error.details.map((detail: { path: string }) => detail.path),
      [path],
    );
  }
  const user = await app.signIn();
  assert.equal((await user.call('PUT /api/me/web-search', { kind: 'off', askAfterReading: 'forced' })).status, 400);
  const slash = await admin.call(put, { kind: 'searxng', baseUrl: 'HTTPS://Search.Example.org:443/' });
  assert.equal(slash.body.webSearch.baseUrl, 'https://search.example.org');
});

for (const kind of searchKinds) {
  test(`tests ${kind} with its own request, and counts the results`, async () => {
    service.reply({ body: responses[kind] });
    const saved = await admin.call(put, { kind, baseUrl: service.url, apiKey: 'the-key' });
    assert.equal(saved.status, 200);
    const { status, body } = await admin.call(runTest);
    assert.deepEqual([status, body], [200, { ok: true, results: 3 }]);
    const [request] = service.requests;
    const sent = JSON.stringify([request?.headers, request?.path]);
    assert.ok(sent.includes('the-key'), sent);
    const words = request?.query.get('q') ?? JSON.stringify(request?.body);
    assert.match(words ?? '', /Homeport/);
  });

  test(`reads a response of ${kind} without results, and odd members of one with results`, async () => {
    await admin.call(put, { kind, baseUrl: service.url, apiKey: 'the-key' });
    const listed = (list: unknown) => ({ type: 'search', results: list, data: list, web: { results: list } });
    const url = 'https://a.example/';
    const odd = [
      null,
      'text',
      [],
      {},
      { url: null, title: 'No address' },
      { url: 'javascript:alert(1)', title: 'No page' },
      { url: `${url}1`, title: null, content: 5, description: {}, text: [], snippet: null, publishedDate: 1e15 },
      { url: `${url}2`, title: 'x'.repeat(1_000_000), published_date: '31.02.2026', page_age: {}, published: '' },
      { url: `${url}2`, title: 'Twice' },
    ];
    for (const [body, results] of [
      [listed([]), 0],
      [listed(null), 0],
      [{ ...listed(odd), error: null }, 2],
    ] as const) {
      service.reply({ body });
      const answered = await admin.call(runTest);
      assert.deepEqual(
        [answered.status, answered.body],
        [200, { ok: true, results }],
        JSON.stringify(body).slice(0, 90),
      );
    }
    service.reply({ body: { ...listed(null), error: 'Invalid API key' } });
    assert.equal((await admin.call(runTest)).body.error?.details.reason, 'key');
  });

  test(`names the reason when ${kind} refuses the key, is used up, or answers something else`, async () => {
    await admin.call(put, { kind, baseUrl: service.url, apiKey: 'the-key' });
    const isSearxng = kind === 'searxng';
    const cases = [
      [{ status: 401, body: { detail: 'Unauthorized' } }, 'key'],
      [{ status: 403, body: isSearxng ? '<html>403' : { error: 'Forbidden' } }, isSearxng ? 'format' : 'key'],
      [{ status: 402, body: { error: 'Payment required' } }, 'quota'],
      [{ status: 429, headers: { 'retry-after': '60' }, body: { error: 'Too many' } }, 'quota'],
      [{ status: 422, body: { error: { code: 'SUBSCRIPTION_TOKEN_INVALID' } } }, 'key'],
      [{ status: 200, body: { error: [{ code: 1, msg: 'Insufficient credit' }] } }, 'quota'],
      [{ status: 200, body: { error: 'Invalid API key' } }, 'key'],
      [{ status: 200, type: 'text/html', body: '<!doctype html><p>hello' }, isSearxng ? 'format' : 'protocol'],
      [{ status: 200, body: 'not json' }, 'protocol'],
      [{ status: 200, body: { results: 'none' } }, 'protocol'],
      [{ status: 200, body: [] }, 'protocol'],
      [{ status: 404, body: 'Not Found' }, 'protocol'],
      [{ status: 503, body: 'unavailable' }, 'unreachable'],
      [{ status: 200, body: JSON.stringify({ results: 'x'.repeat(10 * 1024 * 1024) }) }, 'protocol'],
      [{ status: 200, headers: { 'content-encoding': 'gzip' }, body: 'x' }, 'protocol'],
    ] as const;
    for (const [reply, reason] of cases) {
      service.reply(reply);
      const { status, body } = await admin.call(runTest);
      const where = JSON.stringify(reply).slice(0, 200);
      assert.deepEqual([status, body.error.code, body.error.details.reason], [502, 'search_error', reason], where);
    }
  });
}

test('shows when a limit ends', async () => {
  service.reply({ status: 429, headers: { 'retry-after': '60' }, body: {} });
  await admin.call(put, { kind: 'tavily', baseUrl: service.url, apiKey: 'the-key' });
  const { body, headers } = await admin.call(runTest);
  assert.equal(headers.get('retry-after'), '60');
  const wait = Date.parse(body.error.details.values.retryAt) - Date.now();
  assert.ok(wait > 30_000 && wait <= 61_000, `${wait} ms`);
});

test('a service that needs a key is not asked without one, and a closed port is unreachable', async () => {
  await admin.call(put, { kind: 'exa', baseUrl: service.url, apiKey: null });
  const { body } = await admin.call(runTest);
  assert.deepEqual([body.error.details.reason, service.requests.length], ['key', 0]);
  const closed = await startSearchService();
  await closed.close();
  const unreachable = await admin.call(runTest, { kind: 'searxng', baseUrl: closed.url });
  assert.deepEqual([unreachable.status, unreachable.body.error.details.reason], [502, 'unreachable']);
});

test('tests given settings without saving them, with the stored key at its own origin only', async () => {
  service.reply({ body: responses.tavily });
  await admin.call(put, { kind: 'tavily', baseUrl: service.url, apiKey: 'the-key' });
  const given = await admin.call(runTest, { kind: 'tavily', baseUrl: service.url });
  assert.equal(given.status, 200);
  assert.equal(service.requests[0]?.headers.authorization, 'Bearer the-key');
  for (const stored of [undefined, {}]) assert.equal((await admin.call(runTest, stored)).status, 200);
  assert.equal((await admin.call(runTest, { apiKey: 'another-key' })).status, 200);
  assert.equal(service.requests.at(-1)?.headers.authorization, 'Bearer another-key');
  const other = await startSearchService();
  const moved = await admin.call(runTest, { kind: 'tavily', baseUrl: other.url });
  assert.deepEqual([moved.status, moved.body.error.code], [409, 'credentials_unreadable']);
  const saved = await admin.call(put, { kind: 'tavily', baseUrl: other.url });
  assert.equal(saved.body.webSearch.credentialsOrigin, service.url);
  assert.equal((await admin.call(runTest)).status, 409);
  assert.equal(other.requests.length, 0);
  await other.close();
});

test('a person’s own key is theirs, and goes with the account', async () => {
  service.reply({ body: responses.exa });
  const user = await app.signIn();
  const stranger = await app.signIn();
  const saved = await user.call('PUT /api/me/web-search', { kind: 'exa', baseUrl: service.url, apiKey: 'own-key' });
  assert.deepEqual(saved.body.webSearch.hasApiKey, true);
  assert.equal((await user.call('POST /api/me/web-search/test')).status, 200);
  assert.equal(service.requests[0]?.headers['x-api-key'], 'own-key');
  assert.equal((await stranger.call('GET /api/me/web-search')).body.webSearch.hasApiKey, false);
  await admin.call(put, { kind: 'off', forEveryone: true, askAfterReading: 'forced' });
  const forced = await user.call('PUT /api/me/web-search', { kind: 'exa', askAfterReading: 'off' });
  const { askAfterReading, isAskForced } = forced.body.webSearch;
  assert.deepEqual([askAfterReading, isAskForced], ['off', true]);
  await admin.call('DELETE /api/admin/users', undefined, { query: { id: user.id, data: 'keep' } });
  const { rows } = await app.database.database.pool.query('select 1 from web_search_settings where user_id = $1', [
    user.id,
  ]);
  assert.equal(rows.length, 0);
});

test('a rotation seals the keys again, and leaves unreadable ones', async () => {
  await admin.call(put, { kind: 'kagi', apiKey: 'the-key' });
  const current = 'another encryption key of more than 32 bytes';
  const db = app.database.database;
  const secrets = createKeyRing({ current, previous: [testConfig.encryptionKey] });
  const first = await resealSearchKeys({ db, secrets });
  const second = await resealSearchKeys({ db, secrets });
  assert.deepEqual([first.resealed, first.unreadable], [1, 0]);
  assert.deepEqual([second.resealed, second.current], [0, 1]);
  const lost = await resealSearchKeys({ db, secrets: createKeyRing({ current: 'x'.repeat(40), previous: [] }) });
  assert.deepEqual(lost.unreadableIds, ['installation']);
  const shown = await admin.call('GET /api/admin/web-search');
  assert.equal(shown.body.webSearch.credentialsError, 'credentials_unreadable');
});
