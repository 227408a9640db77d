import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ModelRequest } from '../protocol.ts';
import { protocols } from '../protocols/protocols.ts';
import { initialDialect, type ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage } from '../provider-messages.ts';
import { parseHistory } from '../request-parts.ts';
import { createMessageFitter } from './messages.ts';

const call = (id: string, name = 'look') => ({
  id,
  type: 'function' as const,
  function: { name, arguments: '{"at":1}' },
});
const asks = (...ids: string[]): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => call(id)),
});
const result = (id: string, content = 'found'): ChatMessage => ({ role: 'tool', tool_call_id: id, content });
const user = (content: string): ChatMessage => ({ role: 'user', content });
const says = (content: string): ChatMessage => ({ role: 'assistant', content });
const tools = [{ name: 'look', description: '', inputSchema: { type: 'object', properties: {} } }];

function fitted(
  history: ChatMessage[],
  messages: ChatMessage[] = [],
  {
    kind = 'openai',
    dialect = initialDialect('https://x.example/v1'),
    ...more
  }: Partial<ModelRequest> & { kind?: ProviderKind; dialect?: ProviderDialect } = {},
): ChatMessage[] {
  const request: ModelRequest = {
    modelId: 'm',
    history: JSON.stringify(history).slice(1, -1),
    messages,
    tools,
    maxOutputTokens: 100,
    ...more,
  };
  const sent = createMessageFitter(kind)(request, dialect);
  return [...parseHistory(sent.history), ...sent.messages];
}
const ids = (messages: ChatMessage[]): string[] =>
  messages.flatMap((message) =>
    message.role === 'assistant'
      ? (message.tool_calls ?? []).map(({ id }) => id)
      : message.role === 'tool'
        ? [message.tool_call_id]
        : [],
  );

test('leaves a history that every server takes as it is', () => {
  const history = [user('One'), says('Two'), user('Three')];
  assert.deepEqual(fitted(history), history);
});

test('gives calls with the same id in two turns different ids, with their results', () => {
  const history = [
    user('a'),
    asks('call_0'),
    result('call_0'),
    says('b'),
    user('c'),
    asks('call_0'),
    result('call_0'),
    user('d'),
  ];
  for (const kind of ['openai', 'openai-responses', 'anthropic'] as const) {
    const found = ids(fitted(history, [asks('call_0', 'call_1'), result('call_0'), result('call_1')], { kind }));
    assert.equal(new Set(found).size, 4, found.join());
    assert.deepEqual([found[0], found[1], found[2]], ['call_0', 'call_0', found[3]]);
    assert.deepEqual(
      ids(fitted(history, [asks('call_0', 'call_1'), result('call_0'), result('call_1')], { kind })),
      found,
    );
  }
});

test('writes the ids of calls as Mistral, OpenAI and Anthropic want them', () => {
  const history = [
    user('a'),
    asks(`toolu_${'x'.repeat(60)}`, 'functions.look:0'),
    result('functions.look:0'),
    user('b'),
  ];
  const dialects = {
    mistral: initialDialect('https://api.mistral.ai/v1'),
    family: initialDialect('http://127.0.0.1/v1', 'mistral-small-latest'),
    openai: initialDialect('https://api.openai.com/v1'),
  };
  for (const id of ids(fitted(history, [], { dialect: dialects.mistral }))) assert.match(id, /^[a-zA-Z0-9]{9}$/);
  for (const id of ids(fitted(history, [], { dialect: dialects.family }))) assert.match(id, /^[a-zA-Z0-9]{9}$/);
  for (const id of ids(fitted(history, [], { dialect: dialects.openai }))) assert.ok(id.length <= 40);
  for (const id of ids(fitted(history, [], { kind: 'anthropic' }))) assert.match(id, /^[a-zA-Z0-9_-]{1,64}$/);
  const [first, second, answered] = ids(fitted(history, [], { dialect: dialects.mistral }));
  assert.deepEqual([first === second, answered], [false, second]);
});

test('merges neighbors of one role, and keeps pictures', () => {
  const picture: ChatMessage = {
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
  };
  assert.deepEqual(fitted([user('a'), user('b'), picture], [user('c')]), [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a\n\nb' },
        ...(Array.isArray(picture.content) ? picture.content : []),
        { type: 'text', text: 'c' },
      ],
    },
  ]);
  assert.deepEqual(fitted([user('a'), says('b'), asks('c1'), result('c1')]), [
    user('a'),
    { ...asks('c1'), content: 'b' },
    result('c1'),
  ]);
  assert.deepEqual(fitted([user('a'), asks('c1', 'c2'), result('c1'), result('c2'), user('b')]).length, 5);
});

test('never lets a message of the person follow a tool result where that is refused', () => {
  const history = [user('a'), asks('abcdefghi'), result('abcdefghi'), user('b')];
  const dialect = initialDialect('https://api.mistral.ai/v1');
  assert.deepEqual(
    fitted(history, [], { dialect }).map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'user'],
  );
  assert.equal(fitted(history).length, 4);
});

test('sends tool steps as text when no tools are offered', () => {
  const history = [user('a'), { ...asks('c1'), content: 'Looking.' }, result('c1', 'two files'), says('b'), user('c')];
  const text = 'Looking.\n[Call of the tool look with {"at":1}]\n\n[Result of the tool look]\ntwo files\n\nb';
  assert.deepEqual(fitted(history, [], { tools: [] }), [user('a'), says(text), user('c')]);
  const running = fitted([user('a')], [asks('c1'), result('c1')], { tools: undefined });
  assert.deepEqual(
    running.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  for (const kind of ['anthropic', 'gemini', 'openai-responses'] as const) {
    assert.deepEqual(ids(fitted(history, [], { tools: [], kind })), []);
  }
});

test('leaves out results without a call', () => {
  assert.deepEqual(fitted([user('a'), result('c1'), asks('c2'), result('c2'), result('c2')]), [
    user('a'),
    asks('c2'),
    result('c2'),
  ]);
});

const state = [
  { members: { reasoning_content: 'I look.' }, calls: [{ extra_content: { google: { thought_signature: 'S' } } }] },
];
const thought: ChatMessage = { role: 'assistant', content: null, tool_calls: [call('c1')], stepState: state };

test('sends reasoning state back in the form it came in', () => {
  assert.deepEqual(fitted([user('a')], [thought, result('c1')])[1], {
    role: 'assistant',
    content: null,
    reasoning_content: 'I look.',
    tool_calls: [{ ...call('c1'), extra_content: { google: { thought_signature: 'S' } } }],
  });
});

test('sends state of earlier turns to the model that made it only, and text where it is demanded', () => {
  const history = [user('a'), { ...thought, stateOf: 'here' }, result('c1'), user('b')];
  const signed = { ...call('c1'), extra_content: { google: { thought_signature: 'S' } } };
  assert.deepEqual(fitted(history, [], { source: 'here' })[1], {
    role: 'assistant',
    content: null,
    tool_calls: [signed],
  });
  assert.deepEqual(fitted(history, [], { source: 'other' })[1], asks('c1'));
  for (const kind of ['anthropic', 'gemini', 'openai-responses'] as const) {
    assert.deepEqual(fitted(history, [], { source: 'here', kind })[1], asks('c1'));
  }
  const dialect = initialDialect('https://x.example/v1');
  dialect.shape.reasoningAlways = true;
  const sent = fitted(history, [], { source: 'here', dialect })[1];
  assert.deepEqual(sent, { role: 'assistant', content: null, reasoning_content: 'I look.', tool_calls: [signed] });
  const foreign = fitted(history, [], { source: 'other', dialect })[1];
  assert.deepEqual(foreign, { ...asks('c1'), reasoning_content: '[Not available]' });
});

test('leaves out members that the server refuses, and writes an empty content as it wants it', () => {
  const dialect = initialDialect('https://x.example/v1');
  dialect.shape.refusedMembers.add('reasoning_content').add('extra_content');
  assert.deepEqual(fitted([user('a')], [thought, result('c1')], { dialect })[1], asks('c1'));
  dialect.shape.emptyContent = 'text';
  assert.equal(fitted([user('a')], [asks('c1')], { dialect })[1]?.content, '');
  dialect.shape.emptyContent = 'absent';
  assert.equal(Object.hasOwn(fitted([user('a')], [asks('c1')], { dialect })[1] ?? {}, 'content'), false);
});

test('sends the thoughts of Mistral as part of the content', () => {
  const mistral: ChatMessage = {
    ...thought,
    content: 'Looking.',
    stepState: [{ members: { thinking: 'Hm.' }, calls: [] }],
  };
  assert.deepEqual(fitted([user('a')], [mistral, result('c1')])[1]?.content, [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
    { type: 'text', text: 'Looking.' },
  ]);
});

test('keeps the sides of Anthropic and Gemini in turns', () => {
  const history: ChatMessage[] = [{ role: 'system', content: 's' }, says('Welcome!'), user('a')];
  for (const kind of ['anthropic', 'gemini'] as const) {
    const sent = fitted(history, [user('note')], { kind });
    assert.deepEqual(
      sent.map(({ role }) => role),
      ['system', 'user', 'assistant', 'user', 'user'],
    );
    const dialect = initialDialect('https://x.example');
    const request = {
      modelId: 'm',
      history: JSON.stringify(history).slice(1, -1),
      messages: [user('note')],
      maxOutputTokens: 9,
    };
    const body = JSON.parse(protocols[kind]().body(createMessageFitter(kind)(request, dialect), dialect));
    assert.equal((body.messages ?? body.contents).length, 3);
  }
});
