import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model } from '@homeport/contracts/catalogue/catalogue';
import { factFaults, modelFormValues, modelPatch } from './model-patch.ts';

const t = (id: string) => id;
const model: Model = {
  id: 'm',
  providerId: 'p',
  lessons: [],
  standIns: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  providerModelId: 'gpt-x',
  displayName: 'GPT X',
  contextWindow: 128_000,
  maxOutputTokens: 8_000,
  tier: 2,
  enabled: true,
  isDefault: false,
  parameters: {},
  abilities: { images: true, documents: false, tools: true, temperature: true, reasoning: ['low', 'high'] },
  prices: { input: 250_000, output: 1_500_000, cachedInput: 25_000, cacheWrite: null },
  sources: { contextWindow: 'provider', abilities: 'registry', prices: 'registry' },
};

test('sends only changed fields, so that others keep their source', () => {
  const values = modelFormValues(model);
  assert.deepEqual(modelPatch(model, values), { id: 'm' });
  assert.deepEqual(modelPatch(model, { ...values, tier: '3', displayName: ' GPT X ' }), { id: 'm', tier: 3 });
  assert.deepEqual(modelPatch(model, { ...values, contextWindow: 64_000 }), { id: 'm', contextWindow: 64_000 });
});

test('sends abilities and prices whole, including hidden members', () => {
  const values = modelFormValues(model);
  assert.deepEqual(values.prices, { input: 0.25, output: 1.5 });
  const blind = { ...values, abilities: { ...values.abilities, images: false } };
  assert.deepEqual(modelPatch(model, blind), { id: 'm', abilities: { ...model.abilities, images: false } });
  const dearer = { ...values, prices: { input: '0.3', output: 1.5 } };
  assert.deepEqual(modelPatch(model, dearer), { id: 'm', prices: { ...model.prices, input: 300_000 } });
  assert.deepEqual(modelPatch(model, { ...values, prices: { input: '', output: '' } }), { id: 'm', prices: null });
  const first = { ...values, prices: { input: 0.000001, output: '' } };
  const prices = { input: 1, output: null, cachedInput: null, cacheWrite: null };
  assert.deepEqual(modelPatch({ ...model, prices: null }, first), { id: 'm', prices });
});

test('accepts only prices within the bounds', () => {
  const faults = (input: number | string) => factFaults({ prices: { input, output: '' } }, t)['prices.input'];
  for (const fine of ['', 0, 0.25, 1_000_000]) assert.equal(faults(fine), null, String(fine));
  for (const odd of [-1, 1_000_001, 'x']) assert.equal(faults(odd), 'form.price', String(odd));
});
