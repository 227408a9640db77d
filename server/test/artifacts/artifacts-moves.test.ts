import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, makeProject, paths, put } from './artifact-makers.ts';

/** The files of a conversation that moves into a project, and of one that is deleted. */

let app: TestApp;
let user: SignedIn;
before(async () => {
  app = await startTestApp();
  user = await app.signIn();
});
after(() => app.stop());

const move = (id: string, projectId: string | null) => user.call('PATCH /api/chats', { id, projectId });
const project = () => makeProject(app.database.database.pool, [user.id]);

test("keeps the paths of files that don't clash", async () => {
  const projectId = await project();
  await put(user, { projectId }, 'notes/theirs.txt');
  const chatId = await createChat(user, { title: 'Trip' });
  const file = await put(user, { chatId }, 'notes/mine.txt');
  const { body } = await move(chatId, projectId);
  assert.deepEqual([body.movedArtifacts, body.artifactFolder], [1, null]);
  assert.deepEqual(await paths(user, { projectId }), ['notes/mine.txt', 'notes/theirs.txt']);
  const stat = await user.call('GET /api/artifacts/stat', undefined, { query: { chatId, id: file.id } });
  assert.deepEqual(stat.body.artifact, { ...file, namespace: { type: 'project', id: projectId } });
});

test('moves all files into one folder named after the conversation when one path is taken', async () => {
  const projectId = await project();
  await put(user, { projectId }, 'taken.txt');
  const chatIds: string[] = [];
  for (const [index, folder] of ['Plans - Summer', 'Plans - Summer (2)', 'Plans - Summer (3)'].entries()) {
    const chatId = await createChat(user, { title: 'Plans / Summer' });
    chatIds.push(chatId);
    await put(user, { chatId }, 'taken.txt', `content ${index}`);
    await put(user, { chatId }, 'free/Ä.txt');
    const { body } = await move(chatId, projectId);
    assert.deepEqual([body.movedArtifacts, body.artifactFolder], [2, folder]);
  }
  assert.deepEqual(await paths(user, { projectId, prefix: 'Plans - Summer' }), [
    'Plans - Summer/free/Ä.txt',
    'Plans - Summer/taken.txt',
  ]);
  assert.equal((await paths(user, { projectId })).length, 7);
  assert.deepEqual(await paths(user, { projectId, q: 'summer (2)/FREE/ä' }), ['Plans - Summer (2)/free/Ä.txt']);
});

test('continues a list after a path that its folder made longer than the limit of paths', async () => {
  const projectId = await project();
  const long = ['a', 'b', 'c', 'd'].map((name) => name.repeat(255)).join('/');
  for (const path of [long, 'taken']) await put(user, { projectId }, path);
  const chatId = await createChat(user, { title: 'ü'.repeat(50) });
  for (const path of [long, 'taken']) await put(user, { chatId }, path);
  assert.equal((await move(chatId, projectId)).body.movedArtifacts, 2);
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const query = { projectId, limit: '1', ...(cursor === null ? {} : { cursor }) };
    const { status, body } = await user.call('GET /api/artifacts', undefined, { query });
    assert.equal(status, 200, JSON.stringify(body));
    found.push(...body.artifacts.map((artifact: { path: string }) => artifact.path));
    cursor = body.nextCursor;
  } while (cursor !== null);
  const folder = 'ü'.repeat(50);
  assert.deepEqual(found, [long, 'taken', `${folder}/${long}`, `${folder}/taken`]);
});

test("treats a file in place of the other's folder as a clash, in both directions", async () => {
  for (const [inProject, inChat] of [
    ['a', 'a/b'],
    ['a/b', 'a'],
  ] as const) {
    const projectId = await project();
    await put(user, { projectId }, inProject);
    const chatId = await createChat(user, { title: 'a' });
    await put(user, { chatId }, inChat);
    const { body } = await move(chatId, projectId);
    assert.equal(body.artifactFolder, 'a (2)');
    assert.deepEqual(await paths(user, { projectId }), [inProject, `a (2)/${inChat}`].sort());
  }
});

test('files stay in the project when a conversation leaves it', async () => {
  const projectId = await project();
  const chatId = await createChat(user, { title: 'Guest' });
  await put(user, { chatId }, 'a.txt');
  await move(chatId, projectId);
  const { body } = await move(chatId, null);
  assert.deepEqual([body.movedArtifacts, body.artifactFolder], [0, null]);
  assert.deepEqual(await paths(user, { projectId }), ['a.txt']);
  assert.deepEqual(await paths(user, { chatId }), []);
});

test("uploads during a conversation's move end up in its old or its new place", async () => {
  for (let round = 0; round < 5; round += 1) {
    const projectId = await project();
    const chatId = await createChat(user, { title: 'Race' });
    await put(user, { chatId }, 'first.txt');
    const names = Array.from({ length: 8 }, (_, index) => `f${index}.txt`);
    const [moved] = await Promise.all([move(chatId, projectId), ...names.map((name) => put(user, { chatId }, name))]);
    assert.equal(moved.status, 200, moved.text);
    assert.deepEqual(await paths(user, { projectId }), [...names, 'first.txt'].sort());
    assert.deepEqual(await paths(user, { chatId }), [...names, 'first.txt'].sort());
  }
});

test('deleting a conversation deletes its files', async () => {
  const chatId = await createChat(user);
  const { id } = await put(user, { chatId }, 'a.txt');
  await user.call('DELETE /api/chats', undefined, { query: { id: chatId } });
  const { rowCount } = await app.database.database.pool.query('select from artifacts where id = $1', [id]);
  assert.equal(rowCount, 0);
});
