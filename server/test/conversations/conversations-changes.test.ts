import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setModelTitle } from '../../src/conversations/chat-titles.ts';
import { setActiveMessage } from '../../src/conversations/chats.ts';
import { type Database, inTransaction } from '../../src/db/pool.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { answer, makeChat, queueInput, say, startResponse } from './conversation-makers.ts';

let app: TestApp;
let db: Database;
before(async () => {
  app = await startTestApp();
  db = app.database.database;
});
after(() => app.stop());

const patch = (caller: SignedIn, body: object) => caller.call('PATCH /api/chats', body);

test('creates a conversation with the given values or with defaults', async () => {
  const caller = await app.signIn();
  const plain = await caller.call('POST /api/chats', {});
  assert.equal(plain.status, 201);
  assert.equal(plain.body.chat.title, 'New conversation');
  assert.equal(plain.body.chat.modelPinned, false);
  const named = await caller.call('POST /api/chats', { id: 'My_chat-1', title: '  Plans ', projectId: null });
  assert.equal(named.body.chat.id, 'My_chat-1');
  assert.equal(named.body.chat.title, 'Plans');
});

test('an id in use is refused for every user, and projects must exist', async () => {
  const [caller, other] = [await app.signIn(), await app.signIn()];
  assert.equal((await caller.call('POST /api/chats', { id: 'taken-1' })).status, 201);
  for (const who of [caller, other]) {
    const { status, body } = await who.call('POST /api/chats', { id: 'taken-1' });
    assert.deepEqual([status, body.error.code], [409, 'id_taken']);
  }
  for (const answered of [
    await caller.call('POST /api/chats', { projectId: 'p' }),
    await patch(caller, { id: 'taken-1', projectId: 'p' }),
    await patch(caller, { id: 'taken-1', mcpServerIds: ['m'] }),
  ]) {
    assert.deepEqual([answered.status, answered.body.error.code], [404, 'not_found']);
  }
});

test("another user's conversation answers exactly like a missing one", async () => {
  const [caller, other] = [await app.signIn(), await app.signIn()];
  const foreign = await makeChat(db, other.id, 'Secret');
  const asks = [
    (id: string) => caller.call('GET /api/chats', undefined, { query: { id } }),
    (id: string) => patch(caller, { id, title: 'Mine now' }),
    (id: string) => caller.call('DELETE /api/chats', undefined, { query: { id } }),
    (id: string) => caller.call('GET /api/chats/export', undefined, { query: { id, format: 'json' } }),
  ];
  for (const ask of asks) {
    const [missing, hidden] = [await ask('missing'), await ask(foreign)];
    assert.equal(missing.status, 404);
    const withoutRequestId = ({ text }: { text: string }) => text.replace(/"requestId":"[^"]*"/, '');
    assert.equal(withoutRequestId(hidden), withoutRequestId(missing));
  }
  const { body } = await other.call('GET /api/chats', undefined, { query: { id: foreign } });
  assert.equal(body.chat.title, 'Secret');
});

test("titles a conversation with its first words, replaces only those by a model's title, and any by a user's", async () => {
  const caller = await app.signIn();
  const id = await makeChat(db, caller.id);
  const title = async () => (await caller.call('GET /api/chats', undefined, { query: { id } })).body.chat.title;
  assert.equal(await setModelTitle(db.kysely, id, 'too early'), false);
  await setActiveMessage(db.kysely, id, 'm', '  ');
  assert.equal(await title(), 'New conversation');
  await setActiveMessage(db.kysely, id, 'm', 'First words');
  assert.equal(await title(), 'First words');
  assert.equal(await setModelTitle(db.kysely, id, `${'😀'.repeat(300)}`), true);
  assert.equal(await title(), '😀'.repeat(200));
  assert.equal((await patch(caller, { id, title: 'By hand' })).body.chat.title, 'By hand');
  assert.equal(await setModelTitle(db.kysely, id, 'late'), false);
  assert.equal(await title(), 'By hand');
});

test('while a response runs or an input waits, refuses archiving, switching branches and a fresh context, but not renaming', async () => {
  const caller = await app.signIn();
  const ownerId = caller.id;
  for (const begin of [
    startResponse,
    (_db: Database, chat: { id: string; ownerId: string }) => queueInput(db, chat, 'x'),
  ]) {
    const id = await makeChat(db, ownerId);
    const message = await say(db, { chatId: id, parentId: null, text: 'hello' });
    await begin(db, { id, ownerId });
    for (const change of [{ archived: true }, { freshContext: true }, { activeMessageId: message }]) {
      const { status, body } = await patch(caller, { id, title: 'never', ...change });
      assert.deepEqual([status, body.error.code], [409, 'response_running'], JSON.stringify(change));
    }
    const renamed = await patch(caller, { id, title: 'Renamed', archived: false });
    assert.equal(renamed.body.chat.title, 'Renamed');
    assert.equal(renamed.body.chat.running, true);
  }
});

test('archiving waits for a claim that has the row, and then sees its response', async () => {
  const caller = await app.signIn();
  const id = await makeChat(db, caller.id);
  let archiving: ReturnType<typeof patch> | undefined;
  await inTransaction(db, async (trx) => {
    await trx.selectFrom('chats').select('id').where('id', '=', id).forNoKeyUpdate().execute();
    archiving = patch(caller, { id, archived: true });
    await lockWaiter(id);
    await trx
      .insertInto('responses')
      .values({
        id: `r-${id}`,
        chat_id: id,
        message_id: 'm',
        owner_id: caller.id,
        state: 'running',
        replica: 'r',
        decision: '{}',
        lease_until: new Date(Date.now() + 86_400_000),
        ended_at: null,
        end_frames: null,
      })
      .execute();
  });
  const { status, body } = (await archiving) ?? {};
  assert.deepEqual([status, body.error.code], [409, 'response_running']);
});

/** Resolves when a statement waits for a row lock. */
async function lockWaiter(what: string): Promise<void> {
  for (let attempt = 0; attempt < 2_000; attempt++) {
    const { rows } = await db.pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return;
  }
  throw new Error(`Nobody waits for ${what}`);
}

test('a fresh context begins after the newest message of the branch, together with all other changes or not at all', async () => {
  const caller = await app.signIn();
  const id = await makeChat(db, caller.id);
  assert.equal((await patch(caller, { id, freshContext: true })).body.chat.contextStartMessageId, null);
  const question = await say(db, { chatId: id, parentId: null, text: 'one' });
  const reply = await answer(db, { chatId: id, parentId: question, text: 'two' });
  const fresh = await patch(caller, { id, freshContext: true, title: 'Again', archived: true });
  assert.equal(fresh.body.chat.contextStartMessageId, reply);
  assert.equal(fresh.body.chat.title, 'Again');
  assert.equal(fresh.body.chat.archived, true);
  assert.deepEqual([fresh.body.movedArtifacts, fresh.body.artifactFolder], [0, null]);
  const { status } = await patch(caller, { id, title: 'Lost', activeMessageId: 'missing' });
  assert.equal(status, 404);
  const { body } = await caller.call('GET /api/chats', undefined, { query: { id } });
  assert.equal(body.chat.title, 'Again');
  assert.equal(body.messages.length, 2);
});

test("a pin needs a model of the user's catalogue and ends with it", async () => {
  const [caller, other] = [await app.signIn(), await app.signIn()];
  const id = await makeChat(db, caller.id);
  const [mine, foreign] = [await makeModel(caller), await makeModel(other)];
  const pinOf = ({ body }: Awaited<ReturnType<typeof patch>>) => [body.chat.modelPinned, body.chat.modelId];
  for (const modelId of ['missing', foreign]) {
    assert.equal((await patch(caller, { id, modelPinned: true, modelId })).status, 404);
  }
  assert.equal((await patch(caller, { id, modelPinned: true })).status, 400);
  assert.deepEqual(pinOf(await patch(caller, { id, modelPinned: true, modelId: mine })), [true, mine]);
  assert.deepEqual(pinOf(await patch(caller, { id, modelPinned: true })), [true, mine]);
  assert.deepEqual(pinOf(await patch(caller, { id, modelPinned: false })), [false, null]);
  assert.deepEqual(pinOf(await patch(caller, { id, modelId: mine })), [true, mine]);
  assert.equal((await caller.call('DELETE /api/models', undefined, { query: { id: mine } })).status, 200);
  assert.deepEqual(pinOf(await patch(caller, { id })), [false, null]);
});

async function makeModel(caller: SignedIn): Promise<string> {
  const provider = await caller.call('POST /api/providers', { name: 'P', baseUrl: 'http://127.0.0.1:9/v1' });
  const model = await caller.call('POST /api/models', {
    providerId: provider.body.provider.id,
    providerModelId: 'm',
    displayName: 'M',
    tier: 1,
    contextWindow: 8192,
    maxOutputTokens: 1024,
  });
  assert.equal(model.status, 201, model.text);
  return model.body.model.id;
}

test('deleting a conversation deletes its messages', async () => {
  const caller = await app.signIn();
  const id = await makeChat(db, caller.id);
  await say(db, { chatId: id, parentId: await say(db, { chatId: id, parentId: null, text: 'a' }), text: 'b' });
  await queueInput(db, { id, ownerId: caller.id }, 'waiting');
  const { body } = await caller.call('DELETE /api/chats', undefined, { query: { id } });
  assert.deepEqual(body, { ok: true });
  const { rows } = await db.pool.query('select 1 from messages where chat_id = $1', [id]);
  assert.equal(rows.length, 0);
  assert.equal((await caller.call('DELETE /api/chats', undefined, { query: { id } })).status, 404);
});
