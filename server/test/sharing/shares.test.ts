import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { setUserEnabled } from '../../src/accounts/users.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { put } from '../artifacts/artifact-makers.ts';
import { makeChat } from '../conversations/conversation-makers.ts';
import { addMessage, allowSharing, everything, makeFullChat, makeShare, marks, textOnly } from './share-makers.ts';

let app: TestApp;
let replica: TestApp;
let owner: SignedIn;
let reader: SignedIn;
let shared: Awaited<ReturnType<typeof makeFullChat>>;
before(async () => {
  app = await startTestApp();
  const { artifactStore } = app.service.deps.config;
  replica = await startTestApp({ database: app.database, config: { artifactStore } });
  owner = await app.signIn({ name: 'Olivia Owner' });
  reader = await app.signIn();
  shared = await makeFullChat(app, owner);
});
beforeEach(() => allowSharing(app, 'public'));
after(async () => {
  await replica.stop();
  await app.stop();
});

const open = (token: string, caller: Pick<SignedIn, 'call'> = app.anonymous, password?: string) =>
  caller.call('POST /api/shares/open', { token, ...(password === undefined ? {} : { password }) });
const ofChat = () => ({ chatId: shared.chatId, leafMessageId: shared.answer, audience: 'link' });

test('publishes a snapshot that anybody with the link can read', async () => {
  const { share, token, url } = await makeShare(owner, { ...ofChat(), include: everything });
  assert.match(url, /\/s\/[\w-]{43}$/);
  assert.equal(share.kind, 'chat');
  const { status, body, headers } = await open(token);
  assert.equal(status, 200);
  assert.equal(headers.get('set-cookie'), null);
  assert.match(headers.get('x-robots-tag') ?? '', /noindex/);
  assert.equal(body.share.author, 'Olivia Owner');
  assert.deepEqual(
    body.messages.map(({ role }: { role: string }) => role),
    ['user', 'assistant'],
  );
  const text = JSON.stringify(body);
  for (const mark of [marks.question, marks.answer, marks.reasoning, marks.toolInput, marks.toolOutput]) {
    assert.ok(text.includes(mark), mark);
  }
  for (const mark of [marks.other, marks.notice, marks.instructions, '/home/user', shared.chatId, shared.fileId]) {
    assert.ok(!text.includes(mark), mark);
  }
  const file = await fetch(app.url + body.files[0].url);
  assert.equal(await file.text(), marks.file);
});

test('publishes and copies how an answer ended, without its maker’s explanation', async () => {
  const { pool } = app.database.database;
  const set = 'update messages set finish_reason = $2, finish_detail = $3 where id = $1';
  await pool.query(set, [shared.answer, 'refusal', 'MARK-EXPLANATION']);
  const { token } = await makeShare(owner, { ...ofChat(), include: everything });
  await pool.query(set, [shared.answer, null, null]);
  const { body, text } = await open(token);
  assert.deepEqual(
    body.messages.map(({ finishReason }: { finishReason: string | null }) => finishReason),
    [null, 'refusal'],
  );
  assert.ok(!text.includes('MARK-EXPLANATION'));
  const { body: copied } = await reader.call('POST /api/shares/copy', { token });
  const { body: detail } = await reader.call('GET /api/chats', undefined, { query: { id: copied.chat.id } });
  assert.equal(detail.messages[1].finishReason, 'refusal');
});

test('removes what is left out before it is stored', async () => {
  const { token, share } = await makeShare(owner, { ...ofChat(), include: textOnly });
  const { text, body } = await open(token);
  const { rows } = await app.database.database.pool.query(
    `select (select string_agg(m.parts, '') from share_messages m where m.share_id = s.id) || s::text as stored,
       (select count(*)::int from share_files f where f.share_id = s.id) as files from shares s where id = $1`,
    [share.id],
  );
  for (const mark of [marks.reasoning, marks.toolInput, marks.toolOutput, marks.filename, 'Olivia Owner']) {
    assert.ok(!text.includes(mark), `answer: ${mark}`);
    assert.ok(!rows[0].stored.includes(mark), `stored: ${mark}`);
  }
  assert.equal(rows[0].files, 0);
  assert.deepEqual(body.files, []);
  assert.ok(text.includes(marks.answer));
});

test('answers everything unknown or ended with the same 404', async () => {
  const missing = await open(randomUUIDv7());
  assert.equal(missing.status, 404);
  const same = async (token: string, why: string, caller: Pick<SignedIn, 'call'> = app.anonymous) => {
    const answer = await open(token, caller);
    assert.equal(answer.status, 404, why);
    assert.deepEqual({ ...answer.body.error, requestId: '' }, { ...missing.body.error, requestId: '' }, why);
  };
  const ended = await makeShare(owner, ofChat());
  assert.equal((await owner.call('DELETE /api/shares', undefined, { query: { id: ended.share.id } })).body.deleted, 1);
  await same(ended.token, 'ended');
  const expired = await makeShare(owner, ofChat());
  await app.database.database.pool.query(`update shares set expires_at = now() - interval '1 s' where id = $1`, [
    expired.share.id,
  ]);
  await same(expired.token, 'expired');
  const update = await owner.call('POST /api/shares/update', { id: expired.share.id });
  assert.equal(update.status, 404);
  const closed = await makeShare(owner, ofChat());
  await allowSharing(app, 'off');
  await same(closed.token, 'switched off');
  await allowSharing(app, 'public');
  assert.equal((await open(closed.token)).status, 200);
  const named = await makeShare(owner, { ...ofChat(), audience: 'people', userIds: [reader.id] });
  await same(named.token, 'nobody');
  await same(named.token, 'not named', await app.signIn());
  assert.equal((await open(named.token, reader)).status, 200);
});

test('ends on every replica with the next request', async () => {
  const { share, token } = await makeShare(owner, { ...ofChat(), include: { ...textOnly, files: true } });
  const [file] = (await open(token)).body.files;
  assert.equal((await fetch(replica.url + file.url)).status, 200);
  await owner.call('DELETE /api/shares', undefined, { query: { id: share.id } });
  assert.equal((await open(token, replica.anonymous)).status, 404);
  for (const init of [{}, { method: 'HEAD' }, { headers: { range: 'bytes=0-3' } }]) {
    assert.equal((await fetch(replica.url + file.url, init)).status, 404);
  }
});

test('ends with the account and with the conversation', async () => {
  const deleting = await makeShare(owner, ofChat());
  const leaving = await app.signIn();
  const chatId = await makeChat(app.database.database, leaving.id, 'Mine');
  const leafMessageId = await addMessage(app, chatId, null, 'user', [{ type: 'text', text: 'Hello' }]);
  const { token, share } = await makeShare(leaving, { chatId, leafMessageId, audience: 'link' });
  await setUserEnabled({ db: app.database.database }, leaving.id, false);
  assert.equal((await open(token)).status, 404);
  await setUserEnabled({ db: app.database.database }, leaving.id, true);
  assert.equal((await open(token)).status, 200);
  const administrator = await app.signIn({ role: 'admin' });
  const query = { id: leaving.id, data: 'keep' };
  assert.equal((await administrator.call('DELETE /api/admin/users', undefined, { query })).status, 200);
  assert.equal((await open(token)).status, 404);
  const another = await makeFullChat(app, owner);
  const body = { chatId: another.chatId, leafMessageId: another.answer, audience: 'link' };
  const gone = await makeShare(owner, body);
  await owner.call('DELETE /api/chats', undefined, { query: { id: another.chatId } });
  assert.equal((await open(gone.token)).status, 404);
  assert.equal((await open(deleting.token)).status, 200);
  const ids = [share.id, gone.share.id];
  const { rowCount } = await app.database.database.pool.query('select from shares where id = any($1)', [ids]);
  assert.equal(rowCount, 0);
});

test('a link is for members only while the installation shares inside', async () => {
  const { token } = await makeShare(owner, ofChat());
  await allowSharing(app, 'inside');
  assert.equal((await open(token)).status, 401);
  assert.equal((await open(token, reader)).status, 200);
  const refused = await owner.call('POST /api/shares', { ...ofChat(), expiresAt: null, include: textOnly });
  assert.equal(refused.body.error.code, 'sharing_disabled');
  const inside = await makeShare(owner, { ...ofChat(), audience: 'signed_in' });
  assert.equal((await open(inside.token)).status, 401);
  assert.equal((await open(inside.token, reader)).status, 200);
  await allowSharing(app, 'off');
  const off = await owner.call('POST /api/shares', { ...ofChat(), audience: 'signed_in' });
  assert.equal(off.status, 403);
  assert.equal((await open(inside.token, reader)).status, 404);
});

test('asks for the password, and locks an address out after ten wrong ones', async () => {
  const password = 'open sesame 1';
  const { token, share } = await makeShare(owner, { ...ofChat(), password, include: { ...textOnly, files: true } });
  assert.equal(share.hasPassword, true);
  assert.equal((await open(token)).body.error.code, 'share_password');
  assert.equal((await open(token, app.anonymous, password)).status, 200);
  const tries = await Promise.all(Array.from({ length: 14 }, () => open(token, app.anonymous, 'wrong password')));
  assert.equal(tries.filter(({ status }) => status === 403).length, 10);
  assert.equal(tries.filter(({ status }) => status === 404).length, 4);
  assert.equal((await open(token, app.anonymous, password)).status, 404);
  assert.equal((await open(token)).status, 404);
  await app.database.database.pool.query(`update share_tries set at = at - interval '10 minutes'`);
  assert.equal((await open(token, app.anonymous, password)).status, 200);
});

test('serves files of a protected share by signed addresses only', async () => {
  const password = 'open sesame 1';
  const made = await makeShare(owner, { ...ofChat(), password, include: { ...textOnly, files: true } });
  const [file] = (await open(made.token, app.anonymous, password)).body.files;
  assert.match(file.url, /signature=/);
  assert.equal((await fetch(app.url + file.url)).status, 200);
  const [bare = ''] = file.url.split('?');
  assert.equal((await fetch(app.url + bare)).status, 403);
  assert.equal((await fetch(app.url + file.url.replace('files/0', 'files/1'))).status, 403);
  assert.equal((await fetch(`${app.url}${file.url.slice(0, -2)}AA`)).status, 403);
  await owner.call('PATCH /api/shares', { id: made.share.id, password: 'another word 2' });
  assert.equal((await fetch(app.url + file.url)).status, 403);
});

test('serves no file beyond those that the shared messages name', async () => {
  const other = await put(owner, { chatId: shared.chatId }, 'unnamed.txt', 'MARK-UNNAMED');
  const { token } = await makeShare(owner, { ...ofChat(), include: { ...textOnly, files: true } });
  for (const n of ['1', '-1', '00', '0.0', 'x', other.id.slice(0, 9), '999999999']) {
    const answer = await fetch(`${app.url}/s/${token}/files/${n}`);
    assert.equal(answer.status, 404, n);
    assert.ok(!(await answer.text()).includes('MARK-UNNAMED'));
  }
  const found = await fetch(`${app.url}/s/${token}/files/0`);
  assert.equal(found.headers.get('x-content-type-options'), 'nosniff');
  assert.match(found.headers.get('content-security-policy') ?? '', /sandbox; frame-ancestors 'none'/);
  assert.match(found.headers.get('content-disposition') ?? '', /^attachment/);
  assert.match(found.headers.get('x-robots-tag') ?? '', /noindex/);
  assert.equal(found.headers.get('set-cookie'), null);
});

test('refuses what cannot be shared', async () => {
  const temporary = (await owner.call('POST /api/chats', { temporary: true })).body.chat.id;
  const inTemporary = await addMessage(app, temporary, null, 'user', [{ type: 'text', text: 'Hello' }]);
  const foreign = await makeFullChat(app, reader);
  const past = new Date(Date.now() - 1000).toISOString();
  const people = Array.from({ length: 501 }, () => randomUUIDv7());
  const cases: [string, object, number, string][] = [
    ['foreign chat', { chatId: foreign.chatId, leafMessageId: foreign.answer }, 404, 'not_found'],
    ['leaf of another chat', { leafMessageId: inTemporary }, 404, 'not_found'],
    ['temporary', { chatId: temporary, leafMessageId: inTemporary }, 400, 'invalid_request'],
    ['past', { expiresAt: past }, 400, 'invalid_request'],
    ['unknown person', { audience: 'people', userIds: [randomUUIDv7()] }, 404, 'not_found'],
    ['501 people', { audience: 'people', userIds: people }, 400, 'invalid_request'],
    ['no people', { audience: 'people' }, 400, 'invalid_request'],
    ['short password', { password: 'a234567' }, 400, 'invalid_request'],
    ['long password', { password: 'a'.repeat(1025) }, 400, 'invalid_request'],
    ['two sources', { artifactId: shared.fileId }, 400, 'invalid_request'],
  ];
  for (const [name, change, status, code] of cases) {
    const answer = await owner.call('POST /api/shares', { ...ofChat(), expiresAt: null, include: textOnly, ...change });
    assert.equal(answer.status, status, `${name}: ${answer.text}`);
    assert.equal(answer.body.error.code, code, name);
  }
});

test('leaves out an answer that is being written', async () => {
  const chatId = await makeChat(app.database.database, owner.id, 'Running');
  const question = await addMessage(app, chatId, null, 'user', [{ type: 'text', text: 'MARK-ASKED' }]);
  const parts = [{ type: 'text', text: 'MARK-PARTIAL' }];
  const running = await addMessage(app, chatId, question, 'assistant', parts, 'streaming');
  const { token, share } = await makeShare(owner, { chatId, leafMessageId: running, audience: 'link' });
  assert.equal((await open(token)).body.messages.length, 1);
  await app.database.database.pool.query(`update messages set status = 'complete' where id = $1`, [running]);
  const updated = await owner.call('POST /api/shares/update', { id: share.id });
  assert.equal(updated.status, 200);
  assert.match((await open(token)).text, /MARK-PARTIAL/);
});

test('asks before it publishes texts that look like keys', async () => {
  const chatId = await makeChat(app.database.database, owner.id, 'Keys');
  const key = `sk-proj-${'a1B2'.repeat(10)}`;
  const leafMessageId = await addMessage(app, chatId, null, 'user', [{ type: 'text', text: `My key is ${key}.` }]);
  const body = { chatId, leafMessageId, audience: 'link', expiresAt: null, include: textOnly };
  const asked = await owner.call('POST /api/shares', body);
  assert.equal(asked.status, 409);
  assert.equal(asked.body.error.code, 'secrets_found');
  assert.equal(asked.body.error.details.places[0].messageId, leafMessageId);
  assert.ok(!asked.text.includes(key));
  assert.equal((await owner.call('POST /api/shares', { ...body, confirmSecrets: true })).status, 201);
});

test('shares one file with the content of that moment', async () => {
  const chatId = await makeChat(app.database.database, owner.id, 'Files');
  const file = await put(owner, { chatId }, 'folder/report.txt', 'first');
  const { token, share } = await makeShare(owner, { artifactId: file.id, audience: 'link' });
  assert.equal(share.kind, 'file');
  const { body } = await open(token);
  assert.deepEqual(body.messages, []);
  assert.equal(body.files[0].filename, 'report.txt');
  const ranged = await fetch(app.url + body.files[0].url, { headers: { range: 'bytes=1-2' } });
  assert.equal(ranged.status, 206);
  assert.equal(await ranged.text(), 'ir');
  const foreign = await reader.call('POST /api/shares', { artifactId: file.id, audience: 'signed_in' });
  assert.equal(foreign.status, 404);
  await owner.call('DELETE /api/artifacts', undefined, { query: { chatId, id: file.id } });
  assert.equal((await open(token)).status, 404);
});

test('copies a share with its files into the conversations of a reader', async () => {
  const { token } = await makeShare(owner, { ...ofChat(), include: everything });
  const made = await reader.call('POST /api/shares/copy', { token });
  assert.equal(made.status, 201, made.text);
  const { chat } = made.body;
  const detail = (await reader.call('GET /api/chats', undefined, { query: { id: chat.id } })).body;
  assert.equal(detail.messages.length, 2);
  assert.equal(detail.messages[0].parts[0].text, marks.question);
  const copied = detail.messages[0].parts[1].url.slice('artifact://'.length);
  assert.notEqual(copied, shared.fileId);
  const content = await reader.fetch(`/api/artifacts/download?chatId=${chat.id}&id=${copied}`);
  assert.equal(await content.text(), marks.file);
  assert.equal((await app.anonymous.call('POST /api/shares/copy', { token })).status, 401);
});

test('lists and ends all shares of a person, and leaves those of others', async () => {
  const person = await app.signIn();
  const full = await makeFullChat(app, person);
  const mine = { chatId: full.chatId, leafMessageId: full.answer, audience: 'link' };
  const made = [await makeShare(person, mine), await makeShare(person, mine)];
  const others = await makeShare(owner, ofChat());
  const { shares } = (await person.call('GET /api/shares')).body;
  assert.deepEqual(
    shares.map(({ id }: { id: string }) => id),
    made.map(({ share }) => share.id).reverse(),
  );
  const foreign = await person.call('DELETE /api/shares', undefined, { query: { id: others.share.id } });
  assert.equal(foreign.status, 404);
  assert.equal((await person.call('DELETE /api/shares', undefined, { query: { all: '1' } })).body.deleted, 2);
  assert.equal((await open(others.token)).status, 200);
  for (const { token } of made) assert.equal((await open(token)).status, 404);
});

test('administrators see and end every share without reading it', async () => {
  const administrator = await app.signIn({ role: 'admin' });
  const { share, token } = await makeShare(owner, ofChat());
  const { body, text } = await administrator.call('GET /api/admin/shares');
  assert.ok(body.shares.some(({ id }: { id: string }) => id === share.id));
  assert.ok(!text.includes('A conversation') && !text.includes(token));
  const query = { id: share.id };
  assert.equal((await administrator.call('DELETE /api/admin/shares', undefined, { query })).body.deleted, 1);
  assert.equal((await open(token)).status, 404);
  const off = await administrator.call('POST /api/admin/config', { sharing: 'off' });
  assert.equal(off.body.sharing, 'off');
  const { rows } = await app.database.database.pool.query(
    `select action from audit_events where target_id = $1 order by at`,
    [share.id],
  );
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['share.created', 'share.deleted'],
  );
});

test('removes the snapshots of expired shares of all people', async () => {
  const person = await app.signIn();
  const full = await makeFullChat(app, person);
  const expired = await makeShare(person, { chatId: full.chatId, leafMessageId: full.answer, audience: 'link' });
  const { pool } = app.database.database;
  await pool.query(`update shares set expires_at = now() where id = $1`, [expired.share.id]);
  await makeShare(owner, ofChat());
  const kept = await pool.query('select from share_messages where share_id = $1', [expired.share.id]);
  assert.equal(kept.rowCount, 0);
});

test('a person has at most 200 shares', async () => {
  const person = await app.signIn();
  const full = await makeFullChat(app, person);
  await app.database.database.pool.query(
    `insert into shares (id, owner_id, token_hash, chat_id, title, audience)
     select 'many-' || n, $1, 'many-' || n, $2, 'T', 'link' from generate_series(1, 200) n`,
    [person.id, full.chatId],
  );
  const body = { chatId: full.chatId, leafMessageId: full.answer, audience: 'link' };
  const refused = await person.call('POST /api/shares', body);
  assert.equal(refused.status, 400);
  await app.database.database.pool.query(`update shares set expires_at = now() where id = 'many-1'`);
  assert.equal((await person.call('POST /api/shares', body)).status, 201);
});
