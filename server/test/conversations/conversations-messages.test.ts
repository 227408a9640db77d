import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readBranchNewestFirst } from '../../src/conversations/branches.ts';
import {
  insertUserMessage,
  readMessage,
  readParts,
  restartMessage,
  savingParts,
} from '../../src/conversations/messages.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { answer, makeChat, makeUser, say, startResponse } from './conversation-makers.ts';

let testDatabase: TestDatabase;
before(async () => {
  testDatabase = await createTestDatabase();
});
after(() => testDatabase.drop());

test('saves parts while the response of that generation runs, and never after', async () => {
  const db = testDatabase.database;
  const ownerId = await makeUser(db);
  const chatId = await makeChat(db, ownerId);
  const question = await say(db, { chatId, parentId: null, text: 'Hello' });
  const id = await answer(db, { chatId, parentId: question, text: 'Good day' });
  const save = (generation: number, text: string) =>
    savingParts({ id, generation, parts: JSON.stringify([{ type: 'text', text }]) }).execute(db.kysely);
  await save(1, 'no response');
  await startResponse(db, { id: chatId, ownerId }, id);
  await save(1, 'message has ended');
  assert.deepEqual(await readParts(db.kysely, id), [{ type: 'text', text: 'Good day', state: 'done' }]);
  await restartMessage(db.kysely, id);
  await save(2, 'other generation');
  await save(1, 'Good day and');
  const message = await readMessage(db.kysely, id);
  assert.equal(message.status, 'streaming');
  assert.deepEqual(message.parts, [{ type: 'text', text: 'Good day and' }]);
  assert.deepEqual(message.usage, { inputTokens: 10, outputTokens: 2 });
  assert.equal(message.modelId, 'model-1');
});

test('rejects a parent in another conversation', async () => {
  const db = testDatabase.database;
  const [one, two] = [await makeChat(db, await makeUser(db)), await makeChat(db, await makeUser(db))];
  const parentId = await say(db, { chatId: one, parentId: null, text: 'Mine' });
  const message = { id: 'x', chatId: two, parentId, parts: '[]', words: '', prompt: null, promptTokens: null };
  await assert.rejects(insertUserMessage(db.kysely, message), { code: 'not_found' });
});

test('reads a branch newest first, in pages, up to the start of the context', async () => {
  const db = testDatabase.database;
  const chatId = await makeChat(db, await makeUser(db));
  const ids: string[] = [];
  for (let turn = 0; turn < 5; turn++) {
    ids.push(await say(db, { chatId, parentId: ids.at(-1) ?? null, text: `question ${turn}` }));
    ids.push(await answer(db, { chatId, parentId: ids.at(-1) ?? '', text: `answer ${turn}` }));
  }
  for (const pageSize of [1, 3, 10, 50]) {
    const read = async (stopBeforeId: string | null) => {
      const seen: string[] = [];
      const branch = readBranchNewestFirst(db, { chatId, leafId: ids.at(-1) ?? '', stopBeforeId, pageSize });
      for await (const message of branch) {
        assert.equal(message.parts === null, message.role === 'assistant', 'parts only without a prompt');
        seen.push(message.id);
      }
      return seen;
    };
    assert.deepEqual(await read(null), ids.toReversed());
    assert.deepEqual(await read(ids[5] ?? ''), ids.slice(6).toReversed());
    assert.deepEqual(await read(ids[9] ?? ''), []);
  }
});
