import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findWebAddress, mayLeadTo } from './web-address.ts';

test('accepts pages of the web only, without their fragment', () => {
  assert.equal(findWebAddress(' https://Example.org/a?b#c ')?.href, 'https://example.org/a?b');
  assert.equal(findWebAddress('/next', new URL('http://example.org/a'))?.href, 'http://example.org/next');
  assert.equal(findWebAddress('http://example.org:8080/')?.href, 'http://example.org:8080/');
  const refused = [
    '',
    'example.org',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://name@example.org/',
    'https://:word@example.org/',
    'http://example.org:22/',
    'http://example.org:25/',
    'http://example.org:6667/',
    'http://example.org:0/',
    'https://exam ple.org/',
    'https://example.org/\u0000',
    `https://example.org/${'x'.repeat(2_048)}`,
    `https://example.org/${'ä'.repeat(500)}`,
  ];
  for (const raw of refused) assert.equal(findWebAddress(raw), undefined, raw);
});

test('no page of the web leads into a private network', () => {
  const cases: [from: string, to: string, isFollowed: boolean][] = [
    ['https://example.org/', 'https://example.com/', true],
    ['https://example.org/', 'http://10.0.0.1/', false],
    ['https://example.org/', 'http://[::1]/', false],
    ['https://example.org/', 'http://[::ffff:192.168.0.1]/', false],
    ['https://example.org/', 'http://localhost:3000/', false],
    ['https://example.org/', 'http://router.lan/', false],
    ['https://example.org/', 'http://printer/', false],
    ['http://10.0.0.1/', 'http://10.0.0.1/next', true],
    ['http://wiki.internal/', 'https://example.org/', true],
  ];
  for (const [from, to, isFollowed] of cases) assert.equal(mayLeadTo(new URL(from), new URL(to)), isFollowed, to);
});
