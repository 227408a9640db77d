import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CommandResult, commandText, isCommandResult } from './workspace-tools.ts';

const results: [CommandResult, string][] = [
  [{ text: 'a\n', end: { kind: 'exit', code: 3 }, milliseconds: 1_204 }, 'a\n[exit code 3, 1.20 s]'],
  [{ text: 'a', end: { kind: 'timeout' }, milliseconds: 120_400 }, 'a\n[timed out and was killed, 120 s]'],
  [{ text: '', end: { kind: 'signal', signal: 'SIGKILL' }, milliseconds: 20 }, '[ended by SIGKILL, 0.02 s]'],
  [{ text: 'up\n', end: { kind: 'running' } }, 'up\n[still running]'],
  [
    { text: 'x', end: { kind: 'exit', code: 0 }, milliseconds: 10_000, unloggedBytes: 7 },
    'x\n[exit code 0, 10 s, the log is full: 7 bytes are not in it]',
  ],
];

test('puts the exit state of a command into the last line for the model', () => {
  for (const [result, text] of results) assert.equal(commandText(result), text);
});

test('accepts only the output of a command as one', () => {
  for (const [result] of results) assert.ok(isCommandResult(JSON.parse(JSON.stringify(result))));
  for (const other of [
    undefined,
    null,
    '',
    'a\n[exit code 0, 1 s]',
    {},
    [],
    { text: 'a' },
    { text: 1, end: { kind: 'exit', code: 0 } },
    { text: 'a', end: { kind: 'exit' } },
    { text: 'a', end: { kind: 'exit', code: { a: 1 } } },
    { text: 'a', end: { kind: 'signal', signal: 9 } },
    { text: 'a', end: { kind: 'gone' } },
    { text: 'a', end: { kind: 'timeout' }, milliseconds: '1' },
    { text: 'a', end: { kind: 'timeout' }, unloggedBytes: {} },
  ])
    assert.equal(isCommandResult(other), false, JSON.stringify(other));
});
