import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSecrets, textsOf } from './secret-scan.ts';

const long = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7';
const keys = [
  `sk-${long}`,
  `sk-ant-api03-${long}`,
  `sk-or-v1-${long}`,
  `sk_live_${long}`,
  `gsk_${long}`,
  `ghp_${long}`,
  `github_pat_${long}`,
  `glpat-${long}`,
  'AKIAIOSFODNN7EXAMPLE',
  `AIza${long}12345678`,
  `xoxb-${long}`,
  `hp_${long}${long.slice(0, 22)}`,
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N',
  '-----BEGIN OPENSSH PRIVATE KEY-----',
  'postgres://homeport:s3cret-word@db.example.org/homeport',
  `Authorization: Bearer ${long}`,
  `API_KEY="${long}"`,
];
for (const key of keys) {
  test(`finds ${key.slice(0, 12)}… and shows only its beginning`, async () => {
    const found = await findSecrets(`Before ${key} after`, 10);
    assert.equal(found.length > 0, true);
    assert.ok(found.every(({ start }) => start.length <= 7));
  });
}

const harmless = [
  'The key to a good password is its length.',
  'https://example.org/a/b?token=none',
  'sk-learn is a library, and risk-free-investments-are-rare',
  'const password = readPassword();',
  '019f3b1c-7a2e-7c11-9d3e-0a1b2c3d4e5f',
];
for (const text of harmless) {
  test(`passes "${text.slice(0, 30)}"`, async () => assert.deepEqual(await findSecrets(text, 10), []));
}

test('finds a key across the border of two pieces, and stops at the limit', async () => {
  const text = `${' '.repeat(128 * 1024 - 5)}sk-${long} `;
  assert.equal((await findSecrets(text, 10)).length, 1);
  assert.equal((await findSecrets(keys.join(' '), 3)).length, 3);
});

test('finds a key at the beginning of a line, and in the input of a tool', async () => {
  const parts = [{ text: `My key:\nghp_${long}` }, { input: { command: ['run', `\tAKIAIOSFODNN7EXAMPLE`] } }];
  const found = await findSecrets(textsOf(parts), 10);
  assert.deepEqual(
    found.map(({ kind }) => kind),
    ['GitHub token', 'AWS access key'],
  );
});
