import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { searchableText } from '../../conversations/messages.ts';
import { promptOf } from '../turn/prompt.ts';
import { storeMessage } from './stored-message.ts';

const long = 'Größe "\u{1f600}" words \n'.repeat(60_000);
const messages: [string, 'user' | 'assistant', MessagePart[]][] = [
  ['a short message', 'user', [{ type: 'text', text: 'Hello' }]],
  [
    'a long message',
    'user',
    [
      { type: 'text', text: 'first' },
      { type: 'text', text: long },
    ],
  ],
  ['a long answer', 'assistant', [{ type: 'text', text: long, state: 'done' }]],
];

for (const [name, role, parts] of messages) {
  test(`${name} has the same columns whether it is made at once or in pieces`, async () => {
    const stored = await storeMessage(role, parts);
    const text = JSON.stringify(parts);
    assert.equal(String(stored.parts), text);
    assert.equal(stored.words, searchableText(text));
    const { prompt, promptTokens } = promptOf(role, parts);
    assert.deepEqual([String(stored.prompt), stored.promptTokens], [prompt, promptTokens]);
  });
}

test('a large message leaves the event loop to others between its steps', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await storeMessage('user', [{ type: 'text', text: 'x'.repeat(8_000_000) }]);
  isDone = true;
  assert.ok(turns >= 60, `${turns} turns`);
});
