import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageAddress, safeLink } from './links.ts';

const id = '0192f0c1-7d3e-7abc-8def-0123456789ab';

test('allows web, mail and artifact links', () => {
  assert.deepEqual(safeLink('https://example.org/a?b#c'), { kind: 'external', href: 'https://example.org/a?b#c' });
  assert.deepEqual(safeLink('http://example.org'), { kind: 'external', href: 'http://example.org/' });
  assert.deepEqual(safeLink('mailto:a@example.org'), { kind: 'external', href: 'mailto:a@example.org' });
  assert.deepEqual(safeLink(`artifact://${id}`), { kind: 'artifact', id });
});

test('rejects all other links', () => {
  const addresses = [
    'javascript:alert(1)',
    ' JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,<script>1</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.org/x',
    'intent://x',
    '/api/auth/sign-out',
    '//evil.example',
    '#top',
    'settings',
    'https://',
    '',
    `artifact://${id}/../x`,
    'artifact://x',
  ];
  for (const address of addresses) assert.equal(safeLink(address), undefined, address);
});

test('allows only web images', () => {
  assert.equal(imageAddress('https://example.org/a.png')?.host, 'example.org');
  for (const address of ['data:image/svg+xml,<svg/>', 'blob:x', '/api/me', 'javascript:1'])
    assert.equal(imageAddress(address), undefined);
});
