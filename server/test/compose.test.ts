import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { load } from 'js-yaml';
import { settingTable } from '../src/config/settings-table.ts';
import type { Json } from './app.ts';

/** deploy/compose.yaml: which settings reach the container. */

const deploy = join(import.meta.dirname, '../../deploy');
const compose: Json = load(readFileSync(join(deploy, 'compose.yaml'), 'utf8'));
const { homeport } = compose.services;
/** The port is published by compose, and the volume is mounted by it. */
const decided = ['HOST', 'PORT', 'DATA_DIR'];

test('every documented setting of .env reaches the container, except those that compose decides', () => {
  assert.deepEqual(homeport.env_file, ['.env']);
  const names = Object.values(settingTable).map(({ name }) => name);
  for (const [name, value] of Object.entries<string>(homeport.environment)) {
    assert.ok(names.includes(name.replace(/_FILE$/, '')), name);
    if (decided.includes(name) || name === 'SETUP_CLAIM_TOKEN_FILE') continue;
    // `environment` has precedence over `env_file`, so it takes the value from there.
    assert.ok(value.startsWith(`\${${name}:-`), `${name}: ${value}`);
  }
});

test('the example .env file names only settings, and variables of compose', () => {
  const names = new Set<string>(Object.values(settingTable).map(({ name }) => name));
  const text = readFileSync(join(deploy, 'compose.yaml'), 'utf8');
  for (const [, name = ''] of readFileSync(join(deploy, 'env.example'), 'utf8').matchAll(/^#?([A-Z_]+)=/gm)) {
    assert.ok(names.has(name) || text.includes(`\${${name}:`), name);
  }
});
