import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CookieRule, sessionCookie, sessionCookieReader, sessionCookies } from './session-cookie.ts';

const rule: CookieRule = { authSecret: 'a-secret-of-this-test-0123456789', secureCookie: false };
const pairOf = (cookie: string) => cookie.split(';')[0] ?? '';

test('reads a cached cookie the same each time and rejects any other signature', () => {
  const read = sessionCookieReader(rule);
  const cookie = pairOf(sessionCookie(rule, 'a-token'));
  for (let times = 0; times < 3; times += 1) assert.deepEqual(read(cookie), { token: 'a-token', remembered: true });
  assert.equal(read(cookie.replace('a-token', 'b-token')), undefined);
  assert.equal(read(`${cookie}x`), undefined);
  assert.equal(sessionCookieReader({ ...rule, authSecret: 'another-secret-0123456789-abcdef' })(cookie), undefined);
});

test('a browser that is to forget its session is known as such with the same token', () => {
  const read = sessionCookieReader(rule);
  const [session = '', forgetful = ''] = sessionCookies(rule, 'a-token', false).map(pairOf);
  assert.equal(read(session)?.remembered, true);
  assert.equal(read(`${session}; ${forgetful}`)?.remembered, false);
});

test('reads more sessions than fit in the cache', () => {
  const read = sessionCookieReader(rule);
  for (let index = 0; index < 2_100; index += 1) {
    assert.equal(read(pairOf(sessionCookie(rule, `token-${index}`)))?.token, `token-${index}`);
  }
});
