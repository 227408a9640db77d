import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@homeport/contracts/chat/conversations';
import { originsOf } from './file-origins.ts';

const id = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;
const message = (role: string, ...parts: unknown[]) => ({ role, parts }) as Message;
const file = (digit: number) => ({ type: 'file', mediaType: 'text/plain', url: `artifact://${id(digit)}` });
const published = (digit: number, state = 'output-available') => ({
  type: 'dynamic-tool',
  toolName: 'publish_artifact',
  state,
  output: { artifact: { id: id(digit), filename: 'a.txt' } },
});

test('tells attached from published files', () => {
  const origins = originsOf([
    message('user', { type: 'text', text: 'x' }, file(1), { type: 'file', mediaType: 'x', url: 'https://example.org' }),
    message('assistant', file(2), published(3), published(1), published(4, 'output-error')),
  ]);
  assert.deepEqual(
    [...origins],
    [
      [id(1), 'attached'],
      [id(2), 'published'],
      [id(3), 'published'],
    ],
  );
});
