import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findJsonExcess, JsonScan, jsonBounds } from './json-scan.ts';

const bounds = { depth: 3, values: 6, names: 2 };
const cases: [json: string, excess: RegExp | undefined][] = [
  ['', undefined],
  ['"[[[[[[,,,,,,,::::"', undefined],
  ['"a\\"[[[[[["', undefined],
  ['"\\\\",[[[', undefined],
  ['[[[1]]]', undefined],
  ['[[[[', /deeper than 3/],
  ['[1,2,3,4,5]', undefined],
  ['[1,2,3,4,5,6]', /more than 6 values/],
  ['[{},[]]', undefined],
  ['[{},{},[]]', /more than 6 values/],
  ['{"a":1,"b":":,["}', undefined],
  ['{"a":1,"b":2,"c":3}', /more than 2 named members/],
  ['{"\\\\":{"\\"":1}}', undefined],
  ['"\u{1f680}é\\u005b",[', undefined],
];

for (const [json, excess] of cases) {
  test(`${json} ${excess === undefined ? 'passes' : `is refused (${excess.source})`}, however it is cut`, () => {
    const bytes = Buffer.from(json);
    const whole = findJsonExcess(bytes, bounds);
    if (excess === undefined) assert.equal(whole, undefined);
    else assert.match(whole?.message ?? '', excess);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const scan = new JsonScan(bounds);
      const found = scan.push(bytes.subarray(0, cut)) ?? scan.push(bytes.subarray(cut));
      assert.deepEqual(found, whole, `cut at ${cut}`);
    }
    const scan = new JsonScan(bounds);
    const byByte = [...bytes].map((byte) => scan.push(Uint8Array.of(byte))).find((found) => found !== undefined);
    assert.deepEqual(byByte, whole);
  });
}

test('nothing more is read than it takes to find out', () => {
  const deep = Buffer.alloc(1_000_000, '[');
  const read = new Proxy(deep, {
    get: (target, name) => {
      if (name === '100') assert.fail('read on');
      return Reflect.get(target, name);
    },
  });
  assert.notEqual(findJsonExcess(read, jsonBounds), undefined);
});
