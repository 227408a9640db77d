import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { assertCustomHeaders } from './headers.ts';

function detailsOf(headers: Record<string, string>): unknown {
  try {
    assertCustomHeaders(headers);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'invalid_request');
    assert.ok(!JSON.stringify(error.details).includes('hunter2'));
    return error.details;
  }
}

test('accepts ordinary headers', () => {
  assert.equal(detailsOf({}), undefined);
  assert.equal(
    detailsOf({ 'X-Api-Key': 'hunter2', Authorization: 'Bearer x', 'x-note': 'caf\u00e9\t!', cookie: 'a=b' }),
    undefined,
  );
  assert.equal(detailsOf(Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`x-${n}`, 'v']))), undefined);
});

const badNames = [
  'Host',
  'Content-Length',
  'TRANSFER-ENCODING',
  'connection',
  'Upgrade',
  'te',
  'Trailer',
  'Expect',
  'keep-alive',
]
  .concat(
    'proxy-authorization',
    'Proxy-Connection',
    'Accept-Encoding',
    'content-encoding',
    '',
    'a b',
    'a:b',
    'a\r\nb',
    'h\u00e9',
    ':path',
  )
  .concat('x'.repeat(129));
for (const name of badNames) {
  test(`the name ${JSON.stringify(name.slice(0, 30))} is refused`, () => {
    assert.equal(Array.isArray(detailsOf({ [name]: 'hunter2' })), true);
  });
}

test('rejects __proto__ as a name', () => {
  assert.equal(Array.isArray(detailsOf(JSON.parse('{"__proto__": "x"}'))), true);
});

for (const value of ['a\r\nb: c', 'a\nb', 'a\u0000b', 'a\u007fb', '\u{1f600}', '\u0100', 'v'.repeat(8193)]) {
  test(`the value ${JSON.stringify(value.slice(0, 20))} is refused`, () => {
    assert.equal(Array.isArray(detailsOf({ 'x-secret': value })), true);
  });
}

test('details name the header, and nothing else', () => {
  assert.deepEqual(detailsOf({ 'x-ok': 'hunter2', Host: 'hunter2' }), [
    { path: 'headers.Host', message: 'This header is set by the connection itself' },
  ]);
});

test('rejects one name in two spellings', () => {
  assert.deepEqual(detailsOf({ 'X-Key': 'a', 'x-key': 'b' }), [{ path: 'headers.x-key', message: 'Given twice' }]);
});

test('rejects more than 64 headers', () => {
  const headers = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`x-${n}`, 'v']));
  assert.deepEqual(detailsOf(headers), [{ path: 'headers', message: 'At most 64 headers' }]);
});
