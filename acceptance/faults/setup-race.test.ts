import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Caller, scratchFolder, startProduct } from '../product.ts';

const attempts = 100;
const password = 'correct-horse-42';

test(`${attempts} simultaneous setups: one administrator`, { timeout: 60_000 }, async () => {
  const product = await startProduct(scratchFolder());
  const visitor = new Caller(product.url, '');
  assert.deepEqual((await visitor.must('GET', '/api/setup')).required, true);
  const people = Array.from({ length: attempts }, (_, index) => ({
    name: `Person ${index}`,
    email: `person-${index}@example.org`,
    password,
  }));
  const answers = await Promise.all(people.map((person) => visitor.call('POST', '/api/setup', person)));
  const winners = people.filter((_, index) => answers[index]?.status === 201);
  assert.equal(winners.length, 1);
  for (const { status, body, text } of answers) {
    if (status !== 201) assert.deepEqual([status, body.error.code], [409, 'setup_closed'], text);
  }
  assert.deepEqual((await visitor.must('GET', '/api/setup')).required, false);
  const signIn = ({ email }: { email: string }) => visitor.call('POST', '/api/auth/sign-in/email', { email, password });
  for (const winner of winners) assert.equal((await signIn(winner)).status, 200);
  // Fewer than the wrong passwords that one address may try.
  const losers = people.filter((person) => !winners.includes(person)).slice(0, 20);
  for (const loser of losers) assert.equal((await signIn(loser)).status, 401, loser.email);
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);
});
