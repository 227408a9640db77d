import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model } from '@homeport/contracts/catalogue/catalogue';
import { rememberedModel, startDecision } from './last-model.ts';

const model = (id: string, isDefault = false) => ({ id, isDefault }) as Model;
const models = [model('a', true), model('b')];
const keep = { kind: 'keep' } as const;

test('begins a new conversation with the model chosen last', () => {
  assert.deepEqual(startDecision(keep, 'b', models, false), { kind: 'pin', modelId: 'b' });
  assert.deepEqual(startDecision(keep, '', models, false), keep);
  assert.deepEqual(startDecision(keep, 'a', models, false), keep, 'the default needs no choice');
  assert.deepEqual(startDecision(keep, 'gone', models, false), keep);
  assert.deepEqual(startDecision(keep, 'b', models, true), keep, 'an assistant’s model comes first');
  const once = { kind: 'once', modelId: 'a' } as const;
  assert.deepEqual(startDecision(once, 'b', models, false), once);
});

test('remembers a chosen model until the default is chosen again', () => {
  assert.equal(rememberedModel({ kind: 'pin', modelId: 'b' }, 'a'), 'b');
  assert.equal(rememberedModel({ kind: 'once', modelId: 'b' }, 'a'), 'a');
  assert.equal(rememberedModel({ kind: 'default' }, 'a'), '');
  assert.equal(rememberedModel(keep, 'a'), 'a');
});
