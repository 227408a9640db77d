import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model, Provider } from '@homeport/contracts/catalogue/catalogue';
import { effectiveModel, enabledModels, groupByTier } from './model-choice.ts';

const model = (id: string, change: Partial<Model> = {}): Model => ({
  id,
  providerId: 'p',
  providerModelId: id,
  displayName: id,
  contextWindow: 1000,
  maxOutputTokens: 100,
  tier: 1,
  enabled: true,
  isDefault: false,
  parameters: {},
  abilities: { images: true, documents: false, tools: true, temperature: true, reasoning: false },
  prices: null,
  sources: {},
  lessons: [],
  standIns: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  ...change,
});
const provider = (models: Model[], enabled = true): Provider => ({
  id: 'p',
  name: 'P',
  kind: 'openai',
  baseUrl: 'https://p.example/v1',
  hasApiKey: true,
  enabled,
  firstByteSeconds: null,
  canEdit: true,
  region: null,
  onlyRegions: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  models,
});

test('orders groups by tier and omits disabled models', () => {
  const providers = [
    provider([model('a'), model('b', { tier: 3 }), model('c', { enabled: false })]),
    provider([model('d')], false),
  ];
  const tiers = [
    { value: 3, label: 'High' },
    { value: 2, label: 'Medium' },
    { value: 1, label: 'Low' },
  ];
  assert.deepEqual(
    groupByTier(providers, tiers).map((group) => [group.tier.label, group.models.map((each) => each.id)]),
    [
      ['High', ['b']],
      ['Low', ['a']],
    ],
  );
  assert.deepEqual(
    enabledModels(providers).map((each) => each.id),
    ['a', 'b'],
  );
});

test('prefers the choice to the pin, the assistant’s model and the default', () => {
  const models = [model('a', { isDefault: true }), model('b'), model('c'), model('d', { tier: 3 })];
  const pinned = { modelPinned: true, modelId: 'b' };
  type Rest = Parameters<typeof effectiveModel> extends [unknown, ...infer Others] ? Others : never;
  const effective = (...args: Rest) => {
    const { model: found, kind } = effectiveModel(models, ...args);
    return [found?.id, kind];
  };
  assert.deepEqual(effective({ kind: 'keep' }, undefined), ['a', 'default']);
  assert.deepEqual(effective({ kind: 'keep' }, pinned), ['b', 'pin']);
  assert.deepEqual(effective({ kind: 'default' }, pinned), ['a', 'default']);
  assert.deepEqual(effective({ kind: 'once', modelId: 'c' }, pinned), ['c', 'once']);
  assert.deepEqual(effective({ kind: 'keep' }, { modelPinned: true, modelId: 'gone' }), ['a', 'default']);
  const assistant = { modelId: 'c', tier: 3 };
  assert.deepEqual(effective({ kind: 'keep' }, undefined, assistant), ['c', 'default']);
  assert.deepEqual(effective({ kind: 'default' }, pinned, assistant), ['c', 'default']);
  assert.deepEqual(effective({ kind: 'keep' }, pinned, assistant), ['b', 'pin']);
  assert.deepEqual(effective({ kind: 'keep' }, undefined, { modelId: null, tier: 3 }), ['d', 'default']);
  assert.deepEqual(effective({ kind: 'keep' }, undefined, { modelId: 'gone', tier: 9 }), ['a', 'default']);
});
