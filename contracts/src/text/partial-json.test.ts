import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePartialJson as parseBySdk } from 'ai';
import fc from 'fast-check';
import { parsePartialJson } from './partial-json.ts';

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }),
    fc.constantFrom('"', '\\', '\u0001"', '😀'),
    fc.integer(),
    fc.double({ min: -1e9, max: 1e9, noNaN: true }).map((number) => Math.round(number * 1000) / 1000),
    fc.constantFrom(true, false, null),
    fc.array(tie('value')),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie('value')),
  ),
}));

test('parses a text cut anywhere like the AI SDK', async () => {
  const property = fc.asyncProperty(value, fc.nat(), fc.boolean(), async (whole, at, isPretty) => {
    const text = JSON.stringify(whole, null, isPretty ? 2 : undefined);
    const part = text.slice(0, at % (text.length + 1));
    assert.deepEqual(parsePartialJson(part), (await parseBySdk(part)).value);
  });
  await fc.assert(property, { numRuns: 5000 });
});

test('parses unusual and invalid texts', () => {
  const cases: [string, unknown][] = [
    ['', undefined],
    ['{', {}],
    ['{"a":1,"b', { a: 1 }],
    ['{"a":"x\\', { a: 'x' }],
    ['{"a":"x\\u00', { a: 'x' }],
    ['{"a":1e+', { a: 1 }],
    ['[1.', [1]],
    ['[-', []],
    ['[tr', [true]],
    ['{"a" "b"', {}],
    ['nonsense', undefined],
    ['}}}', undefined],
  ];
  for (const [text, expected] of cases) assert.deepEqual(parsePartialJson(text), expected, text);
});

test('parses a long text in linear time', () => {
  const text = `{"a":"${'\\n x'.repeat(250_000)}`;
  assert.equal(typeof parsePartialJson(text), 'object');
  assert.equal(parsePartialJson('['.repeat(100_000)) === undefined, false);
});
