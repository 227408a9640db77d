import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ModelRequest } from './protocol.ts';
import type { AnthropicBody } from './protocols/anthropic-request.ts';
import type { GeminiBody } from './protocols/gemini-request.ts';
import { protocols } from './protocols/protocols.ts';
import type { ResponsesBody } from './protocols/responses-request.ts';
import { initialDialect } from './provider-dialect.ts';
import type { ChatMessage } from './provider-messages.ts';

const png = 'data:image/png;base64,iVBORw0KGgo=';
const pdf = 'data:application/pdf;base64,JVBERi0xLjc=';
const call = (id: string, name: string, input: object) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: JSON.stringify(input) },
});
const earlier: ChatMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: 'Looking.', tool_calls: [call('functions.look:0', 'look', { at: 1 })] },
  { role: 'tool', tool_call_id: 'functions.look:0', content: '{"found":1}' },
  { role: 'assistant', content: 'One.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'And these?' },
      { type: 'image_url', image_url: { url: png } },
      { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
    ],
  },
];
const recent: ChatMessage[] = [
  { role: 'assistant', content: null, tool_calls: [call('c1', 'look', { at: 2 }), call('c2', 'look', {})] },
  { role: 'tool', tool_call_id: 'c1', content: 'two' },
  { role: 'tool', tool_call_id: 'c2', content: 'Error: nothing there' },
];
const look = { name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: { at: {} } } };
const request: ModelRequest = {
  modelId: 'model-1',
  history: JSON.stringify(earlier).slice(1, -1),
  messages: recent,
  tools: [{ ...look, name: 'other' }, look],
  maxOutputTokens: 4000,
};

function bodyText(
  kind: ProviderKind,
  extra: Partial<ModelRequest> = {},
  dialect = initialDialect('https://x.example/v1'),
) {
  return protocols[kind]().body({ ...request, ...extra }, dialect);
}
const parseAnthropic = (text: string): AnthropicBody => JSON.parse(text);
const parseResponses = (text: string): ResponsesBody => JSON.parse(text);
const parseGemini = (text: string): GeminiBody => JSON.parse(text);

test('Anthropic: alternates roles, puts results first, and marks the stable ends for the cache', () => {
  const body = parseAnthropic(bodyText('anthropic'));
  const mark = { cache_control: { type: 'ephemeral' } };
  assert.deepEqual(body.system, [{ type: 'text', text: 'Be brief.', ...mark }]);
  assert.deepEqual(
    body.tools?.map((tool) => [tool.name, tool.cache_control]),
    [
      ['other', undefined],
      ['look', mark.cache_control],
    ],
  );
  assert.deepEqual(body.messages, [
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 'functions_look_0', name: 'look', input: { at: 1 } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'functions_look_0', content: '{"found":1}' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'One.' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'And these?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjc=' },
          title: 'a.pdf',
          ...mark,
        },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'c1', name: 'look', input: { at: 2 } },
        { type: 'tool_use', id: 'c2', name: 'look', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: 'two' },
        { type: 'tool_result', tool_use_id: 'c2', content: 'Error: nothing there', ...mark },
      ],
    },
  ]);
  assert.equal(bodyText('anthropic').split('cache_control').length - 1, 4);
});

test('Responses: sends items in order, and stores nothing at the provider', () => {
  const body = parseResponses(bodyText('openai-responses'));
  assert.deepEqual([body.store, body.instructions], [false, 'Be brief.']);
  assert.deepEqual(body.include, ['reasoning.encrypted_content']);
  assert.deepEqual(body.input, [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Looking.' },
    { type: 'function_call', call_id: 'functions.look:0', name: 'look', arguments: '{"at":1}' },
    { type: 'function_call_output', call_id: 'functions.look:0', output: '{"found":1}' },
    { role: 'assistant', content: 'One.' },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'And these?' },
        { type: 'input_image', image_url: png, detail: 'auto' },
        { type: 'input_file', filename: 'a.pdf', file_data: pdf },
      ],
    },
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":2}' },
    { type: 'function_call', call_id: 'c2', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'two' },
    { type: 'function_call_output', call_id: 'c2', output: 'Error: nothing there' },
  ]);
});

test('Gemini: names the functions of results, and signs foreign calls once the server requires it', () => {
  const body = parseGemini(bodyText('gemini'));
  assert.deepEqual(body.systemInstruction, { parts: [{ text: 'Be brief.' }] });
  assert.deepEqual(
    body.contents.map((content) => content.role),
    ['user', 'model', 'user', 'model', 'user', 'model', 'user'],
  );
  assert.deepEqual(body.contents[4]?.parts, [
    { text: 'And these?' },
    { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
    { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0xLjc=' } },
  ]);
  assert.deepEqual(body.contents.slice(5), [
    {
      role: 'model',
      parts: [{ functionCall: { name: 'look', args: { at: 2 } } }, { functionCall: { name: 'look', args: {} } }],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'look', response: { result: 'two' } } },
        { functionResponse: { name: 'look', response: { result: 'Error: nothing there' } } },
      ],
    },
  ]);
  const dialect = { ...initialDialect(''), isSignatureNeeded: true };
  const signed = bodyText('gemini', {}, dialect);
  assert.equal(signed.split('skip_thought_signature_validator').length - 1, 1);
  assert.match(signed, /"args":\{"at":2\}\},"thoughtSignature"/);
});

test("returns a step's state unchanged, with the ids that its calls have here", () => {
  const step = (stepState: readonly unknown[]): ChatMessage[] => [
    { role: 'assistant', content: 'seen', tool_calls: [call('own1', 'look', {})], stepState },
    { role: 'tool', tool_call_id: 'own1', content: 'two' },
  ];
  const thinking = { type: 'thinking', thinking: 'a\ud800b\u0000', signature: 'c2ln' };
  const dialogue = [
    thinking,
    { type: 'redacted_thinking', data: 'x' },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
  ];
  const anthropic = parseAnthropic(bodyText('anthropic', { messages: step(dialogue) }));
  assert.deepEqual(anthropic.messages.at(-2)?.content, [dialogue[0], dialogue[1], { ...dialogue[2], id: 'own1' }]);

  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'enc' };
  const items = [reasoning, { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' }];
  const responses = parseResponses(bodyText('openai-responses', { messages: step(items) }));
  assert.deepEqual(responses.input.slice(-3, -1), [reasoning, { ...items[1], call_id: 'own1' }]);

  const parts = [
    { text: 'thought', thought: true },
    { functionCall: { id: 'g1', name: 'look', args: {} }, thoughtSignature: 'sig' },
  ];
  const gemini = parseGemini(bodyText('gemini', { messages: step(parts) }));
  assert.deepEqual(gemini.contents.at(-2), { role: 'model', parts });
  assert.deepEqual(gemini.contents.at(-1)?.parts, [
    { functionResponse: { id: 'g1', name: 'look', response: { result: 'two' } } },
  ]);
});

test('puts instructions first, or before the first message if the model has no place for them', () => {
  const history = JSON.stringify(earlier.slice(1)).slice(1, -1);
  const messages: ChatMessage[] = [{ role: 'system', content: 'Be kind.' }, ...recent];
  const chat = JSON.parse(bodyText('openai', { history, messages }));
  assert.deepEqual(chat.messages, [messages[0], ...earlier.slice(1), ...recent]);
  const dialect = { ...initialDialect(''), systemRole: false };
  const plain = JSON.parse(bodyText('openai', { history, messages }, dialect));
  assert.deepEqual(plain.messages[0], { role: 'user', content: 'Be kind.\n\nHello' });
  assert.equal(plain.messages.length, earlier.length - 1 + recent.length);
  assert.deepEqual(parseGemini(bodyText('gemini', { history, messages }, dialect)).contents[0]?.parts, [
    { text: 'Be kind.\n\nHello' },
  ]);
  assert.equal(parseResponses(bodyText('openai-responses', { history, messages }, dialect)).instructions, undefined);
});

test('translates parameters to each protocol, and sends no unset ones', () => {
  const parameters = {
    temperature: 0.5,
    topP: 0.9,
    reasoningEffort: 'high',
    verbosity: 'low',
    stop: ['END'],
    seed: 7,
  } as const;
  const all = { ...parameters, stop: ['END'] };
  const { messages: _messages, tools: _tools, ...chat } = JSON.parse(bodyText('openai', { parameters: all }));
  assert.deepEqual(chat, {
    model: 'model-1',
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 4000,
    temperature: 0.5,
    top_p: 0.9,
    stop: ['END'],
    seed: 7,
    reasoning_effort: 'high',
    verbosity: 'low',
  });
  const responses = parseResponses(bodyText('openai-responses', { parameters: all }));
  assert.deepEqual([responses.reasoning, responses.text], [{ effort: 'high', summary: 'auto' }, { verbosity: 'low' }]);
  const anthropic = parseAnthropic(bodyText('anthropic', { parameters: all, messages: [] }));
  assert.deepEqual(
    [anthropic.thinking, anthropic.output_config, anthropic.stop_sequences],
    [{ type: 'adaptive', display: 'summarized' }, { effort: 'high' }, ['END']],
  );
  const budget = { ...initialDialect(''), effortAs: 'budget' as const };
  const older = parseAnthropic(bodyText('anthropic', { parameters: all, messages: [] }, budget));
  assert.deepEqual([older.thinking, older.output_config], [{ type: 'enabled', budget_tokens: 2000 }, undefined]);
  assert.equal(parseAnthropic(bodyText('anthropic', { parameters: all }, budget)).thinking, undefined);
  const gemini = parseGemini(bodyText('gemini', { parameters: all }));
  assert.deepEqual(gemini.generationConfig, {
    maxOutputTokens: 4000,
    temperature: 0.5,
    topP: 0.9,
    stopSequences: ['END'],
    seed: 7,
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' },
  });
  const flash = parseGemini(bodyText('gemini', { parameters: all, modelId: 'gemini-2.5-flash' }));
  assert.equal(flash.generationConfig.thinkingConfig?.thinkingBudget, 24_576);
  const bare = [bodyText('openai'), bodyText('openai-responses'), bodyText('anthropic'), bodyText('gemini')].join();
  assert.doesNotMatch(bare, /temperature|top_?p|stop_?seq|seed|verbosity|effort|thinkingLevel|cache_key/i);
});
