import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model, Provider } from '@homeport/contracts/catalogue/catalogue';
import { groupModels } from './model-preferences.ts';

const tiers = [1, 2].map((value) => ({ value, label: `T${value}` }));
const nothing = { favorites: [], recent: [] };

function model(id: string, tier: number, fields: Partial<Model> = {}): Model {
  return {
    id,
    providerId: 'p',
    providerModelId: id,
    displayName: id,
    contextWindow: 1,
    maxOutputTokens: 1,
    tier,
    enabled: true,
    isDefault: false,
    parameters: {},
    prices: null,
    sources: {},
    lessons: [],
    standIns: [],
    createdAt: '',
    abilities: { images: true, documents: false, tools: true, temperature: true, reasoning: false },
    ...fields,
  };
}
function provider(name: string, models: Model[], fields: Partial<Provider> = {}): Provider {
  return {
    id: name,
    name,
    kind: 'openai',
    baseUrl: `https://${name}/v1`,
    hasApiKey: true,
    enabled: true,
    firstByteSeconds: null,
    canEdit: true,
    region: null,
    onlyRegions: [],
    createdAt: '',
    updatedAt: '',
    models,
    ...fields,
  };
}
const shown = (...given: Parameters<typeof groupModels>) =>
  groupModels(...given).map((group) => [
    group.kind === 'tier' ? group.tier.label + (group.isAlone ? ' alone' : '') : group.kind,
    ...group.entries.map((entry) => entry.model.id),
  ]);

test('lists each model once: as favorite, as recent, or under its tier', () => {
  const models = ['a', 'b', 'c', 'd', 'e', 'f'].map((id, index) => model(id, index < 3 ? 1 : 2));
  const catalogue = { providers: [provider('p', models)], modelTiers: tiers };
  const preferences = { favorites: ['e', 'gone'], recent: ['e', 'a'] };
  assert.deepEqual(shown(catalogue, preferences, undefined, ''), [
    ['favorites', 'e'],
    ['recent', 'a'],
    ['T1', 'b', 'c'],
    ['T2', 'd', 'f'],
  ]);
  assert.deepEqual(shown(catalogue, preferences, undefined, 'e'), [['favorites', 'e']]);
  const named = {
    ...catalogue,
    providers: [provider('Acme', [model('gpt-6', 1, { displayName: 'Big One' }), model('mini', 1)])],
  };
  const hits = (text: string) => shown(named, nothing, undefined, text).flatMap(([, ...ids]) => ids);
  assert.deepEqual([hits(' ONE  acme gpt'), hits('one mini'), hits('')], [['gpt-6'], [], ['gpt-6', 'mini']]);
});

test('a lone tier has no heading of its own; switched off models and providers are left out', () => {
  const off = [model('x', 1, { enabled: false })];
  const providers = [provider('p', [model('a', 2), ...off]), provider('q', [model('b', 1)], { enabled: false })];
  assert.deepEqual(shown({ providers, modelTiers: tiers }, nothing, undefined, ''), [['T2 alone', 'a']]);
});

test('lists a shared model under its owner’s tier, and hides it behind an own copy unless it is chosen', () => {
  const house = { canEdit: false, baseUrl: 'https://p/v1', modelTiers: [{ value: 1, label: 't2' }] };
  const shared = [model('s1', 1, { providerModelId: 'a', displayName: 'a' }), model('s2', 1)];
  const providers = [provider('p', [model('a', 1)]), provider('house', shared, house)];
  const catalogue = { providers, modelTiers: tiers };
  assert.deepEqual(shown(catalogue, nothing, undefined, ''), [
    ['T1', 'a'],
    ['T2', 's2'],
  ]);
  assert.deepEqual(shown(catalogue, nothing, 's1', ''), [
    ['T1', 'a'],
    ['T2', 's1', 's2'],
  ]);
});
