import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TextLines } from './text-lines.ts';

test('yields the same lines for every split of the text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n') })), (pieces) => {
      const lines = new TextLines(1_000_000);
      const read = pieces.flatMap((piece) => lines.push(piece));
      assert.deepEqual([...read, lines.end()], pieces.join('').split('\n'));
    }),
    { numRuns: 500 },
  );
});

test('reads a line in a million pieces in linear time, up to its bound', {
  timeout: 180_000,
}, () => {
  const lines = new TextLines(900_000);
  const before = process.cpuUsage();
  for (let count = 0; count < 1_000_000; count++) lines.push('x');
  assert.equal(lines.openLength, 1_000_000);
  assert.deepEqual(lines.push('y\nz'), ['x'.repeat(900_000)]);
  assert.equal(lines.end(), 'z');
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 5_000_000, `${user + system} µs`);
});
