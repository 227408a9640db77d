import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import fc from 'fast-check';
import { type StoredMessage, toProviderMessages } from './provider-messages.ts';

const user = (...parts: MessagePart[]): StoredMessage => ({ role: 'user', parts });
const assistant = (...parts: MessagePart[]): StoredMessage => ({ role: 'assistant', parts });
const text = (value: string): MessagePart => ({ type: 'text', text: value, state: 'done' });
const file = (mediaType: string, url: string): MessagePart => ({ type: 'file', mediaType, url, filename: 'a.bin' });
const base64 = (value: string): string => Buffer.from(value).toString('base64');

test('converts text, instructions, empty messages, and consecutive user messages', () => {
  const messages = [user(text('One')), user(text('Two')), assistant(), assistant(text('')), user(text('Three'))];
  assert.deepEqual(toProviderMessages(messages, 'Be kind'), [
    { role: 'system', content: 'Be kind' },
    { role: 'user', content: 'One' },
    { role: 'user', content: 'Two' },
    { role: 'user', content: 'Three' },
  ]);
  assert.deepEqual(toProviderMessages([]), []);
});

test('sends images as they are, includes text, and only names other files and foreign URLs', () => {
  const image = `data:image/png;base64,${base64('png')}`;
  const [message] = toProviderMessages([
    user(
      text('Look'),
      file('image/png', image),
      file('text/plain', `data:text/plain;base64,${base64('grün')}`),
      file('application/json', 'data:application/json,%7B%7D'),
      file('application/pdf', 'data:application/pdf;base64,AAAA'),
      file('image/png', 'https://example.com/secret.png'),
    ),
  ]);
  assert.deepEqual(message, {
    role: 'user',
    content: [
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: image } },
      { type: 'text', text: '[File a.bin]\ngrün' },
      { type: 'text', text: '[File a.bin]\n{}' },
      { type: 'text', text: '[File a.bin (application/pdf) is not included: it is neither text nor an image]' },
      { type: 'text', text: '[File a.bin (image/png) is not included: only attached data is read]' },
    ],
  });
});

const call = (id: string, rest: Partial<Extract<MessagePart, { type: 'dynamic-tool' }>>): MessagePart => ({
  type: 'dynamic-tool',
  toolName: 'look',
  toolCallId: id,
  state: 'input-available',
  ...rest,
});
const toolTurn = assistant(
  { type: 'step-start' },
  { type: 'reasoning', text: 'Hm.', state: 'done' },
  text('Looking.'),
  call('a', { state: 'output-available', input: { at: 1 }, output: { seen: true } }),
  call('b', { state: 'output-error', input: 'not json', errorText: 'bad' }),
  call('c', { state: 'input-streaming' }),
  { type: 'step-start' },
  { type: 'reasoning', text: 'So.', state: 'done' },
  text('Seen.'),
);

test('keeps the order of tool calls, and pairs every call with a result', () => {
  const [, asked, ...rest] = toProviderMessages([user(text('Go')), toolTurn, user(text('And?'))]);
  assert.deepEqual(asked, {
    role: 'assistant',
    content: 'Looking.',
    tool_calls: [
      { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
      { id: 'b', type: 'function', function: { name: 'look', arguments: '{}' } },
      { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } },
    ],
  });
  assert.deepEqual(rest, [
    { role: 'tool', tool_call_id: 'a', content: '{"seen":true}' },
    { role: 'tool', tool_call_id: 'b', content: 'Error: bad' },
    { role: 'tool', tool_call_id: 'c', content: 'Error: Interrupted: the tool returned no result.' },
    { role: 'assistant', content: 'Seen.' },
    { role: 'user', content: 'And?' },
  ]);
});

test('returns reasoning only with the tool calls of the turn that continues', () => {
  const going = toProviderMessages([user(text('Go')), toolTurn]);
  assert.deepEqual(
    going.map((message) => ('reasoning_content' in message ? message.reasoning_content : undefined)),
    [undefined, 'Hm.', undefined, undefined, undefined, undefined],
  );
  const over = toProviderMessages([user(text('Go')), toolTurn, user(text('And?'))]);
  assert.ok(!JSON.stringify(over).includes('reasoning_content'));
});

test('pairs calls with results for any stored parts', () => {
  const parts = fc.oneof(
    fc.constant<MessagePart>({ type: 'step-start' }),
    fc.string().map(text),
    fc.string().map((value): MessagePart => ({ type: 'reasoning', text: value })),
    fc
      .tuple(fc.uuid(), fc.constantFrom('input-streaming', 'input-available', 'output-available', 'output-error'))
      .map(([id, state]) => call(id, { state, input: {}, output: null })),
    fc.jsonValue().map((data): MessagePart => ({ type: 'data-notice', data })),
  );
  const messages = fc.array(fc.record({ role: fc.constantFrom('user', 'assistant'), parts: fc.array(parts) }));
  fc.assert(
    fc.property(messages, (stored) => {
      const chat = toProviderMessages(stored);
      const open = new Set<string>();
      for (const message of chat) {
        if (message.role === 'tool') assert.ok(open.delete(message.tool_call_id));
        else assert.equal(open.size, 0);
        if (message.role === 'assistant') {
          assert.ok(message.content !== null || message.tool_calls !== undefined);
          for (const asked of message.tool_calls ?? []) open.add(asked.id);
        }
      }
      assert.equal(open.size, 0);
    }),
  );
});
