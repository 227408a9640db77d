import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { noticesOf, packageFolders } from './notices.mjs';

const root = join(import.meta.dirname, '../..');
const server = createRequire(join(root, 'server/package.json'));
const web = createRequire(join(root, 'web/package.json'));

test('lists each bundled package once, with its version and license text', () => {
  const files = [server.resolve('pg'), server.resolve('pino'), web.resolve('react'), `${web.resolve('react')}?v=1`];
  const text = noticesOf([...files, join(root, 'server/src/main.ts')]);
  assert.equal(text.match(/^react \d+\.\d+\.\d+$/gm)?.length, 1);
  for (const name of ['pg', 'pino', 'react'])
    assert.match(text, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\n\\nLicence: MIT`, 'm'));
  assert.match(text, /Permission is hereby granted, free of charge/);
});

test('finds scoped and nested packages, and ignores own files', () => {
  assert.deepEqual(packageFolders([join(root, 'server/src/main.ts'), 'zod', '\0virtual:module']), []);
  const [folder] = packageFolders([web.resolve('@mantine/core')]);
  assert.ok(folder?.endsWith(join('node_modules', '@mantine', 'core')), folder);
});
