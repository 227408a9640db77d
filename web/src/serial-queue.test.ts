import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSerialQueue } from './serial-queue.ts';

test('starts each task after the one before has settled, also after a failure', async () => {
  const changes = createSerialQueue();
  const log: string[] = [];
  const first = Promise.withResolvers<void>();
  const slow = changes.run(async () => {
    log.push('one begins');
    await first.promise;
    throw new Error('refused');
  });
  const quick = changes.run(async () => {
    log.push('two begins');
    return 2;
  });
  await new Promise(setImmediate);
  assert.deepEqual(log, ['one begins']);
  assert.equal(changes.isIdle, false);
  first.resolve();
  await assert.rejects(slow, /refused/);
  assert.equal(await quick, 2);
  assert.deepEqual(log, ['one begins', 'two begins']);
  assert.equal(changes.isIdle, true);
});
