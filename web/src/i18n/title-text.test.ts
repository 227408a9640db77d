import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Translate } from './i18n.ts';
import { titleText } from './title-text.ts';

test('names a conversation without a title in the language of the reader', () => {
  const t: Translate = () => 'Neue Unterhaltung';
  for (const title of [undefined, '', 'New conversation']) assert.equal(titleText(title, t), 'Neue Unterhaltung');
  assert.equal(titleText('Harbor', t), 'Harbor');
});
