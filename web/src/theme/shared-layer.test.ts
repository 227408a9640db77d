import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

test('shared declarations lose against those of the components that compose them', () => {
  const rules = read('./shared.module.css').replace(/\/\*.*?\*\//gs, '');
  assert.match(rules.trim(), /^@layer shared \{.*\n\}$/s);
  assert.match(read('./styles.css').replace(/\/\*.*?\*\//gs, ''), /^\s*@layer mantine, shared;/);
});
