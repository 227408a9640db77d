import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DraftStore } from './drafts.ts';
import { pastedName, storePasted } from './pasted-texts.ts';
import { withQuote } from './quote.ts';
import { clearSent, restoreSent } from './sent-draft.ts';

function draftsOf(text: string, pasted: readonly string[] = []) {
  const items = new Map<string, string>();
  const drafts = new DraftStore('user-1', {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  });
  drafts.write('chat-1', text);
  drafts.write(pastedName('chat-1'), storePasted(pasted));
  return { drafts, items };
}

for (const [what, text, pasted, sent] of [
  ['a text', '  Later\n', [], '  Later\n'],
  ['a text with pasted ones', 'Later', ['x', 'y'], 'Later\n\nx\n\ny'],
  ['a pasted text alone', ' ', ['x'], 'x'],
  ['files alone', ' ', [], ''],
] as const) {
  test(`${what}: nothing of the draft stays once it is sent, and all of it when it is given up`, () => {
    const { drafts, items } = draftsOf(text, pasted);
    const before = new Map(items);
    restoreSent(drafts, { draftName: 'chat-1', text: sent });
    assert.deepEqual(items, before);
    clearSent(drafts, { draftName: 'chat-1', text: sent });
    assert.equal(items.size, 0);
  });
}

test('keeps a newer draft after sending, and also after a discarded message', () => {
  const { drafts } = draftsOf('Now');
  clearSent(drafts, { draftName: 'chat-1', text: 'Later' });
  assert.equal(drafts.read('chat-1'), 'Now');
  restoreSent(drafts, { draftName: 'chat-1', text: 'Later' });
  assert.equal(drafts.read('chat-1'), 'Later\n\nNow');
});

test('keeps a quotation added while the message is being sent', () => {
  const { drafts } = draftsOf(withQuote('Later \n', 'moon'), ['x']);
  restoreSent(drafts, { draftName: 'chat-1', text: 'Later \n\n\nx' });
  assert.equal(drafts.read('chat-1'), 'Later\n\n> moon\n\n');
  clearSent(drafts, { draftName: 'chat-1', text: 'Later \n\n\nx' });
  assert.equal(drafts.read('chat-1'), '> moon\n\n');
  assert.equal(drafts.read(pastedName('chat-1')), '');
});

test('restores a message without a draft and leaves no draft behind', () => {
  const { drafts, items } = draftsOf('');
  clearSent(drafts, { draftName: 'chat-1', text: 'Continue' });
  assert.equal(items.size, 0);
  restoreSent(drafts, { draftName: 'chat-1', text: 'Continue' });
  assert.equal(drafts.read('chat-1'), 'Continue');
});
