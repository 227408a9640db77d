import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readableDetail } from './readable-detail.ts';

const message = { id: 'm1', parts: [{ type: 'text', text: 'Hi' }], siblingIds: ['m1'] };
const detail = { chat: { id: 'c' }, messages: [message], inputs: [], response: null, nextBefore: null };

test('keeps a valid conversation, including unknown members of later versions', () => {
  const later = {
    ...detail,
    mood: 'calm',
    messages: [{ ...message, aura: 7, parts: [{ type: 'hologram', depth: 3 }] }],
  };
  assert.deepEqual(readableDetail(later), later);
  assert.deepEqual(readableDetail({ ...detail, response: { assistantId: 'a', messageId: 'm1' } })?.messages, [message]);
});

test('rejects data that is not a conversation', () => {
  const broken = [
    null,
    'text',
    [],
    { ...detail, chat: null },
    { ...detail, chat: {} },
    { ...detail, messages: 'none' },
    { ...detail, inputs: undefined },
    { ...detail, response: 7 },
  ];
  for (const each of broken) assert.equal(readableDetail(each), undefined, JSON.stringify(each));
});

test('skips only invalid messages and parts', () => {
  const parts = [null, 7, {}, { type: 'text' }, { type: 'dynamic-tool' }, { type: 'file' }, ...message.parts];
  const messages = [null, { id: 'm0' }, { ...message, siblingIds: undefined }, { ...message, parts }];
  assert.deepEqual(readableDetail({ ...detail, messages })?.messages, [message]);
});
