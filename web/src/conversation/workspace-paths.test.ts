import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@homeport/contracts/chat/conversations';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { homePath, knownFiles, pathsWritten, writtenFiles } from './workspace-paths.ts';

const call = (toolName: string, input: unknown, state = 'output-available') =>
  ({ type: 'dynamic-tool', toolCallId: 'c', toolName, input, state, output: '' }) as MessagePart;
const message = (...parts: MessagePart[]) => ({ parts }) as unknown as Message;

test('finds the place in the home that a path names', () => {
  for (const [given, place] of [
    ['todo/index.html', '~/todo/index.html'],
    ['~/todo/index.html', '~/todo/index.html'],
    ['/home/user/todo/index.html', '~/todo/index.html'],
    ['./todo//index.html ', '~/todo/index.html'],
    ['Straße 1/ä.txt', '~/Straße 1/ä.txt'],
    ['/etc/passwd', undefined],
    ['~root/x', undefined],
    ['a/../../x', undefined],
    ['..', undefined],
    ['', undefined],
    ['~/', undefined],
    ['a\nb', undefined],
    ['a\0b', undefined],
    ['x'.repeat(2_000), undefined],
  ] as const) {
    assert.equal(homePath(given), place, given.slice(0, 40));
  }
});

test('lists each file that a file tool has written once', () => {
  assert.deepEqual(
    pathsWritten([
      call('write_file', { path: 'a.txt' }),
      call('edit_file', { path: '~/a.txt' }),
      call('edit_file', { path: 'b.txt' }),
      call('write_file', { path: 'failed.txt' }, 'output-error'),
      call('write_file', { path: '/etc/passwd' }),
      call('read_file', { path: 'c.txt' }),
      call('write_file', null),
      call('write_file', { path: 5 }),
      { type: 'text', text: 'a' } as MessagePart,
    ]),
    ['~/a.txt', '~/b.txt'],
  );
});

test('lists the files of a conversation, the newest first, and those that it read as known', () => {
  const messages = [
    message(call('write_file', { path: 'a.txt' }), call('read_file', { path: 'notes.md' })),
    message(call('write_file', { path: 'b.txt' }), call('edit_file', { path: 'a.txt' })),
  ];
  assert.deepEqual(writtenFiles(messages), ['~/a.txt', '~/b.txt']);
  assert.deepEqual([...knownFiles(messages)].sort(), ['~/a.txt', '~/b.txt', '~/notes.md']);
  const many = Array.from({ length: 5_000 }, (_, index) => call('write_file', { path: `${index}` }));
  assert.equal(knownFiles([message(...many)]).size, 2_000);
  assert.equal(writtenFiles([message(...many)]).length, 2_000);
});
