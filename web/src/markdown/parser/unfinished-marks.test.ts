import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseBlocks } from './blocks.ts';
import { closeUnfinishedMarks } from './unfinished-marks.ts';

const cases: [source: string, settled: string][] = [
  ['plain', 'plain'],
  ['a **bold', 'a **bold**'],
  ['a **', 'a '],
  ['a **bold** and *it', 'a **bold** and *it*'],
  ['a `co', 'a `co`'],
  ['a ``', 'a '],
  ['see [the docs', 'see the docs'],
  ['see [the docs](https://exa', 'see the docs'],
  ['see [the docs](https://example.org)', 'see [the docs](https://example.org)'],
  ['see ![a picture](https://exa', 'see '],
  ['see **[bold link](htt', 'see **bold link**'],
  ['text\n-', 'text\n'],
  ['text\n##', 'text\n'],
  ['text\n``', 'text\n'],
  ['snake_case_name', 'snake_case_name'],
  ['2 * 3 * 4', '2 * 3 * 4'],
  ['- item', '- item'],
  ['- [ ] task', '- [ ] task'],
  ['|', ''],
  ['| a | b |', ''],
  ['| a | b |\n|---', ''],
  ['| a | b |\n|---|---|', '| a | b |\n|---|---|'],
  ['| a | b |\n|:--', ''],
  ['| a | b |\n|:--|:', ''],
  ['| a | b |\n|:--|:-:|', '| a | b |\n|:--|:-:|'],
  ['| a | b |\n :--|--: ', '| a | b |\n :--|--: '],
  ['| a |\n-', '| a |\n'],
  ['x\n\n| a | b |', 'x\n\n'],
  ['a [1] citation', 'a [1] citation'],
  ['escaped \\*star', 'escaped \\*star'],
];

for (const [source, settled] of cases) {
  test(`the tail ${JSON.stringify(source)}`, () => assert.equal(closeUnfinishedMarks(source), settled));
}

test('settles every prefix of a table with aligned columns in linear time', () => {
  const rules = [
    '|:------------------|:-------------|:------------|',
    `| ${':--- | :---: | ---: | '.repeat(40)}`,
    `${':-'.repeat(400)}| :`,
    `|${' '.repeat(400)}:`,
    `|${'-'.repeat(2_000)}x`,
  ];
  for (const rule of rules) {
    const columns = '| name '.repeat(rule.split('|').length);
    for (let end = 0; end <= rule.length; end += 1) {
      const begun = performance.now();
      closeUnfinishedMarks(`${columns}|\n${rule.slice(0, end)}`);
      const took = performance.now() - begun;
      assert.ok(took < 1_000, `${rule.slice(0, end)}: ${took} ms`);
    }
  }
});

test('shows a table once its rule has as many columns as its head, aligned or not', () => {
  const shown = ['|---|---|', '|:--|--:|', '| :-: | - |', '---|---', ':-|-', '|-|-|-'];
  for (const rule of shown) assert.equal(closeUnfinishedMarks(`| a | b |\n${rule}`), `| a | b |\n${rule}`, rule);
  for (const rule of ['|', '|:', '| :', '|--', '|:-|', '|-|:', '||', '|- -|-|'])
    assert.equal(closeUnfinishedMarks(`| a | b |\n${rule}`), '', rule);
});

test('never shows half a URL or open emphasis for any prefix', () => {
  const piece = fc.constantFrom(
    'word ',
    '**bold words** ',
    '*soft* ',
    '`code` ',
    '[name](https://example.org/path?q=1) ',
    '![picture](https://example.org/picture.png) ',
    '~~gone~~ ',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(400), (pieces, length) => {
      const prefix = pieces.join('').slice(0, length);
      const shown = JSON.stringify(plain(parseBlocks(closeUnfinishedMarks(prefix)).tokens));
      assert.doesNotMatch(shown, /\*|`|~|\]\(|https|!\[/, prefix);
    }),
    { numRuns: 1000 },
  );
});

/** The texts that would be visible. */
function plain(tokens: readonly object[]): string[] {
  return tokens.flatMap((token) => {
    if ('tokens' in token && Array.isArray(token.tokens)) return plain(token.tokens);
    if ('type' in token && token.type === 'image') return [];
    return 'text' in token && typeof token.text === 'string' ? [token.text] : [];
  });
}

test('the head of a table with aligned columns is settled in linear time at every character', () => {
  const rule = '|:------------------|:-------------|:------------| :'.repeat(40);
  const source = `| a | b |\n${rule}`;
  const started = process.cpuUsage().user;
  for (let length = 1; length <= source.length; length += 1) closeUnfinishedMarks(source.slice(0, length));
  assert.ok(process.cpuUsage().user - started < 10_000_000, 'an exponential rule would not end');
});
