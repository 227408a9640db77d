import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, readCpu, spentSince } from '../bench.ts';
import { unpin } from '../servers/processes.ts';
import type { Product } from '../servers/product.ts';
import { Histogram } from '../statistics.ts';

const people = 200;
const password = 'bench-password-2026';

/**
 * A company in the morning: all people sign in at once from one address, with hashes of the real cost. Hashing takes
 * both cores, so the product is not pinned here. On a busy machine, compare CPU rather than time.
 */
export async function measureSignIns(bench: Bench): Promise<void> {
  const product = await bench.freshProduct();
  for (const pid of [product.pid, product.databasePid]) unpin(pid);
  await addPeople(product);
  // The first sign-in loads the modules for signing in.
  await signIn(product, 'bench@example.org');
  const cpuBefore = readCpu(product);
  const waits = new Histogram();
  let refused = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: people }, async (_, index) => {
      refused += await signIn(product, emailOf(index));
      waits.add(performance.now() - startedAt);
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = spentSince(product, cpuBefore);
  const part = 'sign-ins';
  bench.report.add({
    part,
    what: `${people} people at once, until the last is in`,
    measured: seconds,
    unit: 's',
    judge: 'value',
    limit: { at: 'most', value: 60 },
    note: `p50 ${Math.round(waits.percentile(0.5))} ms`,
  });
  bench.report.add({
    part,
    what: 'of them told to try again',
    measured: refused,
    unit: '',
    judge: 'value',
    limit: { at: 'most', value: 0 },
  });
  bench.report.add({
    part,
    what: 'CPU of all of them, server and database',
    measured: cpu.server + cpu.database,
    unit: 's',
    // Two cores, a minute.
    judge: 'value',
    limit: { at: 'most', value: 120 },
  });
  await product.stop();
}

const emailOf = (index: number): string => `person-${index}@example.org`;

/** Accounts with the administrator's password: one hash, as costly to check as any. */
async function addPeople(product: Product): Promise<void> {
  const client = await product.openDatabase();
  await client.query(
    `with people as (
       insert into users (id, name, email, role)
       select 'person-' || n, 'Person ' || n, 'person-' || n || '@example.org', 'user' from generate_series(0, $1::int - 1) n
       returning id)
     insert into credentials (id, user_id, account_id, provider_id, password)
     select gen_random_uuid()::text, people.id, people.id, first.provider_id, first.password
     from people, (select provider_id, password from credentials order by created_at limit 1) first`,
    [people],
  );
  await client.end();
}

/** Retries until the sign-in succeeds; resolves with the number of 429 responses. */
async function signIn(product: Product, email: string): Promise<number> {
  for (let refused = 0; ; refused += 1) {
    const response = await fetch(`http://127.0.0.1:${product.port}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    const text = await response.text();
    if (response.status === 200) return refused;
    if (response.status !== 429) throw new Error(`${email} was answered ${response.status}: ${text.slice(0, 200)}`);
    await delay(1_000 * Number(response.headers.get('retry-after') ?? 1));
  }
}
