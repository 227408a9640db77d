import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SseParser } from './sse-parser.ts';

test('reads ids, several data lines and comments', () => {
  const parser = new SseParser();
  const events = parser.push(': alive\n\nid: 1\ndata: a\ndata: b\n\ndata:c\nevent: x\n\nid: 3\n\n');
  assert.deepEqual(events, [
    { id: '1', data: 'a\nb' },
    { id: '1', data: 'c' },
  ]);
});

test('parses the same events for every split of the bytes and every line ending', () => {
  const line = fc.string({ maxLength: 8 }).map((text) => text.replace(/[\r\n\0]/g, ''));
  const event = fc.record({ id: line, data: fc.array(line, { minLength: 1, maxLength: 3 }) });
  fc.assert(
    fc.property(fc.array(event), fc.constantFrom('\n', '\r\n', '\r'), fc.array(fc.nat(12)), (events, end, cuts) => {
      const wire = events.map((e) => [`id: ${e.id}`, ...e.data.map((d) => `data: ${d}`), '', ''].join(end)).join('');
      const parser = new SseParser();
      const seen = [];
      let at = 0;
      for (const cut of cuts) {
        seen.push(...parser.push(wire.slice(at, at + cut)));
        at += cut;
      }
      seen.push(...parser.push(wire.slice(at)));
      assert.deepEqual(
        seen,
        events.map((e) => ({ id: e.id, data: e.data.join('\n') })),
      );
    }),
    { numRuns: 300 },
  );
});

test('rejects an event without an end', () => {
  const parser = new SseParser();
  const piece = `data: ${'x'.repeat(1024 * 1024)}\n`;
  assert.throws(() => {
    for (let count = 0; count < 20; count += 1) parser.push(piece);
  }, RangeError);
});

test('parses one long line in 60,000 pieces in linear time', () => {
  const parser = new SseParser();
  const before = process.cpuUsage();
  parser.push('data: ');
  for (let count = 0; count < 60_000; count += 1) parser.push('x'.repeat(64));
  assert.equal(parser.push('\n\n')[0]?.data.length, 60_000 * 64);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 500_000, `${user + system} µs`);
});
