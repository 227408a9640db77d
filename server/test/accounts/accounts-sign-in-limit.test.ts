import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type AccountsApp, type Answer, startAccountsApp, testPassword } from './accounts-app.ts';

let database: TestDatabase;
let app: AccountsApp;
before(async () => {
  database = await createTestDatabase();
  app = await startAccountsApp({ database });
});
after(async () => {
  await app.stop();
  await database.drop();
});

let subnet = 0;
/** An address that no other test uses. */
function freshAddress(): string {
  subnet += 1;
  return `203.0.${subnet}.1`;
}

async function trySignIn(email: string, password: string, from: string, on = app): Promise<Answer> {
  return on.request('POST', '/api/auth/sign-in/email', { body: { email, password }, from });
}

async function wrongTimes(times: number, email: string, from: string): Promise<number[]> {
  const statuses = [];
  for (let index = 0; index < times; index += 1) statuses.push((await trySignIn(email, 'wrong', from)).status);
  return statuses;
}

test('after ten wrong passwords for one account from one address, answers 429 even for the right one', async () => {
  const [user, other] = [await app.addUser(), await app.addUser()];
  const from = freshAddress();
  assert.deepEqual(await wrongTimes(11, user.email, from), [...Array(10).fill(401), 429]);
  const { at } = await app.db.kysely
    .selectFrom('sign_in_failures')
    .select('at')
    .where('address', '=', from)
    .orderBy('at')
    .executeTakeFirstOrThrow();
  const secondsLeft = () => Math.ceil((at.getTime() + 600_000 - app.clock.now()) / 1000);
  const most = secondsLeft();
  const answer = await trySignIn(user.email.toUpperCase(), testPassword, from);
  assert.deepEqual([answer.status, answer.body.error.code], [429, 'rate_limited']);
  const seconds = Number(answer.headers.get('retry-after'));
  assert.ok(seconds >= secondsLeft() && seconds <= most && most <= 600, `retry-after ${seconds}`);
  assert.equal((await trySignIn(other.email, testPassword, from)).status, 200, 'another account');
  assert.equal((await trySignIn(user.email, testPassword, freshAddress())).status, 200, 'another address');
  assert.equal((await trySignIn(user.email, testPassword, from)).status, 429, 'still closed here');
});

test('thirty wrong passwords block an address, for existing and unknown accounts alike', async () => {
  const user = await app.addUser();
  const from = freshAddress();
  for (let index = 0; index < 30; index += 1) {
    assert.equal((await trySignIn(`guess${index}@example.org`, 'wrong', from)).status, 401);
  }
  assert.equal((await trySignIn(user.email, testPassword, from)).status, 429);
  assert.equal((await trySignIn(user.email, testPassword, freshAddress())).status, 200);
  const { count } = await app.db.kysely
    .selectFrom('sign_in_failures')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('address', '=', from)
    .executeTakeFirstOrThrow();
  assert.equal(count, 30);
});

test('the right password resets the failures of that account only', async () => {
  const [user, other] = [await app.addUser(), await app.addUser()];
  const from = freshAddress();
  await wrongTimes(9, other.email, from);
  await wrongTimes(9, user.email, from);
  assert.equal((await trySignIn(user.email, testPassword, from)).status, 200);
  assert.deepEqual(await wrongTimes(2, user.email, from), [401, 401]);
  assert.deepEqual(await wrongTimes(2, other.email, from), [401, 429]);
});

test('concurrent attempts on two replicas do not bypass the limit', async () => {
  const replica = await startAccountsApp({ database });
  try {
    const user = await app.addUser();
    const from = freshAddress();
    const tries = Array.from({ length: 40 }, (_, index) =>
      trySignIn(user.email, `wrong ${index}`, from, index % 2 === 0 ? app : replica),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 401).length, 10);
    assert.equal(statuses.filter((status) => status === 429).length, 30);
  } finally {
    await replica.stop();
  }
});

/** 200 people of a company who sign in at the same time, on two cores within a minute: SIGN_INS=200. */
const signIns = Number(process.env.SIGN_INS ?? 40);

test(`signs in ${signIns} people with right passwords behind one address at the same time`, async () => {
  const users = await Promise.all(Array.from({ length: signIns }, () => app.addUser()));
  const from = freshAddress();
  const answers = await Promise.all(users.map(({ email }) => trySignIn(email, testPassword, from)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});

test('reads x-forwarded-for from trusted proxies only, and counts an IPv6 /64 as one address', async () => {
  const direct = await startAccountsApp({ database, config: { trustedProxies: [] } });
  try {
    const user = await app.addUser();
    for (let index = 0; index < 10; index += 1) {
      assert.equal((await trySignIn(user.email, 'wrong', `198.51.100.${index}`, direct)).status, 401);
    }
    assert.equal((await trySignIn(user.email, 'wrong', '198.51.100.99', direct)).status, 429, 'forged header');
    assert.equal((await trySignIn(user.email, testPassword, freshAddress())).status, 200);
    for (let index = 0; index < 10; index += 1) {
      assert.equal((await trySignIn(user.email, 'wrong', `2001:db8:1:2:${index}::1`)).status, 401);
    }
    assert.equal((await trySignIn(user.email, 'wrong', '2001:db8:1:2:ffff::1')).status, 429, 'same /64');
    assert.equal((await trySignIn(user.email, testPassword, '2001:db8:1:3::1')).status, 200, 'next /64');
  } finally {
    await direct.stop();
  }
});

test('the window of failures slides, and old rows are deleted', async () => {
  const user = await app.addUser();
  const from = freshAddress();
  await wrongTimes(10, user.email, from);
  assert.equal((await trySignIn(user.email, testPassword, from)).status, 429);
  app.clock.advance(10 * 60_000 + 1_000);
  assert.equal((await trySignIn(user.email, testPassword, from)).status, 200);
  await wrongTimes(1, user.email, from);
  const rows = await app.db.kysely.selectFrom('sign_in_failures').selectAll().where('address', '=', from).execute();
  assert.equal(rows.length, 1);
});

test('limits guesses of the current password', async () => {
  const user = await app.addUser();
  const from = freshAddress();
  const cookie = (await trySignIn(user.email, testPassword, from)).session;
  const change = (currentPassword: string) =>
    app.request('POST', '/api/auth/change-password', {
      cookie,
      from,
      body: { currentPassword, newPassword: 'another horse 2' },
    });
  for (let index = 0; index < 10; index += 1) assert.equal((await change('wrong')).status, 401);
  assert.equal((await change(testPassword)).status, 429);
  assert.equal((await app.request('GET', '/api/me', { cookie, from })).status, 200);
});

test('does not store the typed email address of a failed sign-in in plain text', async () => {
  const from = freshAddress();
  await trySignIn('my secret password', 'wrong', from);
  const rows = await app.db.kysely.selectFrom('sign_in_failures').selectAll().where('address', '=', from).execute();
  assert.equal(rows.length, 1);
  assert.doesNotMatch(JSON.stringify(rows), /secret/);
});

test("another user's wrong passwords behind the same address don't lock out a user who has signed in from there", async () => {
  const [user, stranger] = [await app.addUser(), await app.addUser()];
  const from = freshAddress();
  assert.equal((await trySignIn(user.email, testPassword, from)).status, 200);
  for (let index = 0; index < 32; index += 1) {
    const { status } = await trySignIn(`neighbour${index}@example.org`, 'wrong', from);
    assert.equal(status, index < 30 ? 401 : 429);
  }
  assert.equal((await trySignIn(stranger.email, testPassword, from)).status, 429);
  assert.equal((await trySignIn(user.email, testPassword, from)).status, 200);
  assert.deepEqual(await wrongTimes(11, user.email, from), [...Array(10).fill(401), 429]);
  assert.equal((await trySignIn(user.email, testPassword, from)).status, 429, 'its own limit holds');
  const text = JSON.stringify((await app.db.pool.query('select * from sign_in_addresses')).rows);
  assert.doesNotMatch(text, /example\.org/);
});

test('accounts that have signed in from an address share thirty wrong passwords there', async () => {
  const users = await Promise.all(Array.from({ length: 5 }, () => app.addUser()));
  const [from, elsewhere] = [freshAddress(), freshAddress()];
  for (const { email } of users) assert.equal((await trySignIn(email, testPassword, from)).status, 200);
  const last = users.pop() ?? assert.fail();
  const statuses: number[] = [];
  for (const { email } of users) statuses.push(...(await wrongTimes(8, email, from)));
  assert.deepEqual(statuses, [...Array(30).fill(401), 429, 429]);
  assert.equal((await trySignIn(last.email, testPassword, from)).status, 429, 'the share is used up');
  assert.equal((await trySignIn(last.email, testPassword, elsewhere)).status, 200, 'another address');
  assert.deepEqual(await wrongTimes(1, 'stranger@example.org', from), [429], 'all of them count for strangers');
});

/** An application in which password checks wait for `release`; `looked` counts the checks that have begun. */
async function startCrowded(context: { after(work: () => Promise<void>): void }) {
  let hold: Promise<void> | undefined;
  const held = Promise.withResolvers<void>();
  const close = (): void => {
    hold = held.promise;
  };
  const state = { looked: 0, close, release: held.resolve };
  const crowded = await startAccountsApp({
    trace: async (statement, work) => {
      // The first statement of an attempt, and the last one before the queue for password checks.
      if (statement.includes("hashtextextended('sign-in")) await hold;
      const result = await work();
      if (statement.includes('bool_or(email')) state.looked += 1;
      return result;
    },
  });
  context.after(async () => {
    held.resolve();
    await crowded.stop();
  });
  return Object.assign(state, { app: crowded });
}

/** Guesses from all these addresses wait; then a right password arrives, which few of them precede. */
async function assertNotHeldUp(
  crowded: Awaited<ReturnType<typeof startCrowded>>,
  addresses: readonly string[],
  { email, from }: { email: string; from: string },
): Promise<void> {
  crowded.close();
  crowded.looked = 0;
  const guesses = addresses.map((address, index) =>
    trySignIn(`guess${index}@example.org`, 'wrong', address, crowded.app),
  );
  await until('all guesses wait', async () => crowded.looked === guesses.length);
  const right = trySignIn(email, testPassword, from, crowded.app);
  await until('the person waits', async () => crowded.looked === guesses.length + 1);
  crowded.release();
  assert.equal((await right).status, 200);
  for (const { status } of await Promise.all(guesses)) assert.equal(status, 401);
  // The successful attempt is the one whose row is gone. Only attempts that were already being checked, and few others,
  // precede it.
  const { rows } = await crowded.app.db.pool.query<{ id: string }>('select id from sign_in_failures order by id');
  const earlier = rows.findIndex(({ id }, index) => Number(id) !== Number(rows[0]?.id) + index);
  assert.ok(earlier > 0 && earlier <= 20, `${earlier} guesses had their turn first`);
}

test("guesses from a hundred networks don't delay a user who has signed in from their address before", async (context) => {
  const crowded = await startCrowded(context);
  const user = await crowded.app.addUser();
  const from = freshAddress();
  assert.equal((await trySignIn(user.email, testPassword, from, crowded.app)).status, 200);
  const addresses = Array.from({ length: 100 }, (_, index) => `100.64.${index}.1`);
  await assertNotHeldUp(crowded, addresses, { email: user.email, from });
});

for (const [network, addressOf] of [
  ['a /24', (index: number) => `100.65.7.${index + 1}`],
  ['an IPv6 /48', (index: number) => `2001:db8:77:${index + 1}::1`],
] as const) {
  test(`guesses from sixty addresses of ${network} don't delay users elsewhere`, async (context) => {
    const crowded = await startCrowded(context);
    const { email } = await crowded.app.addUser();
    const addresses = Array.from({ length: 60 }, (_, index) => addressOf(index));
    await assertNotHeldUp(crowded, addresses, { email, from: freshAddress() });
  });
}

test('with a thousand attempts queued, answers one more of the same network with 429 and admits other people', async (context) => {
  const crowded = await startCrowded(context);
  const [person, neighbour] = [await crowded.app.addUser(), await crowded.app.addUser()];
  crowded.close();
  const left = new AbortController();
  let refusals = 0;
  const crowd = Array.from({ length: 1_004 }, async (_, index) => {
    const body = { email: `guess${index}@example.org`, password: 'wrong' };
    const from = `100.66.8.${index % 250}`;
    const sent = crowded.app.request('POST', '/api/auth/sign-in/email', { body, from, signal: left.signal });
    const answer = await sent.catch(() => undefined);
    if (answer?.status === 429) refusals += 1;
  });
  await until('four have their turn and a thousand wait', async () => crowded.looked === crowd.length);
  assert.equal(refusals, 0);
  const refused = await trySignIn(neighbour.email, testPassword, '100.66.8.254', crowded.app);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '5']);
  const right = trySignIn(person.email, testPassword, freshAddress(), crowded.app);
  await until('one of the crowd makes room', async () => refusals === 1);
  left.abort();
  await Promise.all(crowd);
  crowded.release();
  assert.equal((await right).status, 200);
});
