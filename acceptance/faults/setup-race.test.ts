import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type Answer, Caller, type Running, scratchFolder, startProduct, startProgram } from '../product.ts';

const attempts = 100;
const password = 'correct-horse-42';

test(`creates one administrator in ${attempts} concurrent setups`, async () => {
  const product = await startProduct(scratchFolder());
  await race([product]);
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);
});

test(`creates one administrator in ${attempts} concurrent setups at two replicas`, async () => {
  const database = await startProgram('scripts/test/throw-away-postgres.mjs');
  const env = { DATABASE_URL: database.url, AUTH_SECRET: randomUUID(), SETTINGS_ENCRYPTION_KEY: randomUUID() };
  const replicas = await Promise.all([startProduct(scratchFolder(), env), startProduct(scratchFolder(), env)]);
  await race(replicas);
  for (const replica of replicas) replica.kill('SIGTERM');
  for (const replica of replicas) assert.equal(await replica.exited, 0);
  database.kill('SIGTERM');
  await database.exited;
});

async function race(replicas: readonly Running[]): Promise<void> {
  const visitors = replicas.map((replica) => new Caller(replica.url, ''));
  const at = (index: number): Caller => visitors[index % visitors.length] ?? new Caller('', '');
  for (const visitor of visitors) assert.equal((await visitor.must('GET', '/api/setup')).required, true);
  const people = Array.from({ length: attempts }, (_, index) => ({
    name: `Person ${index}`,
    email: `person-${index}@example.org`,
    password,
  }));
  const answers = await Promise.all(people.map((person, index) => at(index).call('POST', '/api/setup', person)));
  const winners = people.filter((_, index) => answers[index]?.status === 201);
  assert.equal(winners.length, 1);
  for (const { status, body, text } of answers) {
    if (status !== 201) assert.deepEqual([status, body.error.code], [409, 'setup_closed'], text);
  }
  for (const visitor of visitors) assert.equal((await visitor.must('GET', '/api/setup')).required, false);
  const signIn = (email: string): Promise<Answer> => at(0).call('POST', '/api/auth/sign-in/email', { email, password });
  for (const winner of winners) assert.equal((await signIn(winner.email)).status, 200);
  // Fewer than the wrong passwords that one address may try.
  const losers = people.filter((person) => !winners.includes(person)).slice(0, 10);
  for (const loser of losers) assert.equal((await signIn(loser.email)).status, 401, loser.email);
}
