import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelRegistry, parseRegistry, parseRegistryInTurns } from '../server/src/catalogue/registry/registry.ts';
import { registryText } from './model-registry.mjs';

test('creates a registry from a file of models.dev, and refuses other files', async () => {
  const api = {
    openai: {
      models: {
        'gpt-x': {
          name: 'GPT X',
          limit: { context: 400_000, output: 128_000 },
          modalities: { input: ['text', 'image', 'pdf'] },
          reasoning: true,
          tool_call: true,
          temperature: false,
          cost: { input: 1.25, output: 10, cache_read: 0.125 },
          reasoning_options: [{ type: 'effort', values: ['low', 'high'] }],
        },
      },
    },
    unwanted: { models: { a: {} } },
  };
  const text = registryText(api, 'a test');
  assert.deepEqual(await parseRegistryInTurns(JSON.parse(text)), parseRegistry(JSON.parse(text)));
  const made = ModelRegistry.of(parseRegistry(JSON.parse(text)));
  assert.deepEqual(made.find('https://api.openai.com/v1', 'gpt-x')?.prices?.cachedInput, 125_000);
  assert.deepEqual(made.find('https://api.openai.com/v1', 'gpt-x')?.abilities?.reasoning, ['low', 'high']);
  assert.equal(made.find('', 'a'), undefined);
  for (const wrong of [
    null,
    {},
    { source: 's', providers: { p: { models: { m: { name: 'n', context: -1, output: 1 } } } } },
  ]) {
    assert.throws(() => parseRegistry(wrong));
    await assert.rejects(parseRegistryInTurns(wrong));
  }
});
