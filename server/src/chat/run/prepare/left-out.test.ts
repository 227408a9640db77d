import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolsLeftOut } from './left-out.ts';

test('names each omitted tool once in a conversation', () => {
  const first = toolsLeftOut('chat 1', [
    { name: 'a', reason: 'schema' },
    { name: 'b', reason: 'refused' },
  ]);
  assert.match(first?.message ?? '', /can’t be used .*: a\. .*refused .*: b\.$/);
  assert.equal(toolsLeftOut('chat 1', [{ name: 'a', reason: 'schema' }]), undefined);
  assert.match(toolsLeftOut('chat 2', [{ name: 'a', reason: 'schema' }])?.message ?? '', /: a\.$/);
});

test('names at most twenty tools', () => {
  const tools = Array.from({ length: 200 }, (_, at) => ({ name: `t${at}`, reason: 'limit' as const }));
  assert.match(toolsLeftOut('chat 3', tools)?.message ?? '', /t19 and 180 more\.$/);
});
