import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resolveCredentials } from '../../src/catalogue/credentials.ts';
import { providerHeaders } from '../../src/catalogue/probes/provider-call.ts';
import { getOwnedProvider, listProviders, updateProvider } from '../../src/catalogue/providers.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type CatalogueTestDeps, catalogueDeps, encryptionKey, makeOwner, makeProvider } from './catalogue-makers.ts';

const apiKey = 'sk-canary-api-key-4711';
const headers = { 'X-Api-Key': 'canary-header-value', 'x-team': 'blue' };
const otherKey = 'another encryption key, also of more than 32 bytes';

let database: TestDatabase;
let deps: CatalogueTestDeps;
let wrong: CatalogueTestDeps;
before(async () => {
  database = await createTestDatabase();
  deps = catalogueDeps(database.database);
  wrong = catalogueDeps(database.database, otherKey);
});
after(() => database.drop());

async function withCredentials() {
  const owner = makeOwner();
  const id = await makeProvider(deps, owner, { apiKey, headers });
  return { owner, id, row: () => getOwnedProvider(deps, owner, id) };
}

async function firstOf(from: CatalogueTestDeps, owner: string, canEdit = true) {
  const [provider] = await listProviders(from, owner, canEdit);
  assert.ok(provider);
  return provider;
}

test('seals the key and never shows it, and shows headers to editors only', async () => {
  const { owner, row } = await withCredentials();
  const stored = JSON.stringify(await row());
  for (const secret of [apiKey, ...Object.values(headers), 'X-Api-Key']) assert.ok(!stored.includes(secret));
  const shown = await firstOf(deps, owner);
  assert.deepEqual([shown.hasApiKey, shown.headers, shown.credentialsError], [true, headers, undefined]);
  assert.ok(!JSON.stringify(shown).includes(apiKey));
  const member = await firstOf(deps, owner, false);
  assert.ok(!('headers' in member));
  assert.ok(!JSON.stringify(member).includes('canary'));
});

test('keeps an omitted key and clears it with null; keeps omitted headers and clears them with {}', async () => {
  const { owner, id, row } = await withCredentials();
  const before = await row();
  await updateProvider(deps, owner, { id, name: 'Renamed', baseUrl: 'https://b.example/v1' });
  const renamed = await row();
  assert.deepEqual([renamed.api_key, renamed.headers], [before.api_key, before.headers]);
  const cleared = await updateProvider(deps, owner, { id, apiKey: null });
  assert.deepEqual([cleared.provider.hasApiKey, cleared.provider.headers], [false, headers]);
  const bare = await updateProvider(deps, owner, { id, headers: {}, apiKey: 'sk-new' });
  assert.deepEqual([bare.provider.hasApiKey, bare.provider.headers], [true, {}]);
  assert.deepEqual(resolveCredentials(deps, await row()), { apiKey: 'sk-new', headers: {} });
});

test('a wrong encryption key at start breaks no list and destroys nothing, and restoring the key restores everything', async () => {
  const { owner, id, row } = await withCredentials();
  const before = await row();
  const shown = await firstOf(wrong, owner);
  assert.deepEqual(
    [shown.credentialsError, shown.headers, shown.hasApiKey, shown.name],
    ['credentials_unreadable', {}, true, 'Provider'],
  );
  const { provider } = await updateProvider(wrong, owner, { id, name: 'Renamed' });
  assert.equal(provider.credentialsError, 'credentials_unreadable');
  const after = await row();
  assert.deepEqual([after.name, after.api_key, after.headers], ['Renamed', before.api_key, before.headers]);
  assert.throws(() => resolveCredentials(wrong, after), { code: 'credentials_unreadable' });
  assert.deepEqual(resolveCredentials(deps, after), { apiKey, headers });
  assert.equal((await firstOf(deps, owner)).credentialsError, undefined);
});

test('entering the key again under the new encryption key repairs it, header by header or as a whole', async () => {
  const { owner, id, row } = await withCredentials();
  const half = await updateProvider(wrong, owner, { id, apiKey: 'sk-again' });
  assert.equal(half.provider.credentialsError, 'credentials_unreadable');
  const healed = await updateProvider(wrong, owner, { id, headers: { 'x-a': 'b' } });
  assert.equal(healed.provider.credentialsError, undefined);
  assert.deepEqual(resolveCredentials(wrong, await row()), { apiKey: 'sk-again', headers: { 'x-a': 'b' } });
});

test('opens values encrypted with a previous key', async () => {
  const { owner, row } = await withCredentials();
  const rotated = catalogueDeps(database.database, otherKey, [encryptionKey]);
  assert.deepEqual(resolveCredentials(rotated, await row()), { apiKey, headers });
  assert.equal((await firstOf(rotated, owner)).credentialsError, undefined);
});

test('refuses an encrypted value that was moved to another row or column', async () => {
  const [mine, theirs] = [await withCredentials(), await withCredentials()];
  const { pool } = database.database;
  const stolen = await theirs.row();
  await pool.query('update providers set api_key = $1 where id = $2', [stolen.api_key, mine.id]);
  assert.throws(() => resolveCredentials(deps, { ...stolen, id: mine.id }), { code: 'credentials_unreadable' });
  await pool.query('update providers set api_key = null, headers = $1 where id = $2', [stolen.api_key, theirs.id]);
  for (const { owner } of [mine, theirs]) {
    assert.equal((await firstOf(deps, owner)).credentialsError, 'credentials_unreadable');
  }
});

test('a custom authorization header takes precedence over the key', () => {
  assert.deepEqual(providerHeaders('openai', { apiKey: 'k', headers: { 'X-A': '1' } }), {
    authorization: 'Bearer k',
    'x-a': '1',
  });
  assert.deepEqual(providerHeaders('openai', { apiKey: 'k', headers: { Authorization: 'Basic x' } }), {
    authorization: 'Basic x',
  });
  assert.deepEqual(providerHeaders('openai', { apiKey: undefined, headers: {} }), {});
});
