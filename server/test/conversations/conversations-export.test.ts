import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { exportConversation } from '../../src/conversations/export/export.ts';
import type { Database } from '../../src/db/pool.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { answer, makeChat, makeUser, say } from './conversation-makers.ts';

let app: TestApp;
let db: Database;
before(async () => {
  app = await startTestApp();
  db = app.database.database;
});
after(() => app.stop());

const download = (caller: SignedIn, id: string, format: string) =>
  caller.call('GET /api/chats/export', undefined, { query: { id, format } });

test('a download is an attachment that no browser executes, named after the conversation', async () => {
  const caller = await app.signIn();
  const id = await makeChat(db, caller.id, '../"Über"\\<b>\r\nset-cookie: x=1; 👩‍🚀');
  const types = { markdown: ['text/markdown; charset=utf-8', 'md'], json: ['application/json; charset=utf-8', 'json'] };
  for (const [format, [type, ending]] of Object.entries(types)) {
    const { status, headers } = await download(caller, id, format);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), type);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.match(headers.get('content-security-policy') ?? '', /sandbox/);
    assert.equal(headers.get('set-cookie'), null);
    const disposition = headers.get('content-disposition') ?? '';
    assert.match(disposition, /^attachment; filename="[^"\\/<>]*"; filename\*=UTF-8''[\w%.-]+$/);
    const [, name = ''] = /filename\*=UTF-8''(.*)$/.exec(disposition) ?? [];
    assert.equal(decodeURIComponent(name), `Über b set-cookie x=1; 👩🚀.${ending}`);
  }
  assert.equal((await download(caller, id, 'html')).status, 400);
});

test('exports the active branch as Markdown, and everything as JSON', async () => {
  const caller = await app.signIn();
  const chatId = await makeChat(db, caller.id, 'Plans');
  const root = await say(db, { chatId, parentId: null, text: '```\nleft open' });
  const dropped = await answer(db, { chatId, parentId: root, text: 'first try </details><script>alert(1)</script>' });
  const shown = await answer(db, { chatId, parentId: root, text: 'second try' });
  const markdown = (await download(caller, chatId, 'markdown')).text.replace(/, \d{4}-.*Z$/gm, '');
  assert.equal(markdown, '# Plans\n\n## You\n\n```\nleft open\n```\n\n## Assistant\n\nsecond try\n');
  const { body } = await download(caller, chatId, 'json');
  assert.equal(body.chat.title, 'Plans');
  assert.equal(body.activeMessageId, shown);
  assert.deepEqual(
    body.messages.map((message: Json) => [message.id, message.parentId, message.parts[0].text]),
    [
      [root, null, '```\nleft open'],
      [dropped, root, 'first try </details><script>alert(1)</script>'],
      [shown, root, 'second try'],
    ],
  );
});

test('exports an empty conversation', async () => {
  const caller = await app.signIn();
  const id = await makeChat(db, caller.id);
  assert.equal((await download(caller, id, 'markdown')).text, '# New conversation\n');
  assert.deepEqual((await download(caller, id, 'json')).body.messages, []);
});

test('a long conversation is exported in order and in chunks no longer than a page, with long messages among short ones', async () => {
  const ownerId = await makeUser(db);
  const chatId = await makeChat(db, ownerId, 'Long');
  await db.pool.query(
    `insert into messages (id, chat_id, parent_id, role, parts, status)
     select $1 || '-' || i, $1, case when i > 1 then $1 || '-' || (i - 1) end, 'user',
       '[{"type":"text","text":"#' || i || '# ' || repeat('x', case when i % 40 < 3 then 600000 else 10 end) || '"}]', 'complete'
     from generate_series(1, 211) i order by i`,
    [chatId],
  );
  await db.pool.query('update chats set active_message_id = $2 where id = $1', [chatId, `${chatId}-211`]);
  for (const format of ['markdown', 'json'] as const) {
    const { chunks } = await exportConversation({ db }, ownerId, { id: chatId, format });
    const numbers: number[] = [];
    for await (const chunk of chunks) {
      assert.ok(chunk.length < 700_000);
      numbers.push(...Array.from(chunk.matchAll(/#(\d+)# /g), ([, number]) => Number(number)));
    }
    assert.deepEqual(
      numbers,
      Array.from({ length: 211 }, (_value, index) => index + 1),
      format,
    );
  }
});

test('stops reading when the client disconnects', async () => {
  const caller = await app.signIn();
  const chatId = await makeChat(db, caller.id);
  let parentId: string | null = null;
  for (let index = 0; index < 6; index++) {
    parentId = await say(db, { chatId, parentId, text: `${index} ${'x'.repeat(900_000)}` });
  }
  const leaving = new AbortController();
  const response = await caller.fetch(`/api/chats/export?id=${chatId}&format=json`, { signal: leaving.signal });
  const reader = response.body?.getReader();
  assert.equal((await reader?.read())?.done, false);
  leaving.abort();
  assert.equal((await download(caller, chatId, 'json')).body.messages.length, 6);
});
