import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presetOfKey, presetValue, providerPresets } from './provider-presets.ts';

const byKey = (key: string) => {
  const preset = providerPresets.find((each) => each.key === key);
  assert.ok(preset);
  return preset;
};

test('a preset fills empty fields and those of another preset', () => {
  assert.equal(presetValue('name', byKey('ollama'), ''), 'Ollama');
  assert.equal(presetValue('baseUrl', byKey('ollama'), 'https://api.openai.com/v1'), 'http://localhost:11434/v1');
  assert.equal(presetValue('name', byKey('other'), 'Ollama'), '');
});

test('a preset leaves what the person wrote', () => {
  assert.equal(presetValue('name', byKey('ollama'), 'My box'), 'My box');
  assert.equal(presetValue('baseUrl', byKey('other'), 'http://box.lan/v1'), 'http://box.lan/v1');
});

test('picks a preset by key only if the prefix is unique', () => {
  const keys = {
    'sk-ant-api03-x': 'anthropic',
    ' AIzaSyX': 'gemini',
    'AQ.Ab8X': 'gemini',
    gsk_x: 'groq',
    'sk-or-v1-x': 'openrouter',
  };
  for (const [key, preset] of Object.entries(keys)) assert.equal(presetOfKey(key)?.key, preset);
  for (const key of ['sk-0123', 'x', '', 'Bearer sk-ant-x']) assert.equal(presetOfKey(key), undefined, key);
});

test('gives every preset its own address, and each hosted one a page for keys', () => {
  const given = providerPresets.filter(({ key }) => key !== 'other');
  assert.equal(given.length, 15);
  assert.equal(new Set(given.map(({ baseUrl }) => baseUrl)).size, 15);
  for (const { baseUrl, keys, isLocal } of given) {
    assert.equal(new URL(baseUrl).protocol, isLocal ? 'http:' : 'https:');
    assert.equal(keys === undefined, isLocal === true);
  }
});
