import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { modelBody } from './add-models.ts';

const sizes = { contextWindow: 128_000, maxOutputTokens: 8_192, tier: '2' };
const abilities = { images: true, documents: false, tools: true, temperature: true, reasoning: false } as const;
const known: ListedModel = {
  id: 'vendor/m-1',
  chat: true,
  displayName: 'M 1',
  contextWindow: 4_096,
  abilities,
  sources: { displayName: 'provider', contextWindow: 'provider', abilities: 'registry' },
};

test('prefers known sizes to entered ones and keeps the output within the window', () => {
  assert.deepEqual(modelBody('vendor/m-1', sizes, known), {
    displayName: 'M 1',
    contextWindow: 4_096,
    maxOutputTokens: 4_096,
    tier: 2,
    abilities,
    sources: known.sources,
  });
});

test('gives an unknown model the entered sizes and a name from its id', () => {
  assert.deepEqual(modelBody('vendor/m-1', sizes, undefined), {
    displayName: 'm-1',
    contextWindow: 128_000,
    maxOutputTokens: 8_192,
    tier: 2,
    sources: {},
  });
});
