import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangedFile } from '@homeport/contracts/workspace/daemon';
import { AnswersUndo, filesToUndo, type Step } from './answers-undo.ts';

/** Answers `a` to `c` with a log of their undo and redo steps. */
function world(conflicts: Record<string, string[]> = {}) {
  const done: string[] = [];
  const step: Step = async (messageId, direction, force) => {
    const found = direction === 'undo' && !force ? (conflicts[messageId] ?? []) : [];
    if (found.length === 0) done.push(`${direction} ${messageId}${force ? ' by force' : ''}`);
    return { conflicts: found, skipped: direction === 'undo' && messageId === 'a' ? ['left.txt'] : [] };
  };
  return { done, taking: new AnswersUndo(['c', 'b', 'a'], step) };
}

test('undoes answers from the newest to the oldest', async () => {
  const { done, taking } = world();
  assert.deepEqual(await taking.undo(), []);
  assert.deepEqual(done, ['undo c', 'undo b', 'undo a']);
  assert.deepEqual(taking.skipped, ['left.txt']);
});

test('stops at conflicts; force applies to that answer only', async () => {
  const { done, taking } = world({ b: ['mine.txt'], a: ['also.txt'] });
  assert.deepEqual(await taking.undo(), ['mine.txt']);
  assert.deepEqual(await taking.undo(true), ['also.txt']);
  assert.deepEqual(done, ['undo c', 'undo b by force']);
  assert.deepEqual(await taking.undo(true), []);
  assert.deepEqual(done.at(-1), 'undo a by force');
});

test('restores everything when canceled', async () => {
  const { done, taking } = world({ a: ['mine.txt'] });
  await taking.undo();
  await taking.giveUp();
  assert.deepEqual(done, ['undo c', 'undo b', 'redo b', 'redo c']);
  await taking.undo(true);
  assert.deepEqual(done.slice(4), ['undo c by force', 'undo b']);
});

test('counts each file once and skips files already undone', () => {
  const file = (path: string, state: ChangedFile['state']) => ({ path, state }) as ChangedFile;
  const changes = [
    { files: [file('b', 'applied'), file('c', 'undone')] },
    { files: [file('b', 'changed'), file('a', 'applied')] },
  ];
  assert.deepEqual(filesToUndo(changes), ['a', 'b']);
});
