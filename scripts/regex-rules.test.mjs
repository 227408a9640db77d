import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { analyze, checkRegexes } from './regex-rules.mjs';

const superLinear = [
  String.raw`/^\s*\|?(?:\s*:?-+:?\s*\|?)+\s*$/`,
  '/^(a+)+$/',
  String.raw`/\/+$/`,
  String.raw`/^(.*?)=(.*?)\s*$/`,
  String.raw`/\s+\S*$/`,
];
const linear = ['/^[a-z0-9-]{1,38}$/', '/[*_~]+/g', '/^:?-+:?$/'];

for (const pattern of superLinear)
  test(`finds the super-linear pattern ${pattern}`, async () => {
    assert.match(await analyze(pattern), /^(?:polynomial|exponential)$/);
  });

for (const pattern of linear)
  test(`accepts the linear pattern ${pattern}`, async () => {
    assert.equal(await analyze(pattern), 'linear');
  });

test('reports new, super-linear and unused patterns, and accepts a stated bound', async () => {
  const root = mkdtempSync(join(tmpdir(), 'homeport-regex-'));
  try {
    const plant = (path, text) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    plant('scripts/regex-verdicts.json', JSON.stringify({ '/x+$/': 'polynomial', '/gone/': 'linear' }));
    plant('web/src/a.ts', 'export const a = /x+$/;\n');
    plant('web/src/b.ts', '// regex-bound: 20 characters\nexport const b = /x+$/;\n');
    plant('server/src/c.ts', "export const c = new RegExp('^y$', 'u');\n");
    plant('server/src/c.test.ts', 'export const d = /(z+)+$/;\n');
    const found = await checkRegexes(root);
    assert.deepEqual(
      found.map(({ file, message }) => `${file}: ${message}`),
      [
        'server/src/c.ts: new pattern (linear): run node scripts/regex-rules.mjs',
        'web/src/a.ts: polynomial: /x+$/',
        'scripts/regex-verdicts.json: no longer used: /gone/',
      ],
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
