import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CommandOutput, cutLine } from './command-output.ts';

function read(pieces: readonly string[]): string {
  const output = new CommandOutput();
  for (const piece of pieces) output.add(piece);
  return output.read('LOG');
}

test('keeps short output whole, without colors and cursor movements', () => {
  assert.equal(read(['a\n', 'b']), 'a\nb');
  assert.equal(read(['\u001b[1;31mred\u001b[0m \u001b]0;title\u0007x\u001b[2K']), 'red x');
  assert.equal(read(['x'.repeat(1_999), '\n']), `${'x'.repeat(1_999)}\n`);
});

test('keeps the beginning and the end of long output, and accounts for every byte', () => {
  const pieces = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 }), { maxLength: 400 });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 12 }), (some, times) => {
      const lines = Array.from({ length: times }, () => some)
        .flat()
        .map((line) => `${line.replace(/\p{Cc}/gu, '.')}\n`);
      const text = lines.join('');
      const seen = read(lines);
      const [, omitted] = /\n\[omitted (\d+) bytes; full log in LOG\]\n/.exec(seen) ?? [];
      if (omitted === undefined) return assert.equal(seen, text);
      const [head = '', tail = ''] = seen.split(`\n[omitted ${omitted} bytes; full log in LOG]\n`);
      assert.ok(text.startsWith(head) && text.endsWith(tail));
      assert.equal(Buffer.byteLength(head) + Buffer.byteLength(tail) + Number(omitted), Buffer.byteLength(text));
      assert.ok(Buffer.byteLength(head) <= 16 * 1024 && Buffer.byteLength(tail) <= 16 * 1024);
    }),
    { numRuns: 200 },
  );
});

test('keeps the last state of a line that is rewritten, however often and however it arrives', () => {
  const frames = Array.from({ length: 3_000 }, (_, index) => `\r${index + 1}/3000 [${'#'.repeat(40)}]`);
  assert.equal(read([...frames, '\n']), `3000/3000 [${'#'.repeat(40)}]\n`);
  assert.equal(read([frames.join(''), '\r', '\n', 'end']), `3000/3000 [${'#'.repeat(40)}]\nend`);
  const output = new CommandOutput();
  for (const frame of frames) output.add(frame);
  assert.equal(output.tail(), `3000/3000 [${'#'.repeat(40)}]`);
});

test('removes an escape sequence that arrives in two pieces', () => {
  assert.equal(read(['a\u001b[3', '1mb\u001b]8;;http://e', '.com\u001b\\c\n']), 'abc\n');
});

test('shows a tail of at most 4 KiB that begins with a line', () => {
  const output = new CommandOutput();
  for (let index = 0; index < 100_000; index += 1) output.add(`line ${index} €\n`);
  assert.ok(Buffer.byteLength(output.tail()) <= 4096);
  assert.match(output.tail(), /^line \d+ €\n[\s\S]*line 99999 €\n$/);
});

test('cuts a long line, with a note', () => {
  assert.equal(cutLine('x'.repeat(2_001)), `${'x'.repeat(2_000)} [line cut: 1 more characters]`);
});
