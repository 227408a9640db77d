import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import type { CommandResult } from '@homeport/contracts/workspace/workspace-tools';
import type { Translate } from '../../i18n/i18n.ts';
import { toolCallTexts } from './tool-call-texts.ts';

const t: Translate = (id, values) => `${id} ${JSON.stringify(values ?? {})}`;

function wordsOf(output: CommandResult | string) {
  const part: DynamicToolPart = {
    type: 'dynamic-tool',
    toolCallId: 'c',
    toolName: 'bash',
    state: 'output-available',
    input: { command: 'make' },
    output,
  };
  const { state, seconds, isFailed, subject } = toolCallTexts(part, true, t);
  return { state, seconds, isFailed, subject };
}

test('shows the exit state of a command unless it succeeded', () => {
  const subject = 'make';
  const text = 'whatever it wrote\n[exit code 1, 9 s]';
  const ended = (end: CommandResult['end']) => wordsOf({ text, end, milliseconds: 2_600 });
  assert.deepEqual(ended({ kind: 'exit', code: 0 }), { state: undefined, seconds: 3, isFailed: false, subject });
  assert.deepEqual(ended({ kind: 'exit', code: 2 }), {
    state: 'tool.exitCode {"code":2}',
    seconds: 3,
    isFailed: true,
    subject,
  });
  assert.deepEqual(ended({ kind: 'timeout' }), { state: 'tool.timedOut {}', seconds: 3, isFailed: true, subject });
  assert.equal(ended({ kind: 'signal', signal: 'SIGKILL' }).state, 'tool.killed {"signal":"SIGKILL"}');
});

test("doesn't show a polled background command as failed", () => {
  const { state, isFailed, seconds } = wordsOf({ text: 'up', end: { kind: 'running' } });
  assert.deepEqual({ state, isFailed, seconds }, { state: undefined, isFailed: false, seconds: undefined });
  assert.equal(wordsOf('Started in the background.').isFailed, false);
});

test('names the published file in its row', () => {
  const titleOf = (state: DynamicToolPart['state'], isLive: boolean) => {
    const input = { path: 'reports/result.txt' };
    const part: DynamicToolPart = {
      type: 'dynamic-tool',
      toolCallId: 'c',
      toolName: 'publish_artifact',
      state,
      input,
    };
    return toolCallTexts(part, isLive, t);
  };
  const title = (phase: string) => `tool.own.publish {"phase":"${phase}","file":"result.txt"}`;
  assert.equal(titleOf('input-available', true).title, title('running'));
  assert.equal(titleOf('output-error', true).title, title('failed'));
  const { title: said, state, subject, isFailed } = titleOf('output-available', false);
  assert.equal(said, title('done'));
  assert.deepEqual({ state, subject, isFailed }, { state: undefined, subject: undefined, isFailed: false });
});
