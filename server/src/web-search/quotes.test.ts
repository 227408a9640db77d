import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../contracts/test/seeded-random.ts';
import { citedNumbers, findQuotes, fold, hasWords } from './quotes.ts';

const cases: [what: string, answer: string, quotes: [number, string][]][] = [
  ['straight marks', 'He said "yes, we can" [2].', [[2, 'yes, we can']]],
  ['curly marks', 'He said “yes” [1]', [[1, 'yes']]],
  ['German marks', 'Er sagte „ja, gut“ [3].', [[3, 'ja, gut']]],
  ['French marks', 'Il dit « oui » [4].', [[4, 'oui']]],
  ['corner marks', '「はい」[5]', [[5, 'はい']]],
  ['a period after the mark', '“It is so”. [1]', [[1, 'It is so']]],
  ['a period within the marks', '“It is so.” [1]', [[1, 'It is so.']]],
  ['an apostrophe inside', "“It's John’s” [1]", [[1, "It's John’s"]]],
  [
    'two numbers',
    '"both" [1][2]',
    [
      [1, 'both'],
      [2, 'both'],
    ],
  ],
  ['a block quote', '> First line\n> second line\n\n[1]', [[1, 'First line\nsecond line']]],
  ['a number in the block quote', '> The words [1]', [[1, 'The words']]],
  ['no quote', 'Plain words [1].', []],
  ['a quote further away', '"quoted" and then more words [1].', []],
  ['no number', '"quoted"', []],
  ['a link', '"quoted" [text](https://example.org)', []],
];

for (const [what, answer, quotes] of cases) {
  test(`finds the quote before a number: ${what}`, () => {
    assert.deepEqual(
      findQuotes(answer).map(({ number, text }) => [number, text]),
      quotes,
    );
  });
}

test('compares words after folding white space and quotation marks', () => {
  const source = fold('The  tide\u00a0rises\n“twice” a day.');
  assert.ok(hasWords(source, 'The tide rises "twice" a day.'));
  assert.ok(hasWords(source, 'rises ‘twice’'));
  assert.ok(!hasWords(source, 'the tide rises'));
  assert.ok(!hasWords(source, 'rises thrice'));
  assert.ok(!hasWords(source, ' '));
});

test('lists the cited numbers once, and stays quick for endless ones', () => {
  assert.deepEqual(citedNumbers('a [1] b [2][1] [x] [12345678]', 10), [1, 2]);
  const long = '"'.repeat(100_000) + '[1]'.repeat(100_000);
  const before = process.cpuUsage().user;
  assert.ok(findQuotes(long).length <= 500);
  assert.ok(process.cpuUsage().user - before < 2_000_000);
});

test('finds the same words as includes, and costs the length of the page even for repetitions', () => {
  const next = seededRandom(20_261_129);
  const text = (length: number) => Array.from({ length }, () => (next() < 0.5 ? 'a' : 'b')).join('');
  for (let times = 0; times < 2_000; times += 1) {
    const [source, words] = [text(60), text(1 + Math.floor(next() * 8))];
    assert.equal(hasWords(source, words), source.includes(words), `${words} in ${source}`);
  }
  const source = 'a'.repeat(256 * 1024);
  const words = `${'a'.repeat(1_000)}b${'a'.repeat(999)}`;
  const costOf = (work: () => boolean) => {
    const before = process.cpuUsage().user;
    assert.equal(work(), false);
    return process.cpuUsage().user - before;
  };
  costOf(() => hasWords(source, words));
  const ours = Math.min(...[1, 2, 3].map(() => costOf(() => hasWords(source, words))));
  const plain = Math.min(...[1, 2, 3].map(() => costOf(() => source.includes(words))));
  assert.ok(ours * 4 < plain, `microseconds of CPU: ${ours} and ${plain}`);
});
