import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Translate } from '../../i18n/i18n.ts';
import { texts as german } from '../../locales/de/main.ts';
import { type KeyPress, keyText, shortcutKeys, shortcutOf } from './shortcuts.ts';

const press = (key: string, change: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : key,
  isMod: false,
  isShift: false,
  isAlt: false,
  isComposing: false,
  place: 'page',
  isComposerEmpty: false,
  ...change,
});

test('shortcuts with Ctrl or Cmd work wherever one types', () => {
  for (const place of ['page', 'composer', 'typing'] as const) {
    assert.equal(shortcutOf(press('k', { isMod: true, place })), 'palette');
    assert.equal(shortcutOf(press('O', { isMod: true, isShift: true, place })), 'newConversation');
    assert.equal(shortcutOf(press('S', { isMod: true, isShift: true, place })), 'sidebar');
    assert.equal(shortcutOf(press('C', { isMod: true, isShift: true, place })), 'copyLast');
    assert.equal(shortcutOf(press('/', { isMod: true, place })), 'help');
  }
});

test('ignores plain keys while the person types', () => {
  assert.equal(shortcutOf(press('/')), 'focusComposer');
  assert.equal(shortcutOf(press('?', { isShift: true })), 'help');
  for (const place of ['composer', 'typing', 'overlay'] as const) {
    assert.equal(shortcutOf(press('/', { place })), undefined);
    assert.equal(shortcutOf(press('?', { place, isShift: true })), undefined);
  }
});

test('ignores keys during composition and with Alt', () => {
  assert.equal(shortcutOf(press('k', { isMod: true, isComposing: true })), undefined);
  assert.equal(shortcutOf(press('Escape', { isComposing: true, place: 'composer' })), undefined);
  assert.equal(shortcutOf(press('/', { isMod: true, isAlt: true })), undefined);
});

test('Escape stops from the page and the message field only', () => {
  assert.equal(shortcutOf(press('Escape')), 'stop');
  assert.equal(shortcutOf(press('Escape', { place: 'composer' })), 'stop');
  assert.equal(shortcutOf(press('Escape', { place: 'typing' })), undefined);
  assert.equal(shortcutOf(press('Escape', { place: 'overlay' })), undefined);
});

test('edits the last message with the arrow key only from an empty field', () => {
  assert.equal(shortcutOf(press('ArrowUp', { place: 'composer', isComposerEmpty: true })), 'editLast');
  assert.equal(shortcutOf(press('ArrowUp', { place: 'composer' })), undefined);
  assert.equal(shortcutOf(press('ArrowUp')), undefined);
});

test('never takes copy, save, reload or open', () => {
  for (const key of ['c', 's', 'r', 'o']) assert.equal(shortcutOf(press(key, { isMod: true })), undefined, key);
});

test('matches letters by key position on non-Latin layouts', () => {
  assert.equal(shortcutOf(press('л', { code: 'KeyK', isMod: true })), 'palette');
  assert.equal(shortcutOf(press('t', { code: 'KeyK', isMod: true })), undefined);
});

test('names keys as they are printed on a German keyboard', () => {
  const t = ((id: keyof typeof german) => german[id]) as Translate;
  assert.deepEqual(
    ['Ctrl', 'Shift', 'Del', 'Esc', 'K'].map((key) => keyText(key, t)),
    ['Strg', 'Umschalt', 'Entf', 'Esc', 'K'],
  );
  assert.deepEqual(
    shortcutKeys.newConversation.map((key) => keyText(key, t)),
    ['Strg', 'Umschalt', 'O'],
  );
});
