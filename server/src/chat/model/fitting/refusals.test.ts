import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ModelRequest } from '../protocol.ts';
import { initialDialect } from '../provider-dialect.ts';
import type { ChatMessage } from '../provider-messages.ts';
import { createRequestFitter, learnFitting } from './request.ts';

const names = ['bash', 'ask', 'mcp__files__read', 'mcp__files__write', 'mcp__web__get', 'plan'];
const toolsOf = (list: readonly string[]) =>
  list.map((name) => ({ name, description: 'd'.repeat(2_000), inputSchema: { type: 'object', properties: {} } }));
const messages: ChatMessage[] = [
  { role: 'user', content: 'a' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'plan', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'x' },
  { role: 'user', content: 'b' },
];
const request: ModelRequest = { modelId: 'm', messages, tools: toolsOf(names), maxOutputTokens: 100 };

/** The omitted tools, the dialect and the request after these refusals. */
function omittedAfter(
  refusals: string[],
  { kind = 'openai', ...more }: Partial<ModelRequest> & { kind?: ProviderKind } = {},
) {
  const dialect = initialDialect('https://x.example/v1');
  const fit = createRequestFitter(kind);
  const given = { ...request, ...more };
  let times = 0;
  for (const refusal of refusals) {
    if (learnFitting(kind, dialect, fit(given, dialect).request, refusal, times) === 'tools') times++;
  }
  const { omitted, request: sent } = fit(given, dialect);
  return { names: omitted.map(({ name }) => name), dialect, sent };
}

const named: [string, ProviderKind, string][] = [
  ["Invalid schema for function 'ask': In context=(), object schema missing properties.", 'openai', 'ask'],
  [
    '{"error":{"message":"Invalid schema for function \\"ask\\": None is not of type \'array\'.","param":"tools[0].function.parameters"}}',
    'openai',
    'ask',
  ],
  [
    'tools.3.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level',
    'anthropic',
    'mcp__files__write',
  ],
  ['tools.4.input_schema.properties: Property keys should match pattern', 'anthropic', 'mcp__web__get'],
  [
    '* GenerateContentRequest.tools[0].function_declarations[2].parameters.properties[a].items: missing field.',
    'gemini',
    'mcp__files__read',
  ],
  [
    "Invalid value at 'tools[0].function_declarations[4].parameters' (oneof), oneof field is already set",
    'gemini',
    'mcp__web__get',
  ],
  [
    '{"detail":[{"type":"dict_type","loc":["body","tools",2,"function","parameters"],"msg":"Input should be a valid dictionary"}]}',
    'openai',
    'mcp__files__read',
  ],
  ["Invalid 'tools[4].function.parameters': schema is too deep", 'openai', 'mcp__web__get'],
  ['tool `mcp__web__get` has an invalid parameters schema', 'openai', 'mcp__web__get'],
];
for (const [refusal, kind, name] of named) {
  test(`leaves out the tool that the server refuses: ${refusal.slice(0, 60)}`, () => {
    assert.deepEqual(omittedAfter([refusal], { kind }).names, [name]);
  });
}

test('leaves out the tools of a server, then of all MCP servers, when one after another is refused', () => {
  const refused = (name: string): string => `Invalid schema for function '${name}': bad`;
  assert.deepEqual(omittedAfter([refused('mcp__files__read'), refused('mcp__web__get')]).names, [
    'mcp__files__read',
    'mcp__web__get',
  ]);
  const three = [refused('mcp__files__read'), refused('mcp__files__write'), refused('mcp__web__get')];
  assert.deepEqual(omittedAfter(three).names, ['mcp__files__read', 'mcp__files__write', 'mcp__web__get']);
});

test('leaves out all tools that one refusal names by their places', () => {
  const text = [1, 4].map((at) => `* GenerateContentRequest.tools[0].function_declarations[${at}].parameters: bad`);
  assert.deepEqual(omittedAfter([text.join('\n')], { kind: 'gemini' }).names, ['ask', 'mcp__web__get']);
});

test('begins with a message of the person where that is demanded', () => {
  const greeted: ChatMessage[] = [
    { role: 'system', content: 's' },
    { role: 'assistant', content: 'Welcome!' },
    { role: 'user', content: 'b' },
  ];
  const history = JSON.stringify(greeted).slice(1, -1);
  const { sent } = omittedAfter(['Conversation roles must alternate user/assistant'], { history, messages: [] });
  const roles = JSON.parse(`[${sent.history}]`).map(({ role }: ChatMessage) => role);
  assert.deepEqual(roles, ['system', 'user', 'assistant', 'user']);
});

test('tries a changed definition of a refused tool again', () => {
  const { dialect } = omittedAfter(["Invalid schema for function 'ask': bad"]);
  const changed = {
    name: 'ask',
    description: '',
    inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
  };
  const { omitted } = createRequestFitter('openai')({ ...request, tools: [changed] }, dialect);
  assert.deepEqual(omitted, []);
});

const counts: [string, number][] = [
  [
    "Invalid 'tools': array too long. Expected an array with maximum length 4, but got an array with length 6 instead.",
    4,
  ],
  ["'tools' : maximum number of items is 3", 3],
  [
    '{"detail":[{"type":"too_long","loc":["body","tools"],"msg":"List should have at most 5 items after validation, not 6","ctx":{"max_length":5}}]}',
    5,
  ],
  ['Too many tools: 6 > 2', 2],
  ['You can have no more than 4 functions in a request', 4],
  ['too many tools', 3],
];
for (const [refusal, max] of counts) {
  test(`learns how many tools a server takes: ${refusal.slice(0, 50)}`, () => {
    const { sent } = omittedAfter([refusal]);
    assert.equal(sent.tools?.length, max);
    assert.ok(
      sent.tools?.some(({ name }) => name === 'plan'),
      'the tool used last stays',
    );
  });
}

test('learns the maximum length of a description', () => {
  const text =
    "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got 2000.";
  const { sent, names: omitted } = omittedAfter([text]);
  assert.deepEqual(omitted, []);
  assert.ok(sent.tools?.every(({ description }) => description.length <= 1024));
});

test('takes refusals of other things for no refusal of a tool', () => {
  const others = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 500 in the functions).",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    'registry.ollama.ai/library/gemma3:4b does not support tools',
    'The model asked you to plan and ask',
    'Function calling is not enabled for models/gemma-3',
  ];
  for (const text of others) assert.deepEqual(omittedAfter([text]).names, [], text);
});

const unknownMember = [
  "body.messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported",
  "[{'type': 'extra_forbidden', 'loc': ('body', 'messages', 1, 'reasoning_content'), 'msg': 'Extra inputs are not permitted'}]",
  "Unrecognized key(s) in object: 'reasoning_content'",
  '"messages[1].reasoning_content" is not allowed',
  "Unknown parameter: 'messages[1].reasoning_content'.",
  'Additional properties are not allowed (reasoning_content was unexpected)',
  'json: unknown field "reasoning_content"',
];
for (const text of unknownMember) {
  test(`learns that a server takes no reasoning back: ${text.slice(0, 70)}`, () => {
    assert.deepEqual([...omittedAfter([text]).dialect.shape.refusedMembers], ['reasoning_content']);
  });
}

type Learned = { text: string; check: (dialect: ReturnType<typeof initialDialect>) => unknown; is: unknown };
const shapes: Learned[] = [
  {
    text: "property 'reasoning_content' is unsupported",
    check: (d) => [...d.shape.refusedMembers],
    is: ['reasoning_content'],
  },
  {
    text: '{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted"}]}',
    check: (d) => [...d.shape.refusedMembers],
    is: ['reasoning_content'],
  },
  {
    text: "'messages.1' : property 'reasoning' is unsupported",
    check: (d) => [...d.shape.refusedMembers],
    is: ['reasoning'],
  },
  {
    text: 'body.messages.1.assistant.reasoning_details: property is not supported',
    check: (d) => [...d.shape.refusedMembers],
    is: ['reasoning_details'],
  },
  {
    text: 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
    check: (d) => d.shape.reasoningAlways,
    is: true,
  },
  {
    text: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
    check: (d) => d.shape.reasoningAlways,
    is: true,
  },
  {
    text: 'Gemini models require OpenRouter reasoning details to be preserved in each request',
    check: (d) => d.shape.reasoningAlways,
    is: true,
  },
  {
    text: 'Function call is missing a thought_signature in functionCall parts.',
    check: (d) => d.isSignatureNeeded,
    is: true,
  },
  { text: 'Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9.', check: (d) => d.shape.ids, is: 'nine' },
  {
    text: "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 56 instead.",
    check: (d) => [d.shape.ids, d.shape.maxIdLength],
    is: ['any', 40],
  },
  {
    text: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    check: (d) => d.shape.ids,
    is: 'word',
  },
  { text: "Unexpected role 'user' after role 'tool'", check: (d) => d.shape.userAfterTool, is: false },
  { text: 'messages.1.content: Input should be a valid string', check: (d) => d.shape.emptyContent, is: 'text' },
  { text: 'messages.2.content: Input should be a valid string', check: (d) => d.shape.emptyContent, is: 'null' },
  { text: 'messages[1].content must not be empty', check: (d) => d.shape.emptyContent, is: 'absent' },
];
for (const { text, check, is } of shapes) {
  test(`learns the shape of messages: ${text.slice(0, 70)}`, () => {
    assert.deepEqual(check(omittedAfter([text]).dialect), is);
  });
}

test('sends steps of other models as text when nothing else is accepted', () => {
  const text = 'Gemini models require OpenRouter reasoning details to be preserved in each request';
  const { sent } = omittedAfter([text, text]);
  assert.deepEqual(
    sent.messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
});
