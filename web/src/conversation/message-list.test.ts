import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatDetail, Message, QueuedInput } from '@homeport/contracts/chat/conversations';
import { type Edit, mergeDetail } from './message-list.ts';

const createdAt = '2026-01-01T00:00:00.000Z';
const parts = [{ type: 'text' as const, text: 'words' }];

function message(id: string, parentId: string | null, role: Message['role'] = 'user'): Message {
  const end = { status: 'complete', finishReason: null, finishDetail: null } as const;
  return { id, chatId: 'c', parentId, siblingIds: [id], role, parts, ...end, createdAt };
}

/** Shown messages after the server has returned `next` as a queued input behind its own branch. */
function shownWith(shown: Message[], told: Message[], next: string, edit?: Edit): string[] {
  const input: QueuedInput = {
    id: next,
    chatId: 'c',
    state: 'queued',
    message: { id: next, role: 'user', parts },
    createdAt,
  };
  const chat = { id: 'c' } as ChatDetail['chat'];
  const detail: ChatDetail = {
    chat,
    messages: told,
    nextBefore: null,
    inputs: [input],
    response: null,
    summaries: [],
    plan: null,
  };
  return mergeDetail({ messages: shown, nextBefore: null }, detail, edit).messages.map(({ id }) => id);
}

const branch = [message('q1', null), message('a1', 'q1', 'assistant'), message('q2', 'a1'), message('a2', 'q2')];

test('shows a pending edit in place of the edited message', () => {
  const first = { id: 'edit', parentId: null };
  assert.deepEqual(shownWith([message('edit', null)], branch, 'edit', first), ['edit']);
  const second = { id: 'edit', parentId: 'a1' };
  const shown = [...branch.slice(0, 2), message('edit', 'a1')];
  assert.deepEqual(shownWith(shown, branch, 'edit', second), ['q1', 'a1', 'edit']);
});

test('keeps a pending message at the end, also if older messages load later', () => {
  const all = ['q1', 'a1', 'q2', 'a2', 'q3'];
  assert.deepEqual(shownWith([...branch, message('q3', 'a2')], branch, 'q3'), all);
  assert.deepEqual(shownWith([message('q3', null)], branch, 'q3'), all);
  assert.deepEqual(shownWith([message('q3', 'gone')], branch, 'q3', { id: 'q3', parentId: 'gone' }), all);
});
