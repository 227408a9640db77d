import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { z } from 'zod';
import { validate } from './validate.ts';

test('truncates a long member name in an error', () => {
  const schema = z.object({ headers: z.record(z.string(), z.string().max(3)) });
  assert.throws(
    () => validate(schema, { headers: { ['é'.repeat(5_000)]: 'long' } }),
    (error) => {
      assert.ok(error instanceof ApiError);
      assert.ok(error.message.length < 300, error.message);
      assert.match(JSON.stringify(error.details), /"headers\.é{100}…"/);
      return true;
    },
  );
});
