import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Answer, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, makeProject, paths, put, upload } from './artifact-makers.ts';

/** Import of one artifact by an administrator (control-plane-api.md "Import one artifact"). */

let app: TestApp;
let admin: SignedIn;
let user: SignedIn;
before(async () => {
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin' });
  user = await app.signIn();
});
after(() => app.stop());

type Fields = Record<string, string | undefined>;
const importFile = (fields: Fields, bytes = 'imported', as = admin): Promise<Answer> =>
  upload(as, fields, { name: 'x.bin', type: 'application/octet-stream', bytes }, '/api/admin/artifacts/import');
const given = (more: Fields): Fields => ({
  artifactId: randomUUID(),
  importSource: randomUUID(),
  path: 'a/b.csv',
  ...more,
});

test('imports a file under its own id, with its own time and type', async () => {
  const chatId = await createChat(user);
  const fields = given({
    chatId,
    mediaType: 'text/x-table; charset=utf-8',
    createdAt: '2021-03-04T05:06:07.089+02:00',
  });
  const { status, body } = await importFile({ ...fields, artifactId: fields.artifactId?.toUpperCase() });
  assert.equal(status, 201, JSON.stringify(body));
  const { artifact, skipped } = body;
  assert.equal(skipped, false);
  assert.deepEqual(
    [artifact.id, artifact.path, artifact.mediaType, artifact.createdAt, artifact.createdBy, artifact.size],
    [fields.artifactId, 'a/b.csv', 'text/x-table', '2021-03-04T03:06:07.089Z', admin.id, 8],
  );
  assert.deepEqual(await paths(user, { chatId }), ['a/b.csv'], 'its owner has it');
  const { rows } = await app.database.database.pool.query(`select * from audit_events where target_id = $1`, [
    artifact.id,
  ]);
  assert.deepEqual([rows.length, rows[0].action, rows[0].actor_id], [1, 'artifact.imported', admin.id]);
  const guessed = await importFile(given({ chatId, path: 'c.csv' }));
  assert.equal(guessed.body.artifact.mediaType, 'text/csv');
});

test('accepts as an id a UUID of any version and variant', async () => {
  const chatId = await createChat(user);
  for (const digit of ['1', '9', 'e']) {
    const artifactId = `${digit.repeat(8)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(4)}-${randomUUID().slice(24)}`;
    const { status, body } = await importFile(given({ chatId, artifactId, path: digit }));
    assert.deepEqual([status, body.artifact?.id], [201, artifactId], JSON.stringify(body));
  }
});

test('a retry answers the current record wherever it was moved, and stores nothing', async () => {
  const chatId = await createChat(user);
  const fields = given({ chatId });
  const first = await importFile(fields);
  const again = await importFile(fields, 'other bytes');
  assert.equal(again.status, 200);
  assert.deepEqual(again.body, { artifact: first.body.artifact, skipped: true });
  await user.call('PATCH /api/artifacts', { chatId, id: fields.artifactId, to: 'elsewhere.csv' });
  const moved = await importFile(fields);
  assert.deepEqual([moved.body.skipped, moved.body.artifact.path], [true, 'elsewhere.csv']);
  const other = app.database.database.pool.query(`select from blobs where size = $1`, ['other bytes'.length]);
  assert.equal((await other).rowCount, 0);
});

test('refuses a source that was used for another target', async () => {
  const [chatId, otherChat] = [await createChat(user), await createChat(user)];
  const projectId = await makeProject(app.database.database.pool, [user.id]);
  const fields = given({ chatId });
  await importFile(fields);
  for (const change of [
    { artifactId: randomUUID() },
    { path: 'other' },
    { chatId: otherChat },
    { chatId: undefined, projectId },
  ]) {
    const { status, body } = await importFile({ ...fields, ...change });
    assert.deepEqual([status, body.error.code], [409, 'import_source_conflict'], JSON.stringify(change));
  }
  assert.deepEqual([await paths(user, { chatId: otherChat }), await paths(user, { projectId })], [[], []]);
});

test('never overwrites ids and paths in use', async () => {
  const chatId = await createChat(user);
  const present = await put(user, { chatId }, 'a/b.csv');
  assert.equal((await importFile(given({ chatId }))).body.error.code, 'path_taken');
  assert.equal((await importFile(given({ chatId, path: 'c', artifactId: present.id }))).body.error.code, 'id_taken');
  const { body } = await user.call('GET /api/artifacts', undefined, { query: { chatId } });
  assert.deepEqual(body.artifacts, [present]);
});

test("imports into the project of a project's conversation", async () => {
  const { pool } = app.database.database;
  const projectId = await makeProject(pool, [user.id]);
  const chatId = await createChat(user);
  await pool.query('update chats set project_id = $1 where id = $2', [projectId, chatId]);
  const { body } = await importFile(given({ chatId }));
  assert.deepEqual(body.artifact.namespace, { type: 'project', id: projectId });
});

test('many concurrent retries make one record and one content', async () => {
  const chatId = await createChat(user);
  const all = Array.from({ length: 8 }, () => given({ chatId, path: randomUUID() }));
  const answers = await Promise.all(
    all.flatMap((fields) => Array.from({ length: 5 }, () => importFile(fields, fields.path ?? ''))),
  );
  assert.deepEqual([...new Set(answers.map((answer) => answer.status))].sort(), [200, 201]);
  assert.equal(answers.filter((answer) => answer.status === 201).length, 8);
  assert.equal((await paths(user, { chatId })).length, 8);
});

test('rejects invalid fields by name, and refuses callers without access', async () => {
  const chatId = await createChat(user);
  const projectId = await makeProject(app.database.database.pool, [user.id]);
  const fields = given({ chatId });
  const wrong: [change: Fields, status: number, field: string | undefined][] = [
    [{ artifactId: 'no-uuid' }, 400, 'artifactId'],
    [{ artifactId: undefined }, 400, 'artifactId'],
    [{ importSource: ' ' }, 400, 'importSource'],
    [{ path: '../x' }, 400, 'path'],
    [{ path: undefined }, 400, 'path'],
    [{ mediaType: 'text' }, 400, 'mediaType'],
    [{ createdAt: 'yesterday' }, 400, 'createdAt'],
    [{ createdAt: '2021-02-30T00:00:00Z' }, 400, 'createdAt'],
    // In UTC their years have five digits, and a sign.
    [{ createdAt: '9999-12-31T23:59:59-10:00' }, 400, 'createdAt'],
    [{ createdAt: '0000-01-01T00:00:00+10:00' }, 400, 'createdAt'],
    [{ projectId }, 400, 'chatId'],
    [{ chatId: undefined }, 400, 'chatId'],
    [{ chatId: 'missing' }, 404, undefined],
    [{ chatId: undefined, projectId: 'missing' }, 404, undefined],
  ];
  for (const [change, status, field] of wrong) {
    const answer = await importFile({ ...fields, ...change });
    assert.deepEqual([answer.status, answer.body.error.details?.[0]?.path], [status, field], JSON.stringify(change));
  }
  assert.equal((await importFile(fields, 'x', user)).body.error.code, 'forbidden');
  assert.deepEqual(await paths(user, { chatId }), []);
});
