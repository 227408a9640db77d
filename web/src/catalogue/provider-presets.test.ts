import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presetValue, providerPresets } from './provider-presets.ts';

const byKey = (key: string) => {
  const preset = providerPresets.find((each) => each.key === key);
  assert.ok(preset);
  return preset;
};

test('a preset fills empty fields and those of another preset', () => {
  assert.equal(presetValue('name', byKey('Ollama'), ''), 'Ollama');
  assert.equal(presetValue('baseUrl', byKey('Ollama'), 'https://api.openai.com/v1'), 'http://localhost:11434/v1');
  assert.equal(presetValue('name', byKey('Other'), 'Ollama'), '');
});

test('a preset leaves what the person wrote', () => {
  assert.equal(presetValue('name', byKey('Ollama'), 'My box'), 'My box');
  assert.equal(presetValue('baseUrl', byKey('Other'), 'http://box.lan/v1'), 'http://box.lan/v1');
});
