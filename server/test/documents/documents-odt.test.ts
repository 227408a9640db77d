import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentBounds } from '../../src/documents/document.ts';
import { extractDocument } from '../../src/documents/extract.ts';
import { makeOdf } from './document-makers.ts';

/** List numbers, comments and tracked changes of OpenDocument texts. */

async function linesOf(body: string, styles = ''): Promise<string[]> {
  const others = { 'styles.xml': `<office:document-styles>${styles}</office:document-styles>` };
  const { pages } = await extractDocument(makeOdf('text', body, others), documentBounds);
  return pages.flatMap(({ text }) => text.split('\n'));
}

const p = (text: string, style = '') => `<text:p${style === '' ? '' : ` text:style-name="${style}"`}>${text}</text:p>`;
const item = (...content: string[]) => `<text:list-item>${content.join('')}</text:list-item>`;
const list = (attributes: string, ...items: string[]) => `<text:list ${attributes}>${items.join('')}</text:list>`;
const number = (level: number, format: string, more = '') =>
  `<text:list-level-style-number text:level="${level}" style:num-format="${format}" ${more}/>`;
const contract = `<text:list-style style:name="L1">${[
  number(1, '1', 'style:num-suffix="."'),
  number(2, '1', 'text:display-levels="2"'),
  number(3, 'a', 'style:num-prefix="(" style:num-suffix=")"'),
].join('')}</text:list-style>`;

test('numbers the clauses of a contract, so that 4.2(a) can be found', async () => {
  const deep = list('', item(list('', item(p('Notice'), p('of thirty days')), item(p('Cure')))));
  const body = list(
    'text:style-name="L1"',
    ...['One', 'Two', 'Three'].map((title) => item(p(title))),
    item(p('Four'), list('', item(p('First')), item(p('Second'))), deep),
    item(p('Five')),
  );
  const lines = ['1. One', '2. Two', '3. Three', '4. Four', '4.1 First', '4.2 Second', '4.2(a) Notice'];
  assert.deepEqual(await linesOf(body, contract), [...lines, 'of thirty days', '4.2(b) Cure', '5. Five']);
});

test('continues, restarts and skips numbers as its program shows them', async () => {
  const style = 'text:style-name="L1"';
  const body = [
    list(`${style} xml:id="a"`, item(p('one')), '<text:list-header><text:p>plain</text:p></text:list-header>'),
    list(style, item(p('again one')), '<text:list-item text:start-value="7"><text:p>seven</text:p></text:list-item>'),
    list(`${style} text:continue-list="a"`, item(p('two'))),
    list(`${style} text:continue-numbering="true"`, item(p('three'))),
  ].join('');
  const lines = ['1. one', 'plain', '1. again one', '7. seven', '2. two', '3. three'];
  assert.deepEqual(await linesOf(body, contract), lines);
});

test('numbers lists in every format, and by the style of their paragraphs', async () => {
  const formats: [string, string][] = [
    [number(1, 'I', 'style:num-prefix="Article "'), 'Article II'],
    [number(1, 'a', 'style:num-suffix=")"'), 'b)'],
    [number(1, '1', 'loext:num-list-format="§ %1%"'), '§ 2'],
    ['<text:list-level-style-bullet text:level="1" text:bullet-char="•"/>', '-'],
    [number(1, ''), ''],
  ];
  for (const [level, label] of formats) {
    const styles = `<text:list-style style:name="L9">${level}</text:list-style><style:style style:name="Parent" style:list-style-name="L9"/><style:style style:name="Child" style:parent-style-name="Parent"/>`;
    const lines = await linesOf(list('', item(p('x', 'Child')), item(p('y', 'Child'))), styles);
    assert.equal(lines[1], `${label} y`.trim());
  }
});

test('numbers headings by the outline', async () => {
  const level = (at: number, more: string) =>
    `<text:outline-level-style text:level="${at}" style:num-format="1" ${more}/>`;
  const styles = `<text:outline-style style:name="Outline">${level(1, '')}${level(2, 'text:display-levels="2"')}</text:outline-style>`;
  const heading = (at: number, text: string, more = '') =>
    `<text:h text:outline-level="${at}" ${more}>${text}</text:h>`;
  const body = `${heading(1, 'A')}${heading(2, 'B')}${heading(1, 'Preface', 'text:is-list-header="true"')}${heading(1, 'C')}${heading(2, 'D')}`;
  assert.deepEqual(await linesOf(body, styles), ['# 1 A', '## 1.1 B', '# Preface', '# 2 C', '## 2.1 D']);
});

test('shows comments where they are, and tracked changes after their paragraph', async () => {
  const by = (name: string) => `<dc:creator>${name}</dc:creator><dc:date>2026-03-05</dc:date>`;
  const region = (id: string, kind: string, content = '') =>
    `<text:changed-region text:id="${id}"><text:${kind}><office:change-info>${by('Ada')}</office:change-info>${content}</text:${kind}></text:changed-region>`;
  const comment = `<office:annotation>${by('Bob')}${p('Why')}${p('this?')}</office:annotation>`;
  const body = [
    `<text:tracked-changes>${region('c1', 'deletion', p('500'))}${region('c2', 'insertion')}</text:tracked-changes>`,
    p(
      'Price <text:change text:change-id="c1"/><text:change-start text:change-id="c2"/>700<text:change-end text:change-id="c2"/> euros',
    ),
    p(`Term${comment} of a year<office:annotation-end/>`),
    p('<text:change text:change-id="unknown"/>End'),
  ].join('');
  assert.deepEqual(await linesOf(body), [
    'Price 700 euros [tracked change by Ada: deleted “500”, inserted “700”]',
    'Term [comment by Bob: Why this?] of a year',
    'End',
  ]);
});

test('shows an insertion of several paragraphs in each of them', async () => {
  const body = [
    '<text:tracked-changes><text:changed-region xml:id="c1"><text:insertion/></text:changed-region></text:tracked-changes>',
    p('Old <text:change-start text:change-id="c1"/>new'),
    p('more<text:change-end text:change-id="c1"/> old'),
  ].join('');
  assert.deepEqual(await linesOf(body), [
    'Old new [tracked change: inserted “new”]',
    'more old [tracked change: inserted “more”]',
  ]);
});
