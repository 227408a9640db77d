import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Token, TokensList } from 'marked';
import { parseBlocks, StreamingBlocks } from './parser/blocks.ts';
import { BoundedLexer } from './parser/bounded-lexer.ts';
import { closeUnfinishedMarks } from './parser/unfinished-marks.ts';

const length = 60_000;
/** Openers without their closing half, repeated again and again. */
const pieces = [
  ['formulas', '$$\na\n', '$$ a\n\n', '$$a\nb$$ x\n', '\\[\na\n\\] x\n', '\n$$a', '\\(a', '$a b', '\\[a\n'],
  ['emphasis', '*a', '**a', '***a', '_a_', '__a', '*_', '~a~', '~~a', 'a*b', '*a **b _c '],
  ['brackets', '[', '[a](', '![', '![[', '[a][', '[\n', '[a]: b "\n', '[a]:\n'],
  ['lists', '- ', '- a\n  ', '- a\n\n  - b\n', '1) a\n', '- [ ]\n', '- [a]: (\n', '- > a\n', '+ a\n\n'],
  ['quotes', '>', '> ', '> a\nb\n', '> - a\n', '> - a\nb\n\n', '> a\n\n- b\n\n', '> ```\n'],
  ['tables', '|', 'a|', '|a|\n', 'a|b\n-|-\n', 'a|b\n-|\n', 'a|b\n-|-|-\n', '|-|\n'],
  ['markup', '<!--', '<!-- a\n', '<a ', '<a b="', '<div>\n', '<![CDATA[', '<b>a', '<?'],
  ['addresses', 'http://a', 'www.a.', 'a@', 'a@b', '<http://', 'http://a.b?', 'a.', '&a', '&#1'],
  ['notes', '[^a]: b\n', '[^a]', '[^a]: ', '[^a]:\n\n    ', '> [!NOTE]\n', '> [^a]: b\n', '\\[a] b\n'],
  ['other scripts', '**「', '」**', '**「a」**', '_「', '~~（', '。http://a.b/c', '**a）'],
  ['code', '`', '`a``', '```\n', '~~~\na\n', '    a\n', '``a ` '],
  ['lines', 'a\n-\n', '=\n', 'a\n=', '#\n', '***\n', 'a  \n', '\\', ' \n', 'x\n===y\n'],
] as const;
const wholes: Record<string, string> = {
  'formulas without an end': '\n$$a'.repeat(100_000),
  'a wide table': `|${'a|'.repeat(15_000)}\n|${'-|'.repeat(15_000)}\n|${'a|'.repeat(15_000)}`,
  'emphasis, much': '*a'.repeat(50_000),
  'strikethrough, much': '~a~'.repeat(33_000),
  'a table of empty cells': `|${'a|'.repeat(99)}\n|${'-|'.repeat(99)}\n${'|\n'.repeat(40_000)}`,
  'lines that are no table': 'a|b\n-|\n'.repeat(15_000),
  'deep lists': Array.from({ length: 300 }, (_, level) => `${'  '.repeat(level)}- a`).join('\n'),
  'deep quotes': Array.from({ length: 300 }, (_, level) => `${'> '.repeat(level)}a`).join('\n'),
  'a lazy list': `- a\n${'b\n'.repeat(50_000)}`,
  'a long item': `- a\n${'  b\n'.repeat(25_000)}`,
  'a lazy quote': `> - a\n${'b\n'.repeat(50_000)}`,
  'nested brackets': '['.repeat(50_000) + ']'.repeat(50_000),
  'nested links': '[a'.repeat(12_500) + '](b)'.repeat(12_500),
  'nested emphasis': '*a _b '.repeat(8_000) + 'b_ a*'.repeat(8_000),
  'formulas that end in the line': `${'\\[a\n'.repeat(900)}\\] x\n`.repeat(25),
  'one word': 'a'.repeat(100_000),
  'one address': `http://a/${'('.repeat(100_000)}`,
};
const texts = {
  ...Object.fromEntries(
    pieces.flatMap(([, ...group]) =>
      group.map((piece) => [JSON.stringify(piece), piece.repeat(length / piece.length)]),
    ),
  ),
  ...wholes,
};

/**
 * The limit, as a multiple of the CPU time of an ordinary text. The worst text here needs about 5 times as much. With the
 * library's own lexer a quarter need more than 8 times, some don't end in 12 s, and some overflow the stack.
 */
const limit = 8;
const ordinary = 'Some *words* in a **long** paragraph with `code`.\n\n- an item\n- and another\n\n'.repeat(750);
const usual = Math.min(...Array.from({ length: 5 }, ordinaryTime));

for (const [name, text] of Object.entries(texts)) {
  test(`a hostile text is parsed in bounded time, whole and growing: ${name}`, () => {
    const lexer = new CountingLexer();
    const tokens = lexer.lex(text);
    assert.ok(lexer.read <= 20_000 + 5 * text.length, `${lexer.read} characters were read`);
    assert.equal(lettersOf(rawOf(tokens)), lettersOf(text), 'every character is kept');
    for (const token of tokens)
      if (token.type === 'paragraph') assert.equal(lettersOf(rawOf(token.tokens)), lettersOf(token.raw));
    const whole = least(() => parseBlocks(text));
    assert.ok(whole < limit, `${whole} times the usual time for the whole`);
    const at = text.length / 2;
    const pictures = least(() => {
      const growing = new StreamingBlocks();
      growing.update(text.slice(0, at), false);
      for (let step = 1; step <= 4; step += 1) {
        const { tokens } = growing.update(text.slice(0, at + step * 200), false);
        closeUnfinishedMarks(tokens.at(-1)?.raw.slice(0, 8_000) ?? '');
      }
    });
    assert.ok(pictures < limit, `${pictures} times the usual time for four pictures`);
  });
}

/** Counts the characters that it reads as blocks or as running text. */
class CountingLexer extends BoundedLexer {
  read = 0;

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] = [], isClipped = false): Token[] {
    this.read += source.length;
    return super.blockTokens(source, tokens, isClipped);
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    this.read += source.length;
    return super.inlineTokens(source, tokens);
  }
}

function rawOf(tokens: readonly Token[] = []): string {
  return tokens.map((token) => token.raw).join('');
}

function lettersOf(text: string): number {
  return text.replaceAll(/\s+/g, '').length;
}

test('keeps a long paragraph, a long list and a table with many rows intact', () => {
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

test('splits an endless paragraph without losing characters', () => {
  for (const line of ['word word word\n', 'a|b\n-|\n', '$$a\n']) {
    const text = line.repeat(60_000 / line.length);
    const { tokens } = parseBlocks(text);
    assert.equal(lettersOf(rawOf([...tokens])), lettersOf(text));
    const paragraphs = tokens.filter((token) => token.type === 'paragraph');
    assert.ok(paragraphs.length >= 3, `${paragraphs.length} paragraphs`);
    for (const { raw } of paragraphs) assert.ok(raw.length < 22_000, `${raw.length} characters`);
  }
});

/**
 * How many times as long as an ordinary text this takes, at best. If that seems too long, both are measured side by
 * side: the machine may have slowed down.
 */
function least(work: () => void): number {
  let best = cpuTime(work) / usual;
  for (let tries = 0; best >= limit && tries < 20; tries += 1) best = Math.min(best, cpuTime(work) / ordinaryTime());
  return best;
}

function ordinaryTime(): number {
  return cpuTime(() => parseBlocks(ordinary));
}

function cpuTime(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  return process.threadCpuUsage(before).user;
}
