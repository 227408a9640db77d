import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../app.ts';
import { sendRaw } from '../raw-request.ts';

/** Headers of every answer under /api (contract.md section 1). */

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const requests: [status: number, method: string, path: string][] = [
  [200, 'GET', '/api/health'],
  [200, 'GET', '/api/public-config'],
  [200, 'GET', '/api/openapi.json'],
  [200, 'GET', '/api/docs'],
  [200, 'GET', '/api/docs/swagger-ui.css'],
  [200, 'GET', '/api/docs/initializer.js'],
  [302, 'GET', '/api/auth/oauth2/callback/sso'],
  [401, 'GET', '/api/me'],
  [404, 'GET', '/api/nothing'],
  [404, 'POST', '/api/auth/sign-up/email'],
  [405, 'DELETE', '/api/health'],
];

for (const [status, method, path] of requests) {
  test(`${method} ${path}: has a request id and forbids caching`, async () => {
    const response = await app.anonymous.fetch(path, { method });
    await response.arrayBuffer();
    assert.equal(response.status, status);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.match(response.headers.get('x-request-id') ?? '', uuidV7);
    for (const id of ['Mine.1-_', 'x'.repeat(64)]) {
      const own = await app.anonymous.fetch(path, { method, headers: { 'x-request-id': id } });
      await own.arrayBuffer();
      assert.equal(own.headers.get('x-request-id'), id);
    }
    for (const id of ['x'.repeat(65), 'a b', 'ä', '']) {
      const replaced = await app.anonymous.fetch(path, { method, headers: { 'x-request-id': id } });
      await replaced.arrayBuffer();
      assert.match(replaced.headers.get('x-request-id') ?? '', uuidV7, id);
    }
  });
}

test('answers invalid HTTP with the same headers', async () => {
  for (const request of ['GET /api/me HTTP/1.1\r\nhost: a b\r\n', 'GET /api/me HTTP/1.1\r\nno header\r\n']) {
    const { status, head } = await sendRaw(app.url, `${request}connection: close\r\n\r\n`);
    assert.equal(status, 400);
    assert.match(/^x-request-id: (\S+)$/im.exec(head)?.[1] ?? '', uuidV7);
    assert.match(head, /^cache-control: no-store\r?$/im);
  }
});
