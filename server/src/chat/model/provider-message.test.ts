import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { firstSentence, withoutSecrets } from './provider-message.ts';

test('keeps the first sentence of a provider’s message', () => {
  const cases: [string, string | undefined][] = [
    ['Your credit balance is too low. Please go to Plans & Billing.', 'Your credit balance is too low.'],
    ['The model `gpt-4.1-mini-2025-04-14` does not exist', 'The model `gpt-4.1-mini-2025-04-14` does not exist'],
    ['line one\nline two', 'line one line two'],
    ['safe \u202egnp.exe\u200b text\u0007 here', 'safe gnp.exe text here'],
    ['<!doctype html><title>x</title>', undefined],
    ['', undefined],
    ['{}', undefined],
    [`${'long '.repeat(200)}`, `${'long '.repeat(200).slice(0, 299).trimEnd()}…`],
  ];
  for (const [message, expected] of cases) assert.equal(firstSentence(message), expected, message);
});

test('leaves out everything that looks like a key', () => {
  const secrets = [
    'sk-proj-abcDEF1234567890',
    'sk-abc***********wxyz',
    'xai-AbC123456',
    'AIzaSyD1234567890abcdefghijk',
    '0123456789abcdef0123456789abcdef',
    'org-Ab12Cd34Ef56',
    '8f14e45f-ceea-467a-9b2c-0123456789ab',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_123',
    '****da05',
  ];
  for (const secret of secrets) {
    for (const message of [
      `Incorrect API key provided: ${secret}.`,
      `bad "${secret}", sorry`,
      `key=${secret} is bad`,
    ]) {
      assert.ok(!(firstSentence(message) ?? '').includes(secret.slice(-4)), `${message} → ${firstSentence(message)}`);
    }
  }
});

test('leaves out any part of the key and the headers that were sent', () => {
  const failure = new ApiError('provider_error', 'x', {
    details: { reason: 'key', values: {}, providerMessage: 'The key hunter-two-longer ends in longer and is wrong' },
  });
  assert.deepEqual(withoutSecrets(failure, ['hunter-two-longer']).details, {
    reason: 'key',
    values: {},
    providerMessage: 'The key … ends in … and is wrong',
  });
});
