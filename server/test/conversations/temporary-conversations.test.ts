import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dropTemporaryChats } from '../../src/conversations/chats.ts';
import { createTestDatabase, seed, type TestDatabase } from '../database.ts';

let shared: TestDatabase;
before(async () => {
  shared = await createTestDatabase();
});
after(() => shared.drop());

test('deletes temporary conversations a day after their last use, unless something is running in them', async () => {
  const { database } = shared;
  await seed(
    database,
    `
    insert into users (id, name, email) values ('u', 'User', 'u@example.org');
    insert into chats (id, owner_id, title, temporary, updated_at) values
      ('kept', 'u', 'T', false, now() - interval '3 days'), ('used', 'u', 'T', true, now() - interval '23 hours'),
      ('old', 'u', 'T', true, now() - interval '25 hours'), ('answering', 'u', 'T', true, now() - interval '25 hours');
    insert into messages (id, chat_id, role, parts, status) values ('m', 'old', 'user', '[]', 'complete');
    insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision)
      values ('r', 'answering', 'm', 'u', 'running', 'r', now(), '{}');`,
  );
  await dropTemporaryChats({ db: database });
  const { rows } = await database.pool.query<{ id: string }>('select id from chats order by id');
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['answering', 'kept', 'used'],
  );
});
