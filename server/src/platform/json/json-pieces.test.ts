import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeUtf8, encodeJson, encodeUtf8, inPieces, isLargeJson, jsonPieces } from './json-pieces.ts';

const long = 'word "quoted" \u{1f600} \n'.repeat(100_000);
const values: [string, unknown][] = [
  ['a short text', 'a "b"'],
  ['a long text', long],
  ['pairs across a boundary', `x${'\u{1f600}'.repeat(300_000)}`],
  ['controls', '\u0001'.repeat(600_000)],
  ['an empty list and object', { list: [], object: {} }],
  ['nested values', [{ a: [1, null, true, 1.5e300, undefined], b: { c: long, d: undefined, e: '' } }, long, 'end']],
  ['a date', { at: new Date(0) }],
  ['a name that needs escapes', { 'a"b\u{1f600}': 1 }],
  ['null', null],
];

for (const [name, value] of values) {
  test(`encodes ${name} as JSON.stringify does`, async () => {
    const expected = JSON.stringify(value);
    assert.ok(Buffer.from(expected).equals(await encodeJson(value)));
    const pieces = [...jsonPieces(value)];
    assert.equal(pieces.join(''), expected);
    assert.ok(pieces.every((piece) => piece.length < 2_000_000));
    assert.equal(await decodeUtf8(Buffer.from(expected)), expected);
    assert.ok(Buffer.from(expected).equals(await encodeUtf8(expected)));
  });
}

test('encodes a long text with other work between its pieces', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const bytes = await encodeJson({ text: 'x'.repeat(10 * 1024 * 1024) });
  const encoding = turns;
  await decodeUtf8(bytes);
  const decoding = turns - encoding;
  await inPieces(bytes, () => undefined);
  isDone = true;
  assert.ok(encoding >= 38 && decoding >= 38 && turns - encoding - decoding >= 9, `${encoding}, ${decoding}, ${turns}`);
});

test('refuses bytes that are not UTF-8, also at the very end', async () => {
  for (const bytes of [
    Buffer.from([0x22, 0xff, 0x22]),
    Buffer.concat([Buffer.from(long), Buffer.from([0xf0, 0x9f])]),
  ]) {
    await assert.rejects(decodeUtf8(bytes), TypeError);
  }
});

test('tells large values from small ones', () => {
  assert.equal(isLargeJson({ a: 'x', list: [1, 2, 3], none: null }), false);
  assert.equal(isLargeJson({ parts: [{ text: long }] }), true);
  assert.equal(isLargeJson(Array.from({ length: 100_000 }, () => 1)), true);
});
