import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, startTestApp, type TestApp } from '../app.ts';

/** One line per request: enough to attribute every action, without the noise of probes. */

let app: TestApp;
const lines: Json[] = [];
before(async () => {
  app = await startTestApp({
    config: { trustedProxies: ['127.0.0.1'] },
    log: (line) => lines.push(JSON.parse(line)),
  });
});
after(() => app.stop());

const lineOf = (id: string) => lines.find(({ requestId }) => requestId === id);
const get = (path: string, id: string) =>
  app.anonymous.fetch(path, { headers: { 'x-request-id': id, 'x-forwarded-for': '203.0.113.9' } });

test("a request's line has the client's address behind a trusted proxy", async () => {
  await get('/api/me', 'one');
  assert.equal(lineOf('one').address, '203.0.113.9');
  assert.equal(lineOf('one').level, 30);
  await get('/api/nothing', 'two');
  assert.equal(lineOf('two').address, '203.0.113.9');
});

test('logs a successful health probe at debug only', async () => {
  await get('/api/health', 'three');
  assert.equal(lineOf('three').level, 20);
});
