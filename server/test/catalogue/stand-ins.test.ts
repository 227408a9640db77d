import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/** Stand-ins and regions in the catalogue (contract.md section 12 "Stand-ins"). */

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  await provider.close();
});

const patch = (user: SignedIn, id: string | undefined, standIns: unknown) =>
  user.call('PATCH /api/models', { id, standIns });

async function listed(user: SignedIn): Promise<Json[]> {
  const { providers } = (await user.call('GET /api/providers')).body;
  return providers.flatMap(({ models }: Json) => models);
}

test('a model keeps up to three stand-ins in their order, from its creation or a change', async () => {
  const user = await app.signIn();
  const [a, b, c, d] = await addModels(user, provider, ['a', 'b', 'c', 'd']);
  assert.deepEqual((await listed(user))[0].standIns, []);
  assert.deepEqual((await patch(user, a, [d, b, c])).body.model.standIns, [d, b, c]);
  assert.deepEqual((await listed(user))[0].standIns, [d, b, c]);
  assert.deepEqual((await user.call('PATCH /api/models', { id: a, displayName: 'A' })).body.model.standIns, [d, b, c]);
  assert.deepEqual((await patch(user, a, [])).body.model.standIns, []);
  const { providerId } = (await listed(user))[0];
  const fields = { contextWindow: 1000, maxOutputTokens: 100, tier: 1, displayName: 'E' };
  const made = await user.call('POST /api/models', { ...fields, providerId, providerModelId: 'e', standIns: [b] });
  assert.deepEqual(made.body.model.standIns, [b]);
});

test('refuses itself, a fourth, the same twice, and models that their owner does not see', async () => {
  const user = await app.signIn();
  const stranger = await app.signIn();
  const [a, b, c, d, e] = await addModels(user, provider, ['a', 'b', 'c', 'd', 'e']);
  const [foreign] = await addModels(stranger, provider, ['f']);
  for (const standIns of [[a], [b, a], [b, b], [b, c, d, e], 'b', [1], null]) {
    const { status, body } = await patch(user, a, standIns);
    assert.deepEqual([status, body.error.code], [400, 'invalid_request'], JSON.stringify(standIns));
    assert.match(body.error.details[0].path, /^standIns/);
  }
  for (const id of [foreign, '01234567-89ab-7def-8123-456789abcdef']) {
    assert.deepEqual((await patch(user, a, [id])).status, 404);
  }
  assert.deepEqual((await patch(stranger, a, [foreign])).status, 404);
  assert.deepEqual((await listed(user))[0].standIns, []);
});

test('deleting a stand-in leaves the other ones', async () => {
  const user = await app.signIn();
  const [a, b, c] = await addModels(user, provider, ['a', 'b', 'c']);
  await patch(user, a, [b, c]);
  await user.call('DELETE /api/models', undefined, { query: { id: b ?? '' } });
  assert.deepEqual((await listed(user))[0].standIns, [c]);
});

test('readers of a shared model see those of its stand-ins that they see', async () => {
  const admin = await app.signIn({ role: 'admin' });
  const reader = await app.signIn();
  const [hidden] = await addModels(admin, provider, ['hidden']);
  const [shown, second] = await addModels(admin, provider, ['shown', 'second']);
  const { providers } = (await admin.call('GET /api/providers')).body;
  await admin.call('PATCH /api/providers', { id: providers[1].id, sharedWith: { userIds: [reader.id] } });
  await patch(admin, shown, [hidden, second]);
  assert.deepEqual((await listed(reader)).find(({ id }) => id === shown).standIns, [second]);
});

test('a provider has a region, and regions that its stand-ins may have', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['a']);
  const { providers } = (await user.call('GET /api/providers')).body;
  const { id } = providers[0];
  assert.deepEqual([providers[0].region, providers[0].onlyRegions], [null, []]);
  const change = async (fields: object) => (await user.call('PATCH /api/providers', { id, ...fields })).body;
  const { provider: changed } = await change({ region: 'EU', onlyRegions: ['EU', 'Switzerland'] });
  assert.deepEqual([changed.region, changed.onlyRegions], ['EU', ['EU', 'Switzerland']]);
  const { provider: cleared } = await change({ region: null, onlyRegions: [] });
  assert.deepEqual([cleared.region, cleared.onlyRegions], [null, []]);
  for (const fields of [
    { region: '' },
    { region: 'x'.repeat(41) },
    { region: 7 },
    { onlyRegions: null },
    { onlyRegions: [''] },
    { onlyRegions: Array.from({ length: 21 }, (_, index) => `r${index}`) },
  ]) {
    assert.equal((await change(fields)).error?.code, 'invalid_request', JSON.stringify(fields));
  }
});
