import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { findTooManyMembers } from './member-count.ts';

const schema = z.object({
  names: z.array(z.string()).max(2),
  headers: z.record(z.string(), z.string()).meta({ maxProperties: 2 }).optional(),
  owners: z.array(z.object({ policies: z.record(z.string(), z.string()).meta({ maxProperties: 1 }) })).max(3),
});
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 'x']));

test('names a list or record with too many members at any depth', () => {
  const fits = { names: ['a', 'b'], headers: many(2), owners: [{ policies: many(1) }] };
  assert.equal(findTooManyMembers(schema, fits), undefined);
  assert.deepEqual(findTooManyMembers(schema, { ...fits, names: ['a', 'b', 'c'] }), {
    path: 'names',
    message: 'At most 2 entries',
  });
  assert.deepEqual(findTooManyMembers(schema, { ...fits, headers: many(3) }), {
    path: 'headers',
    message: 'At most 2 entries',
  });
  assert.deepEqual(findTooManyMembers(schema, { ...fits, owners: [{ policies: {} }, { policies: many(2) }] }), {
    path: 'owners.1.policies',
    message: 'At most 1 entries',
  });
});

test('checks the matching shape of a union and skips values of another kind', () => {
  const either = z.union([z.object({ id: z.string() }), schema]);
  assert.deepEqual(findTooManyMembers(either, { names: ['a', 'b', 'c'] }), {
    path: 'names',
    message: 'At most 2 entries',
  });
  for (const value of [undefined, null, 'text', 7, []]) assert.equal(findTooManyMembers(schema, value), undefined);
});

test('checks the number of members once per list', () => {
  const looked: PropertyKey[] = [];
  const headers = new Proxy(many(10_000), {
    get(target, name) {
      looked.push(name);
      return Reflect.get(target, name);
    },
  });
  assert.equal(findTooManyMembers(schema, { headers })?.path, 'headers');
  assert.deepEqual(looked, []);
});
