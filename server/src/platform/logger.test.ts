import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { createLogger } from './logger.ts';

function logged(cause: unknown): Record<string, unknown> {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(line) });
  log.error({ cause }, 'request failed');
  return JSON.parse(lines.join('')).cause;
}

test('logs an error with its message, its stack and its cause', () => {
  const { name, message, stack, cause } = logged(new TypeError('x is not a function', { cause: new Error('inner') }));
  assert.deepEqual([name, message], ['TypeError', 'x is not a function']);
  assert.match(JSON.stringify(stack), /logger\.test\.ts/);
  assert.match(JSON.stringify(cause), /"inner"/);
});

test('the error of a statement is logged without the values in it', () => {
  const error = new pg.DatabaseError('invalid input syntax for type json: "canary"', 10, 'error');
  Object.assign(error, { severity: 'ERROR', code: '23505', constraint: 'users_email', detail: 'Key (email)=(canary)' });
  const { code, constraint } = logged(error);
  assert.deepEqual([code, constraint], ['23505', 'users_email']);
  for (const cause of [error, new Error('outer', { cause: error })]) {
    assert.ok(!JSON.stringify(logged(cause)).includes('canary'));
  }
});

test('ends the chain of causes at a circular one', () => {
  const error = new Error('round');
  error.cause = error;
  assert.equal(logged(error).message, 'round');
  assert.equal(logged('text').message, 'text');
});
