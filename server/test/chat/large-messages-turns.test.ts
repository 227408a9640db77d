import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { startTestApp } from '../app.ts';
import { watchTurns } from '../loop-turns.ts';
import type { LargeMessages, StepNotice } from './large-message-worker.ts';

/** CPU time of one turn of the event loop. */
const longestTurnMs = 100;

test('a message of 10 MB holds up other requests only briefly', { timeout: 120_000 }, async (t) => {
  const app = await startTestApp();
  t.after(() => app.stop());
  const { cookie } = await app.signIn();
  const workerData: LargeMessages = { url: app.url, cookie };
  const worker = new Worker(new URL('./large-message-worker.ts', import.meta.url), { workerData });
  t.after(() => worker.terminate());
  const longest = new Map<string, number>();
  await new Promise<void>((resolve, reject) => {
    let turns = watchTurns();
    t.after(() => turns.stop());
    worker.once('error', reject);
    worker.on('message', (notice: StepNotice | undefined) => {
      if (notice === undefined) return resolve();
      const turn = turns.stop();
      if (notice.state === 'ended') {
        longest.set(notice.step, turn);
        t.diagnostic(`${notice.step}: ${turn.toFixed(0)} ms, status ${notice.status}`);
      }
      turns = watchTurns();
    });
  });
  assert.equal(longest.size, 8);
  for (const [step, turn] of longest) assert.ok(turn < longestTurnMs, `${step}: ${turn} ms`);
});
