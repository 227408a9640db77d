import assert from 'node:assert/strict';
import { test } from 'node:test';
import { continueText } from './continued-text.ts';

function joined(before: string, after: string, piece: number): string {
  let text = before;
  const continuation = continueText(before, (delta) => (text += delta));
  for (let at = 0; at < after.length; at += piece) continuation.push(after.slice(at, at + piece));
  continuation.end();
  return text;
}

const story = 'Once upon a time there was a king who ruled a small country by the sea';
const cases: [name: string, before: string, after: string, whole: string][] = [
  ['text that continues', 'One two', ' three four', 'One two three four'],
  ['text that continues within a word', 'photosyn', 'thesis is', 'photosynthesis is'],
  ['the last word', 'One two three', 'three four', 'One two three four'],
  ['the last word, cut', 'It is called photosyn', 'photosynthesis.', 'It is called photosynthesis.'],
  [
    'the last sentence',
    'A first one. The second one is',
    'The second one is long.',
    'A first one. The second one is long.',
  ],
  ['the whole text', story, `${story}, and his daughter.`, `${story}, and his daughter.`],
  ['the whole text after a blank line', story, `\n\n${story}.`, `${story}.`],
  ['the beginning, cut again before its end', story, story.slice(0, 60), story],
  ['space', 'One two ', ' three', 'One two three'],
  ['a blank line', 'One.\n\n', '\n\nTwo.', 'One.\n\nTwo.'],
  ['short words that can follow each other', 'It is so', ' so good', 'It is so so good'],
  ['marks that can follow each other', '| 1 | 2 |\n', '| 1 | 2 |\n', '| 1 | 2 |\n| 1 | 2 |\n'],
  ['a word within another word', 'a red', 'redder one', 'a redder one'],
  ['words without spaces', '今天天气很好我们去', '我们去公园', '今天天气很好我们去公园'],
  ['nothing', 'One', '', 'One'],
];
for (const [name, before, after, whole] of cases) {
  test(`continues an answer and repeats nothing: ${name}`, () => {
    for (const piece of [1, 3, 1000]) assert.equal(joined(before, after, piece), whole);
  });
}

test('holds back no more than what can be a repetition', () => {
  const passed: string[] = [];
  const continuation = continueText('The end was near', (delta) => passed.push(delta));
  continuation.push('x');
  assert.deepEqual(passed, ['x']);
  continuation.push('The end was near');
  assert.deepEqual(passed, ['x', 'The end was near'], 'only the beginning is compared');
});

test('compares a long answer at the cost of its length', () => {
  const before = 'a'.repeat(1_000_000);
  const startedAt = performance.now();
  assert.equal(joined(before, before, 1), before);
  assert.equal(joined(`${before}.`, `${before}. More`, 1), `${before}. More`);
  assert.ok(performance.now() - startedAt < 10_000);
});
