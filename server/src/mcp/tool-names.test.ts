import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nameTools } from './tool-names.ts';

const named = (...tools: [serverName: string, toolName: string][]) =>
  tools.map(([serverName, toolName], index) => ({ serverId: `s${index}`, serverName, toolName }));

test('builds readable names from the server and the tool', () => {
  const names = [...nameTools(named(['GitHub', 'create_issue'], ['My notes', 'a.b'], ['日本', '検索'])).keys()];
  assert.deepEqual(names, ['mcp__GitHub__create_issue', 'mcp__My_notes__a_b', 'mcp__server__tool']);
});

test('distinguishes two tools of the same name; the first keeps its name', () => {
  const names = [...nameTools(named(['a', 'b__c'], ['a__b', 'c'], ['a', 'b__c'])).keys()];
  assert.equal(names[0], 'mcp__a__b__c');
  assert.equal(new Set(names).size, 3);
  for (const name of names.slice(1)) assert.match(name, /^mcp__a__b__c_[0-9a-f]{8}$/);
});

test('gives every tool one name that is safe for every provider', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 120 });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 30 }), (pairs) => {
      const tools = named(...pairs);
      const names = nameTools(tools);
      assert.deepEqual(new Set(names.values()), new Set(tools));
      for (const name of names.keys()) assert.match(name, /^mcp__[A-Za-z0-9_-]{1,59}$/);
      assert.deepEqual([...nameTools(tools).keys()], [...names.keys()], 'the same in every turn');
    }),
  );
});
