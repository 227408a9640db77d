import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutEndpoint } from './base-url.ts';

test('cuts a pasted endpoint off a base URL', () => {
  const cases: [string, string, string | undefined][] = [
    ['https://a.test/v1/chat/completions', 'https://a.test/v1', '/chat/completions'],
    ['https://a.test/v1/chat/completions/', 'https://a.test/v1', '/chat/completions'],
    ['  https://a.test/v1/responses ', 'https://a.test/v1', '/responses'],
    ['https://a.test/v1/messages?beta=true', 'https://a.test/v1', '/messages'],
    ['https://a.test/v1/models?limit=1000&after_id=x', 'https://a.test/v1', '/models'],
    ['https://a.test/Models', 'https://a.test', '/Models'],
    [
      'https://a.test/openai/deployments/gpt/chat/completions?api-version=2024-10-21',
      'https://a.test/openai/deployments/gpt?api-version=2024-10-21',
      '/chat/completions',
    ],
    [
      'https://g.test/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=abc',
      'https://g.test/v1beta',
      '/models/gemini-2.5-pro:streamGenerateContent',
    ],
    ['https://a.test/v1/chat', 'https://a.test/v1', '/chat'],
    ['https://a.test/chat', 'https://a.test/chat', undefined],
    ['https://a.test/v1', 'https://a.test/v1', undefined],
    ['https://a.test/models/v1', 'https://a.test/models/v1', undefined],
    ['https://models.test/', 'https://models.test/', undefined],
    ['no address', 'no address', undefined],
  ];
  for (const [address, baseUrl, cut] of cases) assert.deepEqual(cutEndpoint(address), { baseUrl, cut }, address);
});
