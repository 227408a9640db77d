import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { driftBetween } from './drift.ts';
import { fingerprintOf, readDefinitions } from './fingerprint.ts';

const inputSchema = { type: 'object', properties: { b: { type: 'number', maximum: 1e21 }, a: { type: 'string' } } };
const tool = { name: 'b', description: 'Two', inputSchema };

test('computes the SHA-256 of the canonical JSON, sorted by name, in lower-case hex', () => {
  const { fingerprint, tools } = readDefinitions([tool, { name: 'a', inputSchema: { type: 'object' } }]);
  const canonical =
    '[{"inputSchema":{"type":"object"},"name":"a"},' +
    '{"description":"Two","inputSchema":{"properties":{"a":{"type":"string"},"b":{"maximum":1e+21,"type":"number"}},"type":"object"},"name":"b"}]';
  assert.equal(fingerprint, createHash('sha256').update(canonical).digest('hex'));
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['a', 'b'],
  );
});

test('covers every displayed member, and nothing else', () => {
  const base = readDefinitions([tool]).fingerprint;
  const reversed = Object.fromEntries(Object.entries(inputSchema).reverse());
  for (const same of [
    { ...tool, inputSchema: reversed },
    { ...tool, _meta: { a: 1 }, icons: [], execution: {} },
    { ...tool, title: null, outputSchema: null, annotations: undefined },
  ]) {
    assert.equal(readDefinitions([same]).fingerprint, base);
  }
  const others = [
    { ...tool, name: 'B' },
    { ...tool, title: 'Two' },
    { ...tool, description: 'Two ' },
    { ...tool, description: 'Tw\u200bo' },
    { ...tool, description: 'Tw\u006f\u0301' },
    { ...tool, inputSchema: { ...inputSchema, required: ['a'] } },
    {
      ...tool,
      inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, a: { type: 'string', x: 1 } } },
    },
    { ...tool, outputSchema: { type: 'object' } },
    { ...tool, annotations: { readOnlyHint: true } },
    { ...tool, annotations: { custom: [1] } },
  ];
  const prints = others.map((other) => readDefinitions([other]).fingerprint);
  assert.equal(new Set([base, ...prints]).size, others.length + 1);
  assert.equal(fingerprintOf([]), createHash('sha256').update('[]').digest('hex'));
});

test('reports added, removed and changed tools as drift', () => {
  const before = readDefinitions([tool, { ...tool, name: 'c' }]).tools;
  const after = readDefinitions([
    { ...tool, description: 'Three' },
    { ...tool, name: 'd' },
  ]).tools;
  const drift = driftBetween(before, after);
  assert.deepEqual(
    [drift.added, drift.removed, drift.modified].map((list) => list.map(({ name }) => name)),
    [['d'], ['c'], ['b']],
  );
  assert.equal(driftBetween(before, before).changed, false);
});

test('leaves out a tool with an invalid definition, and the second one of a name', () => {
  const good = readDefinitions([tool]);
  const deep = Array.from({ length: 80 }).reduce<object>((inner) => ({ inner }), {});
  for (const bad of [
    { name: 'none' },
    { name: 'null', inputSchema: null },
    { ...tool, description: 'Another of this name' },
    { name: '', inputSchema: {} },
    { name: '__proto__', inputSchema: {} },
    { name: 'large', inputSchema: { description: 'x'.repeat(200_000) } },
    { name: 'deep', inputSchema: deep },
    { name: 'title', title: 5, inputSchema: {} },
    null,
    'text',
  ]) {
    assert.deepEqual(readDefinitions([tool, bad]), good, JSON.stringify(bad)?.slice(0, 60));
  }
  assert.throws(() => readDefinitions([{ name: 'none' }]), /no input schema/);
  assert.deepEqual(readDefinitions([]).tools, []);
});
