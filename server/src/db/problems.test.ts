import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUnavailable } from './failures.ts';
import { databaseProblem } from './problems.ts';

function failure(message: string, members: object = {}): Error {
  return Object.assign(new Error(message), members);
}

test('names the setting to change for each reason why a database cannot be used', () => {
  const refused = failure('connect ECONNREFUSED 127.0.0.1:5432', {
    code: 'ECONNREFUSED',
    address: '127.0.0.1',
    port: 5432,
  });
  const cases: [error: unknown, message: RegExp, advice: RegExp][] = [
    ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'].map(
      (code): [Error, RegExp, RegExp] => [
        failure('unable to verify', { code }),
        new RegExp(`not signed by a known authority \\(${code}\\)`),
        /sslrootcert=.* DATABASE_URL.*NODE_EXTRA_CA_CERTS/,
      ],
    ),
    [failure('no', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), /another host name/, /host name/],
    [failure('no', { code: 'CERT_HAS_EXPIRED' }), /CERT_HAS_EXPIRED/, /Renew/],
    [failure('The server does not support SSL connections'), /no TLS/, /sslmode/],
    [failure('no pg_hba.conf entry for host "x", no encryption', { code: '28000' }), /without TLS/, /verify-full/],
    [
      failure('unsupported startup parameter: statement_timeout', { code: '08P01' }),
      /PgBouncer/,
      /DATABASE_DIRECT_URL/,
    ],
    [failure('server login has been failing', { code: '08P01' }), /pooler .* does not reach/, /PostgreSQL is running/],
    [failure('password authentication failed for user "x"', { code: '28P01' }), /refuses/, /password in DATABASE_URL/],
    [failure('database "x" does not exist', { code: '3D000' }), /does not exist/, /name in DATABASE_URL/],
    [failure('sorry, too many clients already', { code: '53300' }), /no more connections/, /DATABASE_POOL_MAX/],
    [failure('the database system is starting up', { code: '57P03' }), /yet/, /Wait/],
    [failure('getaddrinfo', { code: 'ENOTFOUND', hostname: 'db.x' }), /at db\.x is unknown/, /name server/],
    [failure("ENOENT: no such file or directory, open '/ca.pem'", { code: 'ENOENT' }), /\/ca\.pem/, /sslrootcert/],
    [refused, /at 127\.0\.0\.1:5432 does not answer \(ECONNREFUSED\)/, /DATABASE_URL/],
    [new AggregateError([refused, refused], ''), /127\.0\.0\.1:5432 does not answer/, /DATABASE_URL/],
    [databaseUnavailable(refused), /127\.0\.0\.1:5432 does not answer/, /DATABASE_URL/],
    [databaseUnavailable(), /does not answer/, /DATABASE_URL/],
    [failure('timeout expired'), /does not answer \(timeout expired\)/, /DATABASE_URL/],
  ];
  for (const [error, message, advice] of cases) {
    const problem = databaseProblem(error);
    assert.match(problem?.message ?? '', message);
    assert.match(problem?.advice ?? '', advice);
  }
});

test('says nothing about errors that are not those of a connection', () => {
  for (const error of [new Error('no'), failure('duplicate key', { code: '23505' }), 'text', undefined]) {
    assert.equal(databaseProblem(error), undefined);
  }
});
