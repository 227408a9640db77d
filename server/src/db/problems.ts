import { ApiError } from '@homeport/contracts/errors';
import { isDatabaseUnavailable } from './failures.ts';

/** Reasons why the database cannot be used, in words for operators. */

/** `message` and `advice` are sentences; neither shows a password. */
export type DatabaseProblem = { message: string; advice: string };

type Facts = { code: string; text: string; place: string };
type Rule = { fits(facts: Facts): boolean; message(facts: Facts): string; advice: string };

const untrusted = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);
const direct = 'set DATABASE_DIRECT_URL to the address of PostgreSQL itself: see docs/operations.md, "PgBouncer".';

const rules: readonly Rule[] = [
  {
    fits: ({ code }) => untrusted.has(code),
    message: ({ code }) => `The certificate of the database is not signed by a known authority (${code}).`,
    advice:
      'For an authority of your own, add sslrootcert=/path/to/ca.pem to DATABASE_URL, or name the file in NODE_EXTRA_CA_CERTS.',
  },
  {
    fits: ({ code }) => code === 'ERR_TLS_CERT_ALTNAME_INVALID',
    message: () => 'The certificate of the database is for another host name.',
    advice: 'Use a host name of the certificate in DATABASE_URL.',
  },
  {
    fits: ({ code }) => /^CERT_/.test(code),
    message: ({ code }) => `The certificate of the database is not valid (${code}).`,
    advice: 'Renew it, and check the clocks of both machines.',
  },
  {
    fits: ({ text }) => text.includes('does not support SSL'),
    message: () => 'The database offers no TLS, and DATABASE_URL asks for it.',
    advice: 'Switch TLS on in PostgreSQL, or remove sslmode from DATABASE_URL.',
  },
  {
    fits: ({ code, text }) => code === '28000' && text.includes('no encryption'),
    message: ({ text }) => `The database refuses connections without TLS: ${text}.`,
    advice: 'Add sslmode=verify-full to DATABASE_URL.',
  },
  {
    fits: ({ text }) => /unsupported startup parameter/i.test(text),
    message: () => 'DATABASE_URL leads to a pooler such as PgBouncer, and DATABASE_DIRECT_URL is not set.',
    advice: `Keep the pooler in DATABASE_URL, and ${direct}`,
  },
  {
    fits: ({ code, text }) => code === '08P01' && /server|login|connect|pgbouncer/i.test(text),
    message: ({ text }) => `The pooler in DATABASE_URL does not reach the database: ${text}.`,
    advice: 'Check that PostgreSQL is running, and the address of it in the settings of the pooler.',
  },
  {
    fits: ({ code }) => code === '28P01' || code === '28000',
    message: ({ text }) => `The database refuses the user or the password: ${text}.`,
    advice: 'Check the user and the password in DATABASE_URL.',
  },
  {
    fits: ({ code }) => code === '3D000',
    message: ({ text }) => `The database does not exist: ${text}.`,
    advice: 'Create it, or correct its name in DATABASE_URL.',
  },
  {
    fits: ({ code }) => code === '53300',
    message: () => 'The database accepts no more connections.',
    advice: 'Lower DATABASE_POOL_MAX, or raise max_connections of PostgreSQL.',
  },
  {
    fits: ({ code }) => code === '57P03',
    message: ({ text }) => `The database does not accept connections yet: ${text}.`,
    advice: 'Wait until it has started; if it does not, look at the log of PostgreSQL.',
  },
  {
    fits: ({ code }) => code === 'ENOTFOUND' || code === 'EAI_AGAIN',
    message: ({ place, code }) => `The host name of the database${place} is unknown (${code}).`,
    advice: 'Check the host in DATABASE_URL, and the name server of this machine.',
  },
  {
    fits: ({ code, text }) => code === 'ENOENT' && text.includes(' open '),
    message: ({ text }) => `A certificate that DATABASE_URL names cannot be read: ${text}.`,
    advice: 'Check sslrootcert, sslcert and sslkey in DATABASE_URL.',
  },
];

const unreachable =
  'Check that the database is running and can be reached from here, and the host and port in DATABASE_URL.';

/** Undefined for an error that says nothing about the database or the way to it. */
export function databaseProblem(error: unknown): DatabaseProblem | undefined {
  const origin = error instanceof ApiError && error.cause !== undefined ? error.cause : error;
  if (origin instanceof AggregateError && origin.errors.length > 0) return databaseProblem(origin.errors[0]);
  if (!(origin instanceof Error)) return undefined;
  const facts = factsOf(origin);
  const rule = rules.find(({ fits }) => fits(facts));
  if (rule !== undefined) return { message: rule.message(facts), advice: rule.advice };
  const isAway =
    isDatabaseUnavailable(origin) || (origin instanceof ApiError && origin.code === 'database_unavailable');
  if (!isAway) return undefined;
  const reason = facts.code === '' ? facts.text : facts.code;
  return { message: `The database${facts.place} does not answer (${reason}).`, advice: unreachable };
}

function factsOf(error: Error): Facts {
  const member = (name: string): string => {
    const value: unknown = Reflect.get(error, name);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const [host, port] = [member('address') || member('hostname'), member('port')];
  const place = host === '' ? '' : ` at ${host}${port === '' ? '' : `:${port}`}`;
  return { code: member('code'), text: error.message.replace(/\.$/, '').slice(0, 300), place };
}
