import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model } from '@homeport/contracts/catalogue/catalogue';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { refreshChanges, removedModels } from './refresh-changes.ts';

const abilities = { images: true, documents: false, tools: true, temperature: true, reasoning: false } as const;
const prices = { input: 1, output: 2, cachedInput: null, cacheWrite: null };

function model(fields: Partial<Model>): Model {
  return {
    id: 'm',
    providerId: 'p',
    providerModelId: 'x',
    displayName: 'X',
    contextWindow: 100,
    maxOutputTokens: 50,
    tier: 1,
    enabled: true,
    isDefault: false,
    parameters: {},
    abilities,
    prices,
    lessons: [],
    standIns: [],
    createdAt: '',
    sources: { contextWindow: 'provider', maxOutputTokens: 'registry', abilities: 'registry', prices: 'registry' },
    ...fields,
  };
}
const listed = (fields: Partial<ListedModel>): ListedModel => ({
  id: 'x',
  chat: true,
  abilities,
  sources: {},
  ...fields,
});
const bodies = (one: Model, fresh: ListedModel) => refreshChanges([one], [fresh]).map(({ body }) => body);

test('lists each difference with its source', () => {
  const fresh = listed({
    displayName: 'New',
    contextWindow: 200,
    maxOutputTokens: 50,
    prices: { ...prices, input: 3 },
    sources: { displayName: 'provider', contextWindow: 'provider', maxOutputTokens: 'registry', prices: 'registry' },
  });
  assert.deepEqual(bodies(model({}), fresh), [
    {
      id: 'm',
      contextWindow: 200,
      prices: { ...prices, input: 3 },
      sources: { contextWindow: 'provider', prices: 'registry' },
    },
  ]);
});

test('keeps values that a person entered, with or without a stored source', () => {
  const sources = { contextWindow: 'provider', prices: 'provider', abilities: 'provider' } as const;
  const fresh = listed({ contextWindow: 9, prices, abilities: { ...abilities, tools: false }, sources });
  const own = model({ sources: { contextWindow: 'person', prices: 'person' } });
  assert.deepEqual(bodies(own, fresh), []);
  assert.deepEqual(
    bodies(model({}), listed({ abilities: { ...abilities, reasoning: ['low'] } })),
    [],
    'nobody says so',
  );
});

test('a smaller window shortens the longest answer as well', () => {
  const fresh = listed({ contextWindow: 40, sources: { contextWindow: 'provider' } });
  assert.deepEqual(bodies(model({}), fresh), [
    {
      id: 'm',
      contextWindow: 40,
      maxOutputTokens: 40,
      sources: { contextWindow: 'provider', maxOutputTokens: 'registry' },
    },
  ]);
});

test('ignores the order of members and reports models that are no longer listed', () => {
  const { images, ...rest } = abilities;
  const sources = { abilities: 'registry' } as const;
  assert.deepEqual(bodies(model({}), listed({ abilities: { ...rest, images }, sources })), []);
  assert.deepEqual(
    removedModels([model({}), model({ id: 'n', providerModelId: 'y' })], [listed({})]).map(({ id }) => id),
    ['n'],
  );
});
