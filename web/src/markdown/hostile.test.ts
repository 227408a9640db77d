import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrowingBlocks, parseBlocks } from './blocks.ts';
import { settleTail } from './tail.ts';

const length = 100_000;
/** Openers without their closing half, repeated again and again. */
const pieces = [
  ['formulas', '$$\na\n', '$$ a\n\n', '$$a\nb$$ x\n', '\\[\na\n\\] x\n', '\n$$a', '\\(a', '$a b'],
  ['emphasis', '*a', '**a', '***a', '_a_', '__a', '*_', '~a~', '~~a', 'a*b', '*a **b _c '],
  ['brackets', '[', '[a](', '![', '![[', '[a][', '[\n', '[a]: b "\n', '[a]:\n'],
  ['lists', '- ', '- a\n  ', '- a\n\n  - b\n', '1) a\n', '- [ ]\n', '- [a]: (\n', '- > a\n', '+ a\n\n'],
  ['quotes', '>', '> ', '> a\nb\n', '> - a\n', '> - a\nb\n\n', '> a\n\n- b\n\n', '> ```\n'],
  ['tables', '|', 'a|', '|a|\n', 'a|b\n-|-\n', 'a|b\n-|\n', 'a|b\n-|-|-\n', '|-|\n'],
  ['markup', '<!--', '<!-- a\n', '<a ', '<a b="', '<div>\n', '<![CDATA[', '<b>a', '<?'],
  ['addresses', 'http://a', 'www.a.', 'a@', 'a@b', '<http://', 'http://a.b?', 'a.', '&a', '&#1'],
  ['code', '`', '`a``', '```\n', '~~~\na\n', '    a\n', '``a ` '],
  ['lines', 'a\n-\n', '=\n', 'a\n=', '#\n', '***\n', 'a  \n', '\\', ' \n', 'x\n===y\n'],
] as const;
const wholes: Record<string, string> = {
  'a wide table': `|${'a|'.repeat(15_000)}\n|${'-|'.repeat(15_000)}\n|${'a|'.repeat(15_000)}`,
  'a table of empty cells': `|${'a|'.repeat(99)}\n|${'-|'.repeat(99)}\n${'|\n'.repeat(40_000)}`,
  'deep lists': Array.from({ length: 300 }, (_, level) => `${'  '.repeat(level)}- a`).join('\n'),
  'deep quotes': Array.from({ length: 300 }, (_, level) => `${'> '.repeat(level)}a`).join('\n'),
  'a lazy list': `- a\n${'b\n'.repeat(length / 2)}`,
  'a long item': `- a\n${'  b\n'.repeat(length / 4)}`,
  'a lazy quote': `> - a\n${'b\n'.repeat(length / 2)}`,
  'nested brackets': '['.repeat(length / 2) + ']'.repeat(length / 2),
  'nested links': '[a'.repeat(length / 8) + '](b)'.repeat(length / 8),
  'nested emphasis': '*a _b '.repeat(length / 12) + 'b_ a*'.repeat(length / 12),
  'one word': 'a'.repeat(length),
  'one address': `http://a/${'('.repeat(length)}`,
};
const texts = {
  ...Object.fromEntries(
    pieces.flatMap(([, ...group]) =>
      group.map((piece) => [JSON.stringify(piece), piece.repeat(length / piece.length)]),
    ),
  ),
  ...wholes,
};

/** Without bounds these take from four seconds to minutes; with them, tens of milliseconds on an idle machine. */
const limit = 1_500;

for (const [name, text] of Object.entries(texts)) {
  test(`a hostile text is parsed in bounded time, whole and growing: ${name}`, { timeout: 60_000 }, () => {
    let tokens: readonly { raw: string }[] = [];
    const whole = cpu(() => {
      tokens = parseBlocks(text).tokens;
    });
    assert.ok(whole < limit, `${whole} ms for the whole`);
    const raw = tokens.map((token) => token.raw).join('');
    assert.equal(raw.replaceAll(/\s+/g, '').length, text.replaceAll(/\s+/g, '').length, 'every character is kept');
    const growing = new GrowingBlocks();
    const at = text.length / 2;
    growing.update(text.slice(0, at), false);
    const pictures = cpu(() => {
      for (let step = 1; step <= 4; step += 1) {
        const { tokens } = growing.update(text.slice(0, at + step * 200), false);
        settleTail(tokens.at(-1)?.raw.slice(0, 8_000) ?? '');
      }
    });
    assert.ok(pictures < limit, `${pictures} ms for four pictures`);
  });
}

test('a long paragraph, a long list and a table with many rows stay what they are', () => {
  const paragraph = 'Some *words* in a **long** paragraph with `code`.\n'.repeat(100);
  const long = parseBlocks(paragraph).tokens;
  assert.deepEqual(
    long.map((token) => token.type),
    ['paragraph'],
  );
  assert.equal(JSON.stringify(long).match(/"type":"em"/g)?.length, 100);
  const list = parseBlocks('- an item\n  - one below it\n'.repeat(300)).tokens;
  assert.deepEqual(
    list.map((token) => token.type),
    ['list'],
  );
  const table = parseBlocks(`| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(2_000)}`).tokens;
  assert.deepEqual(
    table.map((token) => token.type),
    ['table'],
  );
});

/** CPU milliseconds of this process. */
function cpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1_000;
}
