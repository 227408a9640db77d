import type { User } from '@homeport/contracts/fields';
import { insertPassword } from '../../src/accounts/credentials.ts';
import { hashPassword } from '../../src/accounts/passwords.ts';
import { insertUser, type NewUser } from '../../src/accounts/users.ts';
import type { Config } from '../../src/config/config.ts';
import type { Database } from '../../src/db/pool.ts';
import type { StatementTrace } from '../../src/db/wire.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { type Json, startTestApp } from '../app.ts';
import type { TestDatabase } from '../database.ts';

/** The whole application, with users who have passwords and clients at any address. */
export type AccountsApp = {
  db: Database;
  clock: TestClock;
  url: string;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  addUser(user?: Partial<NewUser>): Promise<User>;
  /** Signs in and gives the cookie pair. */
  signIn(email: string, password?: string): Promise<string>;
  stop(): Promise<void>;
};

/** `from` is the client's address, as a trusted proxy forwards it. */
type RequestOptions = {
  body?: unknown;
  cookie?: string;
  headers?: Record<string, string>;
  from?: string;
  signal?: AbortSignal;
};
/** `session` is the session's part of a `Cookie` header. */
export type Answer = { status: number; body: Json; headers: Headers; cookies: string[]; session: string | undefined };
type TestClock = Clock & { advance(milliseconds: number): void };
type Settings = { config?: Partial<Config>; database?: TestDatabase; clock?: TestClock; trace?: StatementTrace };

/** The password of users that `addUser` makes. */
export const testPassword = 'correct horse 1';
const hashed = hashPassword(testPassword);
let made = 0;

export async function startAccountsApp(settings: Settings = {}): Promise<AccountsApp> {
  const clock = settings.clock ?? testClock();
  const config = { trustedProxies: ['127.0.0.0/8'], ...settings.config };
  const app = await startTestApp({ ...settings, config, clock });
  const db = app.database.database;
  const request: AccountsApp['request'] = (method, path, options) => send(app.url, method, path, options);
  return {
    db,
    clock,
    url: app.url,
    request,
    addUser: (user = {}) => addUser(db, user),
    async signIn(email, password = testPassword) {
      const answer = await request('POST', '/api/auth/sign-in/email', { body: { email, password } });
      if (answer.session === undefined) throw new Error(`Sign-in answered ${answer.status}`);
      return answer.session;
    },
    stop: app.stop,
  };
}

/** The real clock, which tests can move forward. */
function testClock(): TestClock {
  let offset = 0;
  return {
    ...systemClock,
    now: () => Date.now() + offset,
    advance(milliseconds) {
      offset += milliseconds;
    },
  };
}

async function addUser(db: Database, user: Partial<NewUser>): Promise<User> {
  made += 1;
  const added = await insertUser(db.kysely, { name: 'Ada', email: `person${made}@example.org`, role: 'user', ...user });
  await insertPassword(db.kysely, added.id, await hashed);
  return added;
}

async function send(url: string, method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
  const headers = new Headers(options.headers);
  if (options.cookie !== undefined) headers.set('cookie', options.cookie);
  if (options.from !== undefined) headers.set('x-forwarded-for', options.from);
  if (options.body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
  const body = options.body === undefined ? {} : { body: JSON.stringify(options.body) };
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...body,
    redirect: 'manual',
    signal: options.signal ?? null,
  });
  const cookies = response.headers.getSetCookie();
  const session = cookies.find((cookie) => /^(__Secure-)?homeport\.session_token=[^;]/.test(cookie))?.split(';')[0];
  return { status: response.status, body: await response.json(), headers: response.headers, cookies, session };
}
