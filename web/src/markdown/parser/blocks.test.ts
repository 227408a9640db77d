import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseBlocks, StreamingBlocks } from './blocks.ts';

const fragment = fc.constantFrom(
  'Plain text with *emphasis* and `code`.',
  '# Heading\n',
  'Setext\n===',
  '---',
  '- item',
  '  - nested',
  '\n1. one\n2. two',
  'lazy line',
  '> quote',
  '> > deeper',
  '```ts\nconst a = 1;\n```',
  '~~~\nopen fence',
  '    indented code',
  '| a | b |\n|---|:-:|\n| 1 | 2 |',
  '| only | pipes |',
  '[link](https://example.org)',
  '- [ ] task',
  '<div>\nraw html\n</div>',
  '<b>inline</b>',
  'a  \nhard break',
  '\\*escaped\\*',
  '$x^2$',
  '$$\na\n= b\n+ c\n$$',
  '$$',
  '\\[ x',
  '\\]',
  'a $$ b',
  '\\( y \\)',
  '\r\n',
  '\t\ttabs',
  'https://example.org/path',
  '\\[[linked](https://example.org)\\]',
  '***',
  '* * *',
  '+ plus',
  '&amp; &lt;',
);
const document = fc
  .array(fc.tuple(fragment, fc.constantFrom('\n', '\n\n', ' ', '', '\n\n\n')), { maxLength: 40 })
  .map((pieces) => pieces.map((piece) => piece.join('')).join(''));

test('a growing text parses to the same blocks as the whole, at every step', () => {
  fc.assert(
    fc.property(document, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 60 }), (text, steps) => {
      const growing = new StreamingBlocks();
      let at = 0;
      for (let step = 0; at < text.length; step += 1) {
        at = Math.min(text.length, at + (steps[step % steps.length] ?? 1));
        const prefix = text.slice(0, at);
        // A lone CR at the cut may still become CRLF.
        if (prefix.endsWith('\r')) continue;
        const whole = parseBlocks(prefix.replace(/\r\n?/g, '\n'));
        assert.deepEqual(growing.update(prefix, false).tokens, whole.tokens);
      }
      assert.deepEqual(growing.update(text, true).tokens, parseBlocks(text.replace(/\r\n?/g, '\n')).tokens);
    }),
    { numRuns: 400 },
  );
});

test('frozen blocks keep their identity', () => {
  const growing = new StreamingBlocks();
  const start = Array.from({ length: 10 }, (_, index) => `Paragraph ${index}`).join('\n\n');
  const before = growing.update(start, false).tokens;
  const after = growing.update(`${start}\n\nMore`, false).tokens;
  assert.equal(after[0], before[0]);
  assert.equal(after[5], before[5]);
});

test('a link definition at the end resolves earlier references once the text has ended', () => {
  const text = 'See [docs].\n\nA\n\nB\n\nC\n\nD\n\n[docs]: https://example.org\n';
  const growing = new StreamingBlocks();
  for (let at = 1; at <= text.length; at += 1) growing.update(text.slice(0, at), false);
  assert.deepEqual(growing.update(text, true).tokens, parseBlocks(text).tokens);
});

test('parses a replaced text from the beginning', () => {
  const growing = new StreamingBlocks();
  growing.update('A\n\nB\n\nC\n\nD\n\nE\n\nF', false);
  assert.deepEqual(growing.update('Other\n\ntext', false).tokens, parseBlocks('Other\n\ntext').tokens);
});

test('absurd nesting comes back as text instead of throwing', () => {
  const text = '>'.repeat(50_000);
  assert.equal(parseBlocks(text).tokens.length > 0, true);
});

test('parses an endless paragraph in linear time', () => {
  const text = 'word *emphasis* `code` '.repeat(4_000);
  const growing = new StreamingBlocks();
  let parses = 0;
  let before: unknown;
  for (let at = 50; at < text.length; at += 50) {
    const { tokens } = growing.update(text.slice(0, at), false);
    assert.equal(tokens.map((token) => token.raw).join(''), text.slice(0, at));
    if (tokens[0] !== before) parses += 1;
    before = tokens[0];
  }
  assert.ok(parses < 300, `${parses} parses`);
  assert.deepEqual(growing.update(text, true).tokens, parseBlocks(text).tokens);
});

test('reads a link in escaped brackets as a link, and brackets with commands as a formula', () => {
  const kinds = (text: string): string[] =>
    parseBlocks(text)
      .tokens.flatMap((token) => ('tokens' in token && token.tokens ? token.tokens : [token]))
      .map(({ type }) => type);
  for (const text of ['\\[[RFC 2616](http://example.org)\\]', 'See \\[[a](/b)\\] and more']) {
    assert.ok(kinds(text).includes('link'), text);
    assert.ok(!kinds(text).includes('math'), text);
  }
  for (const text of ['\\[ f[x](y) + 1 \\]', 'so \\[ a_[1](2) \\] holds'])
    assert.ok(kinds(text).includes('math'), text);
});
