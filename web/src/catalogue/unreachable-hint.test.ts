import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unreachableHint } from './unreachable-hint.ts';

test('asks whether a server runs only for the person’s own machine or network', () => {
  for (const own of [
    'http://localhost:11434/v1',
    'http://127.0.0.1:1234',
    'http://192.168.1.5/v1',
    'http://10.0.0.2',
    'http://172.20.0.3',
    'http://[::1]:8000/v1',
    'http://[fd00::2]/v1',
    'http://ollama:11434/v1',
    'http://box.local',
    'http://gpu.home.arpa',
    'http://ollama.localhost',
  ])
    assert.equal(unreachableHint('refused', own), 'provider.unreachableHint', own);
  for (const away of [
    'https://api.openai.com/v1',
    'https://172.32.0.1',
    'https://[2606:4700::1]/v1',
    'https://locals.example',
  ])
    assert.equal(unreachableHint('refused', away), 'provider.unreachablePublicHint', away);
});

test('blames the name when it cannot be resolved', () => {
  assert.equal(unreachableHint('dns', 'https://api.opena.com/v1'), 'provider.unknownNameHint');
  assert.equal(unreachableHint('dns', 'http://ollama:11434/v1'), 'provider.unknownOwnNameHint');
});
