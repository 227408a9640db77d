import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFailure } from './api-failure.ts';

const html = (title: string) => `<html><head><title>${title}</title></head><body>${title}</body></html>`;

const cases: [status: number, headers: Record<string, string>, body: string, code: string, name?: string][] = [
  [401, {}, html('401 Authorization Required'), 'proxy_sign_in'],
  [403, { server: 'cloudflare' }, html('Just a moment...'), 'proxy_sign_in', 'Cloudflare'],
  [413, { server: 'nginx/1.22.1' }, html('413 Request Entity Too Large'), 'proxy_too_large', 'nginx'],
  [413, {}, `${html('413')}<hr><center>openresty/1.25</center>`, 'proxy_too_large', 'OpenResty'],
  [413, {}, 'Request Entity Too Large', 'proxy_too_large'],
  [502, {}, '<html><h1>502 Bad Gateway</h1><hr>nginx', 'proxy_failed', 'nginx'],
  [429, {}, 'Too Many Requests', 'proxy_failed'],
  [524, {}, '', 'proxy_failed'],
  [413, {}, '{"error":{"code":"payload_too_large","message":"Too large"}}', 'payload_too_large'],
  [200, {}, '<html>', 'unreadable'],
];

test('tells the answers of a proxy from those of the server', () => {
  for (const [status, headers, body, code, name] of cases) {
    const failure = readFailure(status, new Headers(headers), body, 3_000_000);
    assert.deepEqual([failure.code, failure.proxy?.name], [code, name], `${status} ${body}`);
  }
});

test('names the size of the request and the setting that limits it', () => {
  const failure = readFailure(413, new Headers({ server: 'nginx' }), '', 3_000_000);
  assert.deepEqual(failure.proxy, { name: 'nginx', sizeSetting: 'client_max_body_size', bytes: 3_000_000 });
});

test('a request that a proxy found too large had no effect, unlike one behind an ended session', () => {
  assert.equal(readFailure(413, new Headers(), '').isRefusal, true);
  assert.equal(readFailure(401, new Headers(), '').isRefusal, false);
  assert.equal(readFailure(429, new Headers(), '').isRefusal, false);
});
