import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { insertApproval } from '../../../src/chat/ledger/approvals.ts';
import { claimInput } from '../../../src/chat/ledger/claims.ts';
import { interruptExpired } from '../../../src/chat/ledger/interruption.ts';
import { endResponse } from '../../../src/chat/ledger/response-end.ts';
import { claimResumption } from '../../../src/chat/ledger/resumptions.ts';
import { sequence, toLines } from '../../../src/chat/log/frame-sequence.ts';
import { storeFrames } from '../../../src/chat/log/frame-store.ts';
import { type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { callTool, finish, say, stream } from '../../fakes/provider/provider-scripts.ts';
import { addModels, chatDetail, createChat, idle, postChat, readStream, submit } from '../chat-harness.ts';

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ timings: { tickMs: 10, sweepMs: 600_000 } });
});
after(async () => {
  await app.stop();
  await provider.close();
});

async function stoppedAnswer(user: SignedIn): Promise<{ chatId: string; storedText: string }> {
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  // It is not complete, however late it is stopped.
  provider.enqueue('words-900@100', stream([{ words: 900, rate: 100 }, { hang: true }]));
  await readStream(await postChat(user, { chatId, messageId }), ({ id }) => id > 60);
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await idle(app);
  return { chatId, storedText: (await chatDetail(user, chatId)).messages[1].parts.at(-1).text };
}

test('a response that cannot be read while it is continued is not lost', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-900@100']);
  const { chatId, storedText } = await stoppedAnswer(user);
  const { deps } = app.service;
  const request = { chatId, ownerId: user.id, decision: {}, isFull: false };
  const outcome = await claimResumption(deps, request, deps.responses.maker);
  assert.equal(outcome.kind, 'claimed');
  if (outcome.kind !== 'claimed') return;

  const locker = await deps.db.openClient();
  await locker.query('begin');
  await locker.query('lock table messages in access exclusive mode');
  const run = deps.responses.begin(outcome);
  const waiting = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like 'select "parts"%'`;
  // Not on the locker's connection: within a transaction PostgreSQL shows the same activity again.
  const pid = await until(async () => (await deps.db.pool.query(waiting)).rows[0]?.pid);
  await deps.db.pool.query('select pg_terminate_backend($1)', [pid]);
  await until(async () => run.ending);
  await locker.query('rollback');
  await locker.end();
  await run.done;

  const detail = await chatDetail(user, chatId);
  assert.equal(detail.response, null);
  assert.equal(detail.messages[1].status, 'failed');
  assert.equal(detail.messages[1].parts.at(-1).text, storedText);
});

test('a continued response that a crash interrupts before it is read keeps its text', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-900@100']);
  const { chatId, storedText } = await stoppedAnswer(user);
  const { deps } = app.service;
  const outcome = await claimResumption(
    deps,
    { chatId, ownerId: user.id, decision: {}, isFull: false },
    deps.responses.maker,
  );
  assert.equal(outcome.kind, 'claimed');
  if (outcome.kind !== 'claimed') return;
  const locker = await deps.db.openClient();
  await locker.query('begin');
  await locker.query('lock table messages in access exclusive mode');
  const run = deps.responses.begin(outcome);
  // Writes of frames continue meanwhile.
  for (let tick = 0; tick < 5; tick += 1) await deps.clock.sleep(deps.responses.timings.tickMs);
  await locker.query('rollback');
  await locker.end();
  await until(async () => run.log.seq > outcome.response.first_seq + storedText.length);
  await until(async () => !run.log.hasPending);
  run.stop();
  await run.done;
  const first = await deps.db.kysely
    .selectFrom('response_frames')
    .select('frames')
    .where('response_id', '=', run.response.id)
    .where('generation', '=', 2)
    .orderBy('seq_from')
    .executeTakeFirstOrThrow();
  assert.ok(first.frames.includes(storedText.slice(0, 40)), 'the log begins with all that was there');
});

test('a tool begins only after its call is stored for recovery, however rarely frames are stored', async () => {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const tool = {
    name: 'pay',
    description: 'Pays',
    inputSchema: { type: 'object' },
    execute: async () => {
      begun.resolve();
      await gate.promise;
      return 'paid';
    },
  };
  const timings = { tickMs: 600_000, aloneTickMs: 600_000, sweepMs: 600_000 };
  const slow = await startTestApp({ database: app.database, timings, findTools: async () => [tool] });
  try {
    const user = await slow.signIn();
    await addModels(user, provider, ['pays']);
    provider.script('pays', (call) =>
      stream([...say('I pay.'), ...callTool(0, 'call', 'pay', '{}'), ...finish(call, 3, 'tool_calls')]),
    );
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'go');
    const reading = postChat(user, { chatId, messageId }).then((response) => readStream(response));
    await begun.promise;
    const { deps } = app.service;
    const lost = `update responses set replica = 'gone', lease_until = now() - interval '1 second' where chat_id = $1`;
    await deps.db.pool.query(lost, [chatId]);
    // As a tick stored it before the call, unless it is there with later frames.
    const [first] = sequence([{ type: 'start', messageId: 'any' }], 0);
    const tick = `insert into response_frames (response_id, generation, seq_from, seq_to, frames)
      select id, generation, 0, 1, $2 from responses where chat_id = $1 on conflict do nothing`;
    await deps.db.pool.query(tick, [chatId, first === undefined ? '' : toLines([first])]);
    await interruptExpired(deps, { chatId });
    const [, message] = (await chatDetail(user, chatId)).messages;
    const call = message.parts.at(-1);
    assert.deepEqual([message.status, call.toolName, call.state], ['interrupted', 'pay', 'output-error']);
    gate.resolve();
    await reading;
  } finally {
    gate.resolve();
    await slow.stop();
  }
});

test('a question that a crash left out of its response cannot be answered', async () => {
  const user = await app.signIn();
  const { deps } = app.service;
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const gone = { replica: randomUUIDv7(), leaseMs: -1_000, requestedAt: 0 };
  const outcome = await claimInput(deps, { chatId, ownerId: user.id, messageId, decision: {}, isFull: false }, gone);
  assert.equal(outcome.kind, 'claimed');
  if (outcome.kind !== 'claimed') return;
  const call = { toolCallId: 'call', toolName: 'pay', input: {} };
  const approvalId = await insertApproval(deps.db.kysely, outcome.response, call);
  assert.equal((await interruptExpired(deps, { chatId })).length, 1);
  assert.equal((await chatDetail(user, chatId)).chat.waiting, false);
  const answered = await user.call(`POST /api/chat/${chatId}/approvals`, { approvalId, approved: true });
  assert.equal(answered.body.error.code, 'input_applied');
});

test('a sweep ends all responses that a crash left, and one that cannot be ended blocks no other', async () => {
  const user = await app.signIn();
  const { deps } = app.service;
  const gone = { replica: randomUUIDv7(), leaseMs: -1_000, requestedAt: 0 };
  const ids: string[] = [];
  for (let count = 0; count < 60; count += 1) {
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'go');
    const outcome = await claimInput(deps, { chatId, ownerId: user.id, messageId, decision: {}, isFull: false }, gone);
    if (outcome.kind === 'claimed') ids.push(outcome.response.id);
  }
  assert.equal(ids.length, 60);
  const broken = ids[0] ?? '';
  const row = { response_id: broken, generation: 1, seq_from: 0, seq_to: 1, frames: 'not a frame' };
  await deps.db.kysely.insertInto('response_frames').values(row).execute();
  await assert.rejects(interruptExpired(deps));
  const left = await deps.db.kysely
    .selectFrom('responses')
    .select('id')
    .where('replica', '=', gone.replica)
    .where('state', '=', 'running')
    .execute();
  assert.deepEqual(left, [{ id: broken }]);
  await deps.db.kysely.deleteFrom('response_frames').where('response_id', '=', broken).execute();
  assert.equal((await interruptExpired(deps)).length, 1);
});

test('frames that are written again because their commit was not acknowledged include the later ones', async () => {
  const user = await app.signIn();
  const { deps } = app.service;
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const gone = { replica: randomUUIDv7(), leaseMs: 600_000, requestedAt: 0 };
  const outcome = await claimInput(deps, { chatId, ownerId: user.id, messageId, decision: {}, isFull: false }, gone);
  assert.equal(outcome.kind, 'claimed');
  if (outcome.kind !== 'claimed') return;
  const { id, generation } = outcome.response;
  const rows = async () => {
    const query = deps.db.kysely.selectFrom('response_frames').select(['seq_to', 'frames']);
    return query.where('response_id', '=', id).orderBy('seq_from').execute();
  };
  const row = (seqTo: number, frames: string) => ({ id, generation, row: { seqFrom: 0, seqTo, frames } });
  for (const [seqTo, frames] of [
    [2, '"short"'],
    [4, '"longer"'],
    [3, '"late"'],
  ] as const) {
    assert.equal((await storeFrames(deps, [row(seqTo, frames)])).size, 1);
  }
  assert.deepEqual(await rows(), [{ seq_to: 4, frames: '"longer"' }]);
  const pending = { seqFrom: 0, seqTo: 9, frames: '"longest"' };
  await endResponse(deps, outcome.response, { state: 'complete', parts: [], frames: [], seq: 9, pending });
  assert.deepEqual(await rows(), [{ seq_to: 9, frames: '"longest"' }]);
});

test('a continued response costs as much as all its parts', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-900@100']);
  const { chatId } = await stoppedAnswer(user);
  const { kysely } = app.service.deps.db;
  const before = JSON.stringify({ inputTokens: 1_000_000, outputTokens: 2_000_000 });
  await kysely
    .updateTable('messages')
    .set({ usage: before })
    .where('chat_id', '=', chatId)
    .where('role', '=', 'assistant')
    .execute();
  provider.script('words-900@100', (call) => stream([...say('the rest'), ...finish(call, 5, 'stop', 3)]));
  await readStream(await postChat(user, { chatId, resume: true }));
  await idle(app);
  const { usage } = (await chatDetail(user, chatId)).messages[1];
  assert.ok(usage.inputTokens > 1_000_000);
  assert.equal(usage.outputTokens, 2_000_005);
  assert.equal(usage.reasoningTokens, 3);
});
