import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSendKey, isSendNowKey, type SendPress } from './send-key.ts';

const press = (change: Partial<SendPress> = {}): SendPress => ({
  key: 'Enter',
  shiftKey: false,
  altKey: false,
  ctrlKey: false,
  metaKey: false,
  isComposing: false,
  keyCode: 13,
  ...change,
});

test('sends with Enter only, without Shift or Alt', () => {
  assert.equal(isSendKey(press(), 'enter', false), true);
  assert.equal(isSendKey(press({ shiftKey: true }), 'enter', false), false);
  assert.equal(isSendKey(press({ altKey: true }), 'enter', false), false);
  assert.equal(isSendKey(press({ key: 'a', ctrlKey: true }), 'enter', false), false);
});

test('sends with Ctrl or Command and Enter only, by preference and on touch screens', () => {
  for (const [preference, isTouch] of [
    ['modified', false],
    ['enter', true],
  ] as const) {
    assert.equal(isSendKey(press(), preference, isTouch), false);
    assert.equal(isSendKey(press({ ctrlKey: true }), preference, isTouch), true);
    assert.equal(isSendKey(press({ metaKey: true }), preference, isTouch), true);
    assert.equal(isSendKey(press({ ctrlKey: true, shiftKey: true }), preference, isTouch), false);
  }
});

test('leaves Enter to an input method', () => {
  assert.equal(isSendKey(press({ isComposing: true }), 'enter', false), false);
  assert.equal(isSendKey(press({ keyCode: 229 }), 'enter', false), false);
  assert.equal(isSendKey(press({ keyCode: 229, ctrlKey: true }), 'modified', false), false);
});

test('Ctrl or Command with Shift and Enter sends at once', () => {
  assert.equal(isSendNowKey(press({ ctrlKey: true, shiftKey: true })), true);
  assert.equal(isSendNowKey(press({ metaKey: true, shiftKey: true })), true);
  assert.equal(isSendNowKey(press({ ctrlKey: true })), false);
  assert.equal(isSendNowKey(press({ shiftKey: true })), false);
  assert.equal(isSendNowKey(press({ ctrlKey: true, shiftKey: true, altKey: true })), false);
  assert.equal(isSendNowKey(press({ ctrlKey: true, shiftKey: true, isComposing: true })), false);
});
