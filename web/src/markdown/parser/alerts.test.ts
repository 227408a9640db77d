import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../../../test/browser-entities.ts';
import { specHtml } from '../../../test/spec-html.ts';
import type { Alert } from './alerts.ts';
import { parseBlocks } from './blocks.ts';

const cases: [markdown: string, alert: string | undefined, html: string][] = [
  ['> [!NOTE]\n> Text **here**', 'note', '<p>Text <strong>here</strong></p>'],
  ['> [!tip]  \n> One\n>\n> Two', 'tip', '<p>One</p>\n<p>Two</p>'],
  ['> [!WARNING]\n>\n> - item', 'warning', '<ul>\n<li>item</li>\n</ul>'],
  ['> [!CAUTION]', 'caution', ''],
  ['> [!IMPORTANT]\nlazy', 'important', '<p>lazy</p>'],
  ['> [!NOTE] on the same line', undefined, '<p>[!NOTE] on the same line</p>'],
  ['> [!DANGER]\n> no such kind', undefined, '<p>[!DANGER]\nno such kind</p>'],
  ['> text\n> [!NOTE]', undefined, '<p>text\n[!NOTE]</p>'],
];

test('reads a quote that begins with a kind of alert', () => {
  for (const [markdown, alert, html] of cases) {
    const [quote] = parseBlocks(markdown).tokens as readonly Alert[];
    assert.ok(quote);
    assert.equal(quote.alert, alert, markdown);
    assert.equal(specHtml(quote.tokens).trim().replaceAll('</p>\n</li>', '</p></li>'), html, markdown);
  }
});
