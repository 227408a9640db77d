import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedFacts } from './listed-facts.ts';
import shipped from './models.json' with { type: 'json' };
import { isForChat, ModelRegistry, parseRegistry, plainId } from './registry.ts';

const registry = ModelRegistry.of(parseRegistry(shipped));

test('returns window, longest answer, abilities and prices of a model at its own provider, with their sources', () => {
  assert.match(registry.source, /models\.dev at [0-9a-f]{40} \(\d{4}-\d{2}-\d{2}\), MIT/);
  const gemini = registry.find(
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'models/gemini-3.1-flash-lite',
  );
  assert.deepEqual(gemini, {
    displayName: 'Gemini 3.1 Flash Lite',
    contextWindow: 1_048_576,
    maxOutputTokens: 65_536,
    abilities: {
      images: true,
      documents: true,
      tools: true,
      temperature: true,
      reasoning: ['minimal', 'low', 'medium', 'high'],
    },
    prices: { input: 250_000, output: 1_500_000, cachedInput: 25_000, cacheWrite: null },
  });
});

test('returns everything except prices for the same model at another provider', () => {
  const local = registry.find('http://localhost:8000/v1', 'openai/gpt-oss-120b');
  assert.equal(local?.contextWindow, 131_072);
  assert.deepEqual(local?.abilities?.reasoning, ['low', 'medium', 'high']);
  assert.equal(local?.prices, undefined);
  assert.equal(registry.find('https://api.openai.com/v1', 'nobody-knows-this'), undefined);
  assert.equal(registry.find('not an address', 'gpt-4')?.contextWindow, 8192);
});

test('estimates prices where another server answers, if only the maker sells the model', () => {
  const proxy = 'http://proxy.internal:4000/v1';
  const listed = registry.find('https://api.openai.com/v1', 'gpt-4o')?.prices;
  assert.ok(listed);
  for (const id of [
    'gpt-4o',
    'openai/gpt-4o',
    'azure/gpt-4o',
    'GPT-4o',
    'openrouter/openai/gpt-4o',
    'gpt-4o-2099-01-01',
  ]) {
    assert.deepEqual(registry.estimatePrices(proxy, id), listed, id);
  }
  const claude = registry.find('https://api.anthropic.com', 'claude-sonnet-4-5')?.prices;
  assert.deepEqual(registry.estimatePrices(proxy, 'anthropic/claude-sonnet-4-5'), claude);
  // Anybody can run these, name a model so, or charge otherwise for a variant.
  const unclear = ['openai/gpt-oss-120b', 'gemma-4-31b-it', 'deepseek-chat', 'qwen3:8b', 'acme/gpt-4o', 'gpt-4o:free'];
  for (const id of [...unclear, 'my-gpt-4o', '', '/', 'gpt-4o/', '__proto__', 'constructor', 'x'.repeat(100_000)]) {
    assert.equal(registry.estimatePrices(proxy, id), undefined, id.slice(0, 50));
  }
  assert.equal(registry.estimatePrices('https://api.openai.com/v1', 'gpt-4o'), undefined);
});

test('finds ids with a vendor in front, and with a date, a tag or "latest" at the end', () => {
  for (const id of [
    'gpt-4o',
    'openai/gpt-4o',
    'gpt-4o-2024-08-06',
    'GPT-4o-20240806',
    'gpt-4o:free',
    'models/gpt-4o-latest',
  ]) {
    assert.equal(plainId(id), 'gpt-4o', id);
  }
  const dated = registry.find('https://api.anthropic.com', 'claude-sonnet-4-5-20991231');
  assert.equal(dated?.contextWindow, registry.find('https://api.anthropic.com', 'claude-sonnet-4-5')?.contextWindow);
});

test('recognizes models for purposes other than chat by their names', () => {
  const others = [
    'text-embedding-3-small',
    'Qwen/Qwen3-Embedding-8B',
    'whisper-1',
    'gpt-4o-mini-tts',
    'dall-e-3',
    'gpt-image-1',
  ];
  const more = [
    'omni-moderation-latest',
    'BAAI/bge-m3',
    'imagen-4.0',
    'veo-3',
    'qwen3-asr-flash',
    'llama-prompt-guard-2-86m',
  ];
  for (const id of [...others, ...more]) assert.equal(isForChat(id), false, id);
  const chats = [
    'gpt-5-nano',
    'claude-opus-4-5',
    'gemini-3.1-pro-preview',
    'qwen3-vl-8b-instruct',
    'mistral-large-latest',
    'o3',
  ];
  for (const id of [...chats, 'deepseek-chat', 'llama-3.3-70b', 'gemma3:27b']) assert.equal(isForChat(id), true, id);
});

test('reads the lists of all kinds of servers into one form', () => {
  const anthropic = {
    id: 'claude-x',
    display_name: 'Claude X',
    max_input_tokens: 200_000,
    max_tokens: 64_000,
    capabilities: { image_input: { supported: true }, thinking: { supported: false } },
    retires_at: '2027-01-31T00:00:00Z',
  };
  assert.deepEqual(listedFacts(anthropic), {
    displayName: 'Claude X',
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    abilities: { images: true, reasoning: false },
    endOfLife: '2027-01-31',
  });
  const openRouter = {
    id: 'a/b',
    name: 'A: B',
    context_length: 131_072,
    supported_parameters: ['tools', 'temperature', 'reasoning'],
    architecture: { input_modalities: ['text', 'image', 'file'] },
    top_provider: { max_completion_tokens: 8_192 },
    pricing: { prompt: '0.00000025', completion: '0.0000015', input_cache_read: '0', request: '0' },
  };
  assert.deepEqual(listedFacts(openRouter), {
    displayName: 'A: B',
    contextWindow: 131_072,
    maxOutputTokens: 8_192,
    abilities: { images: true, documents: true, tools: true, temperature: true, reasoning: [] },
    prices: { input: 250_000, output: 1_500_000, cachedInput: 0, cacheWrite: null },
  });
  assert.deepEqual(listedFacts({ id: 'm', max_model_len: 32_768 }), { contextWindow: 32_768 });
  assert.deepEqual(listedFacts({ id: 'm', meta: { n_ctx_train: 8_192 } }), { contextWindow: 8_192 });
  const loaded = { id: 'm', type: 'vlm', max_context_length: 131_072, loaded_context_length: 4_096 };
  assert.deepEqual(listedFacts(loaded), { contextWindow: 4_096 });
  const ollama = { name: 'gemma3', context_length: 4_096, capabilities: ['completion', 'vision', 'tools'] };
  assert.deepEqual(listedFacts(ollama), {
    displayName: 'gemma3',
    contextWindow: 4_096,
    abilities: { images: true, tools: true, reasoning: false },
  });
});

test('omits implausible values of a list', () => {
  for (const entry of [
    null,
    'text',
    [],
    {},
    { context_length: -1 },
    { max_model_len: 1.5 },
    { context_length: 1e12 },
  ]) {
    assert.deepEqual(listedFacts(entry), {});
  }
  const odd = {
    pricing: { prompt: 'free', completion: -1 },
    name: 'x'.repeat(300),
    retires_at: 'soon',
    capabilities: 3,
  };
  assert.deepEqual(listedFacts(odd), {});
});
