import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { setUserEnabled } from '../../src/accounts/users.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, formBody, makeProject, paths, put, sendForm, upload } from './artifact-makers.ts';

/** The files of a conversation. */

let app: TestApp;
let user: SignedIn;
before(async () => {
  app = await startTestApp();
  user = await app.signIn();
});
after(() => app.stop());

test('uploads, lists, previews, downloads and deletes a file', async () => {
  const chatId = await createChat(user);
  const answer = await upload(user, { chatId }, { name: 'Notes ü.txt', type: 'text/plain', bytes: 'hello' });
  assert.equal(answer.status, 201, answer.text);
  const { artifact } = answer.body;
  const { id, createdAt, ...rest } = artifact;
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  assert.match(createdAt, /^\d{4}-.*\.\d{3}Z$/);
  assert.deepEqual(rest, {
    namespace: { type: 'chat', id: chatId },
    path: 'Notes ü.txt',
    filename: 'Notes ü.txt',
    size: 5,
    mediaType: 'text/plain',
    sha256: createHash('sha256').update('hello').digest('hex'),
    createdBy: user.id,
    version: 1,
  });
  const list = await user.call('GET /api/artifacts', undefined, { query: { chatId } });
  assert.deepEqual(list.body, { artifacts: [artifact], nextCursor: null });
  for (const query of [{ id }, { path: 'Notes ü.txt' }, { path: 'Notes u\u0308.txt' }] as Record<string, string>[]) {
    const stat = await user.call('GET /api/artifacts/stat', undefined, { query: { chatId, ...query } });
    assert.deepEqual(stat.body, { artifact });
  }
  const download = await user.fetch(`/api/artifacts/download?${new URLSearchParams({ chatId, id })}`);
  assert.equal(await download.text(), 'hello');
  const removed = await user.call('DELETE /api/artifacts', undefined, { query: { chatId, id } });
  assert.deepEqual(removed.body, { ok: true, deleted: 1 });
  assert.equal((await user.call('DELETE /api/artifacts', undefined, { query: { chatId, id } })).status, 404);
  assert.deepEqual(await paths(user, { chatId }), []);
  assert.equal((await app.database.database.pool.query('select from blobs where size = 5')).rowCount, 0);
});

test('a taken path gets a number, is replaced, or is refused', async () => {
  const chatId = await createChat(user);
  const first = await put(user, { chatId }, 'a/report.pdf');
  const send = (onConflict: string | undefined, path = 'a/report.pdf') =>
    upload(user, { chatId, path, onConflict }, { bytes: 'newer', type: 'text/csv' });
  assert.equal((await send(undefined)).body.artifact.path, 'a/report (2).pdf');
  assert.equal((await send('rename')).body.artifact.path, 'a/report (3).pdf');
  assert.equal((await send('fail')).body.error.code, 'path_taken');
  const replaced = await send('replace');
  assert.equal(replaced.status, 201);
  assert.deepEqual(
    [replaced.body.artifact.id, replaced.body.artifact.mediaType, replaced.body.artifact.createdAt],
    [first.id, 'text/csv', first.createdAt],
  );
  assert.equal((await send('replace', 'a/new')).body.artifact.path, 'a/new');
  assert.equal((await send('rename', 'a')).body.artifact.path, 'a (2)');
  assert.equal((await send('replace', 'a')).body.error.code, 'path_taken');
  for (const onConflict of ['rename', 'replace', 'fail']) {
    assert.equal((await send(onConflict, 'a/new/below')).body.error.code, 'path_taken', onConflict);
  }
  assert.equal((await send('fail', 'A/report.pdf')).status, 201, 'case counts');
});

test('names with a number stay within their limit', async () => {
  const chatId = await createChat(user);
  const path = `${'é'.repeat(125)}.txt`;
  await put(user, { chatId }, path);
  const { body } = await upload(user, { chatId, path }, { bytes: 'x' });
  assert.match(body.artifact.path, /^é+ \(2\)\.txt$/);
  assert.ok(Buffer.byteLength(body.artifact.path) <= 255);
});

test('repairs invalid file names and refuses invalid paths', async () => {
  const chatId = await createChat(user);
  for (const [name, path] of [
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\me\\a.txt', 'a.txt'],
    ['..', 'file'],
    ['', 'file (2)'],
    [' x\u202e.txt ', 'x.txt'],
  ] as const) {
    assert.equal((await upload(user, { chatId }, { name, bytes: 'x' })).body.artifact.path, path);
  }
});

test('moves and renames files and folders, all or none', async () => {
  const chatId = await createChat(user);
  const move = (body: object) => user.call('PATCH /api/artifacts', { chatId, ...body });
  const file = await put(user, { chatId }, 'a/one.txt');
  await put(user, { chatId }, 'a/Ünder/two.txt');
  await put(user, { chatId }, 'ab.txt');
  const renamed = await move({ id: file.id, to: 'a/first.txt' });
  assert.deepEqual(renamed.body, { artifact: { ...file, path: 'a/first.txt', filename: 'first.txt' }, moved: 1 });
  assert.equal((await move({ from: 'a/first.txt', to: 'ab.txt' })).body.error.code, 'path_taken');
  assert.equal((await move({ from: 'a/first.txt', to: 'ab.txt/x' })).body.error.code, 'path_taken');
  assert.equal((await move({ from: 'a/first.txt', to: 'a/first.txt' })).body.moved, 0);
  assert.equal((await move({ from: 'a', to: 'a/b' })).body.error.code, 'invalid_path');
  assert.equal((await move({ from: 'a', to: 'ab.txt' })).body.error.code, 'path_taken');
  assert.deepEqual((await move({ from: 'a', to: 'Ä/deep' })).body, { artifact: null, moved: 2 });
  assert.deepEqual(await paths(user, { chatId }), ['ab.txt', 'Ä/deep/first.txt', 'Ä/deep/Ünder/two.txt']);
  assert.deepEqual(
    await paths(user, { chatId, q: 'ä/DEEP/ünd' }),
    ['Ä/deep/Ünder/two.txt'],
    'the search knows the new path',
  );
  assert.equal((await move({ from: 'a', to: 'b' })).status, 404);
  assert.equal((await move({ id: 'unknown', to: 'b' })).status, 404);
  const tooLong = `${'y'.repeat(254)}/`.repeat(4).slice(0, -1);
  assert.equal((await move({ from: 'Ä', to: tooLong })).body.error.code, 'invalid_path');
  assert.equal((await move({ from: 'ab.txt', to: '../x' })).body.error.code, 'invalid_path');
  assert.equal((await move({ to: 'b' })).body.error.code, 'invalid_request');
  assert.equal((await move({ id: 'a', from: 'b', to: 'b' })).body.error.code, 'invalid_request');
});

test('a path prefix deletes and lists only the files below that folder', async () => {
  const chatId = await createChat(user);
  for (const path of ['foo/1', 'foo/a/2', 'foobar/3', 'foo.txt', 'a_c/4', 'abc/5', '100%/6', '100x/7', 'fo/8']) {
    await put(user, { chatId }, path);
  }
  assert.deepEqual(await paths(user, { chatId, prefix: 'foo' }), ['foo/1', 'foo/a/2']);
  assert.deepEqual(await paths(user, { chatId, prefix: 'foo/' }), ['foo/1', 'foo/a/2']);
  const remove = async (prefix: string) =>
    (await user.call('DELETE /api/artifacts', undefined, { query: { chatId, prefix } })).body.deleted;
  assert.deepEqual(
    [await remove('foo'), await remove('a_c/'), await remove('100%'), await remove('foo')],
    [2, 1, 1, 0],
  );
  assert.deepEqual(await paths(user, { chatId }), ['100x/7', 'abc/5', 'fo/8', 'foo.txt', 'foobar/3']);
});

test('lists pages by path in byte order, with every limit', async () => {
  const chatId = await createChat(user);
  const all = ['B', 'a', 'a b', 'a-b', 'a/b', 'a/c', 'a0', 'z', 'ä', '名/前', '🙂'].filter((path) => path !== 'a');
  for (const path of all) await put(user, { chatId }, path);
  const inOrder = all.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  for (let limit = 1; limit <= all.length + 1; limit += 1) {
    for (const q of [undefined, '']) {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const query = {
          chatId,
          limit: String(limit),
          ...(q === undefined ? {} : { q }),
          ...(cursor ? { cursor } : {}),
        };
        const { body } = await user.call('GET /api/artifacts', undefined, { query });
        assert.ok(body.artifacts.length <= limit);
        found.push(...body.artifacts.map((artifact: { path: string }) => artifact.path));
        cursor = body.nextCursor ?? undefined;
      } while (cursor !== undefined);
      assert.deepEqual(found, inOrder);
    }
  }
  const odd = await user.call('GET /api/artifacts', undefined, { query: { chatId, cursor: 'bm9wZS8' } });
  assert.equal(odd.body.error.details[0].path, 'cursor');
});

test('a conversation inside a project has the project’s files, which its members share', async () => {
  const { pool } = app.database.database;
  const member = await app.signIn();
  const stranger = await app.signIn();
  const projectId = await makeProject(pool, [user.id, member.id]);
  const chatId = await createChat(user);
  await pool.query('update chats set project_id = $1 where id = $2', [projectId, chatId]);
  const artifact = await put(user, { chatId }, 'shared.txt');
  assert.deepEqual(artifact.namespace, { type: 'project', id: projectId });
  assert.deepEqual(await paths(member, { projectId }), ['shared.txt']);
  await put(member, { projectId }, 'mine.txt');
  assert.deepEqual(await paths(user, { chatId }), ['mine.txt', 'shared.txt']);
  for (const query of [{ projectId }, { chatId }] as Record<string, string>[]) {
    assert.equal((await stranger.call('GET /api/artifacts', undefined, { query })).status, 404);
  }
  assert.equal((await member.call('GET /api/artifacts', undefined, { query: { chatId } })).status, 404);
  await pool.query('delete from project_members where user_id = $1', [user.id]);
  assert.equal((await user.call('GET /api/artifacts', undefined, { query: { chatId } })).status, 404);
});

test('refuses new files in an archived project, and still reads and deletes existing ones', async () => {
  const { pool } = app.database.database;
  const projectId = await makeProject(pool, [user.id]);
  const { id } = await put(user, { projectId }, 'a.txt');
  await pool.query('update projects set archived = true where id = $1', [projectId]);
  assert.equal((await upload(user, { projectId }, { bytes: 'x' })).body.error.code, 'project_archived');
  assert.deepEqual(await paths(user, { projectId }), ['a.txt']);
  assert.equal((await user.call('DELETE /api/artifacts', undefined, { query: { projectId, id } })).status, 200);
  const chatId = await createChat(user);
  await user.call('PATCH /api/chats', { id: chatId, archived: true });
  assert.equal((await upload(user, { chatId }, { bytes: 'x' })).body.error.code, 'conversation_archived');
});

test('concurrent uploads of one name get one path each', async () => {
  const chatId = await createChat(user);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => upload(user, { chatId, path: 'same.txt' }, { bytes: String(index) })),
  );
  assert.ok(answers.every((answer) => answer.status === 201));
  assert.equal(new Set(answers.map((answer) => answer.body.artifact.path)).size, 20);
  const failing = await Promise.all(
    Array.from({ length: 10 }, () => upload(user, { chatId, path: 'once.txt', onConflict: 'fail' }, { bytes: 'x' })),
  );
  assert.deepEqual(failing.map((answer) => answer.status).sort(), [201, ...Array(9).fill(409)]);
});

test('accepts form fields before or after the file, each once and all of them valid', async () => {
  const chatId = await createChat(user);
  const file = { name: 'file', value: 'x', filename: 'x.txt' };
  const scope = { name: 'chatId', value: chatId };
  assert.equal((await sendForm(user, [file, scope])).status, 201);
  const refused = async (...args: Parameters<typeof sendForm>) => {
    const { status, body } = await sendForm(...args);
    assert.equal(status, 400, JSON.stringify(body));
    return [body.error.code, body.error.details[0].path];
  };
  assert.deepEqual(await refused(user, [scope]), ['invalid_request', 'file']);
  assert.deepEqual(await refused(user, [scope, file, file]), ['invalid_request', 'file']);
  assert.deepEqual(await refused(user, [scope, scope, file]), ['invalid_request', 'chatId']);
  assert.deepEqual(await refused(user, [file]), ['invalid_request', 'chatId']);
  assert.deepEqual(await refused(user, [{ ...file, name: 'other' }, scope]), ['invalid_request', 'other']);
  assert.deepEqual(await refused(user, [scope, { name: 'onConflict', value: 'merge' }, file]), [
    'invalid_request',
    'onConflict',
  ]);
  assert.deepEqual(await refused(user, [scope, { name: 'path', value: '../x' }, file]), ['invalid_path', 'path']);
  assert.deepEqual(await refused(user, [file, scope, { name: 'path', value: 'a//x' }]), ['invalid_path', 'path']);
  const bad = { name: 'path', value: Buffer.from([0x61, 0xed, 0xa0, 0x80]) };
  assert.deepEqual(await refused(user, [scope, bad, file]), ['invalid_request', 'path']);
  const long = { name: 'path', value: 'x'.repeat(20_000) };
  assert.deepEqual(await refused(user, [scope, long, file]), ['invalid_request', 'path']);
  const many = Array.from({ length: 30 }, (_, index) => ({ name: `f${index}`, value: 'x' }));
  assert.equal((await refused(user, [...many, scope, file]))[0], 'invalid_request');
  assert.equal((await sendForm(user, [scope, { name: 'unknown', value: 'ignored' }, file])).status, 201);
});

test('refuses bodies that are not forms, and files that are too large', async () => {
  const chatId = await createChat(user);
  const json = await user.call('POST /api/artifacts', { chatId });
  assert.deepEqual([json.status, json.body.error.code], [415, 'unsupported_media_type']);
  const limit = app.service.deps.config.artifactMaxUploadBytes;
  const full = await upload(user, { chatId }, { bytes: Buffer.alloc(limit) });
  assert.deepEqual([full.status, full.body.artifact?.size], [201, limit]);
  for (const over of [1, 700_000, 3_000_000, 20_000_000]) {
    const { status, body } = await upload(user, { chatId }, { bytes: Buffer.alloc(limit + over) });
    assert.deepEqual([status, body.error.code], [413, 'payload_too_large'], String(over));
  }
  assert.equal((await upload(user, { chatId: 'missing' }, { bytes: Buffer.alloc(limit) })).status, 404);
});

test('an upload that began before its account was disabled stores nothing', async () => {
  const leaver = await app.signIn();
  const chatId = await createChat(leaver);
  const { body, contentType } = formBody([
    { name: 'chatId', value: chatId },
    { name: 'file', filename: 'last.txt', value: 'a last word' },
  ]);
  const begun = once(app.service.server, 'request');
  const rest = Promise.withResolvers<void>();
  const chunks = async function* () {
    yield body.subarray(0, body.length - 10);
    await rest.promise;
    yield body.subarray(body.length - 10);
  };
  const init = { method: 'POST', headers: { 'content-type': contentType }, body: chunks(), duplex: 'half' };
  const answered = leaver.fetch('/api/artifacts', init as RequestInit);
  const [incoming]: IncomingMessage[] = await begun;
  // The caller has been authenticated once the form is being read.
  await until(async () => incoming !== undefined && incoming.listenerCount('data') > 0);
  await setUserEnabled({ db: app.database.database }, leaver.id, false);
  rest.resolve();
  const answer = await answered;
  assert.deepEqual([answer.status, JSON.parse(await answer.text()).error.code], [403, 'account_disabled']);
  const { rowCount } = await app.database.database.pool.query('select from artifacts where created_by = $1', [
    leaver.id,
  ]);
  assert.equal(rowCount, 0);
});
