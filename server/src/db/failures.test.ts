import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { databaseUnavailable, isDatabaseUnavailable } from './failures.ts';

function coded(code: string, syscall?: string): Error {
  return Object.assign(new Error(code), { code, syscall });
}

test('distinguishes errors of the connection from errors of the statement', () => {
  const refused = coded('ECONNREFUSED', 'connect');
  const unavailable = [
    refused,
    coded('ENOENT', 'connect'),
    coded('EAGAIN', 'connect'),
    coded('EMFILE', 'connect'),
    coded('57P01'),
    coded('57P03'),
    coded('53300'),
    coded('08006'),
    coded('ECONNRESET', 'read'),
    new AggregateError([refused, refused]),
    new Error('Connection terminated unexpectedly'),
    new Error('timeout exceeded when trying to connect'),
    new Error('Client has encountered a connection error and is not queryable'),
  ];
  const others = [
    coded('23505'),
    coded('57014'),
    coded('ENOENT', 'open'),
    coded('EMFILE', 'open'),
    coded('EAGAIN', 'read'),
    new AggregateError([refused, coded('23505')]),
    new Error('something else'),
    new ApiError('not_found', 'Chat not found'),
    undefined,
    'ECONNREFUSED',
  ];
  assert.deepEqual(
    unavailable.filter((error) => !isDatabaseUnavailable(error)),
    [],
  );
  assert.deepEqual(others.filter(isDatabaseUnavailable), []);
});

test('answers a typed, retryable 503', () => {
  const error = databaseUnavailable();
  assert.deepEqual([error.code, error.status, error.retryAfter], ['database_unavailable', 503, 1]);
});
