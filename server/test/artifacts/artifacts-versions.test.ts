import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { sweepStore } from '../../src/artifacts/sweeper.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, put, upload } from './artifact-makers.ts';

/** Replaced artifacts keep earlier versions, which can be listed, read and restored. */

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

type Scope = { chatId: string };
const replace = async (user: SignedIn, scope: Scope, path: string, bytes: string): Promise<Json> => {
  const { status, body, text } = await upload(user, { ...scope, path, onConflict: 'replace' }, { bytes });
  assert.equal(status, 201, text);
  return body.artifact;
};
const versions = async (user: SignedIn, scope: Scope, id: string): Promise<Json[]> =>
  (await user.call('GET /api/artifacts/versions', undefined, { query: { ...scope, id } })).body.versions;
const numbers = async (user: SignedIn, scope: Scope, id: string): Promise<number[]> =>
  (await versions(user, scope, id)).map(({ version }) => version);
const read = async (user: SignedIn, what: string, query: Record<string, string>) => {
  const response = await user.fetch(`/api/artifacts/${what}?${new URLSearchParams(query)}`);
  return [response.status, await response.text()];
};
const restore = (user: SignedIn, body: object) => user.call('POST /api/artifacts/restore', body);
const blobs = async (): Promise<number> =>
  (await app.database.database.pool.query('select count(*)::int as count from blobs')).rows[0].count;

test('a replaced file keeps its id, and its earlier versions are listed, read and restored', async () => {
  const user = await app.signIn();
  const scope = { chatId: await createChat(user) };
  const { id, version } = await put(user, scope, 'page.html', 'one');
  assert.equal(version, 1);
  assert.equal((await replace(user, scope, 'page.html', 'two')).version, 2);
  assert.equal((await replace(user, scope, 'page.html', 'three')).id, id);
  const listed = await versions(user, scope, id);
  assert.deepEqual(
    listed.map(({ version: number, isCurrent, size, createdBy }) => [number, isCurrent, size, createdBy]),
    [
      [3, true, 5, user.id],
      [2, false, 3, user.id],
      [1, false, 3, user.id],
    ],
  );
  const times = listed.map(({ createdAt }) => Date.parse(createdAt));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  );
  assert.deepEqual(await read(user, 'preview', { ...scope, id, version: '1' }), [200, 'one']);
  assert.deepEqual(await read(user, 'download', { ...scope, id, version: '2' }), [200, 'two']);
  assert.deepEqual(await read(user, 'download', { ...scope, id, version: '3' }), [200, 'three']);
  assert.deepEqual(await read(user, 'download', { ...scope, id }), [200, 'three']);
  assert.equal((await read(user, 'download', { ...scope, id, version: '4' }))[0], 404);
  assert.equal((await read(user, 'download', { ...scope, id, version: '0' }))[0], 400);

  const restored = await restore(user, { ...scope, id, version: 1 });
  assert.deepEqual([restored.body.artifact.version, restored.body.artifact.size], [4, 3], restored.text);
  assert.deepEqual(await read(user, 'download', { ...scope, id }), [200, 'one']);
  assert.deepEqual(await numbers(user, scope, id), [4, 3, 2, 1]);
  assert.equal((await restore(user, { ...scope, id, version: 4 })).body.artifact.version, 4, 'it is the present one');
  assert.equal((await restore(user, { ...scope, id, version: 9 })).status, 404);
});

test('storing the same content again makes no version, and a moved file keeps its versions', async () => {
  const user = await app.signIn();
  const scope = { chatId: await createChat(user) };
  const { id } = await put(user, scope, 'same.txt', 'same');
  assert.equal((await replace(user, scope, 'same.txt', 'same')).version, 1);
  await replace(user, scope, 'same.txt', 'other');
  await user.call('PATCH /api/artifacts', { ...scope, id, to: 'folder/moved.txt' });
  assert.deepEqual(await read(user, 'download', { ...scope, path: 'folder/moved.txt', version: '1' }), [200, 'same']);
  const { body } = await user.call('POST /api/projects', { name: 'Project' });
  await user.call('PATCH /api/chats', { id: scope.chatId, projectId: body.project.id });
  assert.deepEqual(await numbers(user, scope, id), [2, 1]);
});

test('keeps the newest versions, up to a number and a size', async () => {
  const user = await app.signIn();
  const scope = { chatId: await createChat(user) };
  const { id } = await put(user, scope, 'many.txt', 'content 0');
  const before = await blobs();
  for (let count = 1; count <= limits.artifactVersionsKept + 2; count += 1) {
    await replace(user, scope, 'many.txt', `content ${count} of ${id}`);
  }
  const kept = await numbers(user, scope, id);
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [limits.artifactVersionsKept + 1, 23, 3]);
  assert.equal(await blobs(), before - 1 + limits.artifactVersionsKept + 1, 'what is not kept has no bytes');

  const { pool } = app.database.database;
  const half = limits.artifactVersionBytes / 2 + 1;
  await pool.query('update artifact_versions set size = $2 where artifact_id = $1 and version > 19', [id, half]);
  await replace(user, scope, 'many.txt', `small ${id}`);
  assert.deepEqual(await numbers(user, scope, id), [24, 23, 22]);
});

test('versions are deleted with their artifact, and their bytes with the last reference', async () => {
  const user = await app.signIn();
  const before = await blobs();
  const scope = { chatId: await createChat(user) };
  for (const path of ['a/one.txt', 'a/two.txt']) {
    await put(user, scope, path, `shared ${scope.chatId}`);
    await replace(user, scope, path, `${path} ${scope.chatId}`);
  }
  assert.equal(await blobs(), before + 3);
  const query = { ...scope, path: 'a/one.txt' };
  assert.equal((await user.call('DELETE /api/artifacts', undefined, { query })).body.deleted, 1);
  assert.deepEqual(await read(user, 'download', { ...scope, path: 'a/two.txt', version: '1' }), [
    200,
    `shared ${scope.chatId}`,
  ]);
  assert.equal(await blobs(), before + 2);
  const folder = { ...scope, prefix: 'a' };
  assert.equal((await user.call('DELETE /api/artifacts', undefined, { query: folder })).body.deleted, 1);
  assert.equal(await blobs(), before);

  await put(user, scope, 'last.txt', `first ${scope.chatId}`);
  await replace(user, scope, 'last.txt', `last ${scope.chatId}`);
  const { deps } = app.service;
  await sweepStore(deps);
  assert.equal((await read(user, 'download', { ...scope, path: 'last.txt', version: '1' }))[0], 200);
  await user.call('DELETE /api/chats', undefined, { query: { id: scope.chatId } });
  await sweepStore(deps);
  assert.equal(await blobs(), before);
});

test("members of a project see its versions, others don't, and archived projects refuse restores", async () => {
  const [owner, stranger] = [await app.signIn(), await app.signIn()];
  const chatId = await createChat(owner);
  const { id } = await put(owner, { chatId }, 'plan.txt', 'one');
  await replace(owner, { chatId }, 'plan.txt', 'two');
  const foreign = await stranger.call('GET /api/artifacts/versions', undefined, { query: { chatId, id } });
  assert.equal(foreign.status, 404);
  assert.equal((await restore(stranger, { chatId, id, version: 1 })).status, 404);
  await owner.call('PATCH /api/chats', { id: chatId, archived: true });
  assert.equal((await restore(owner, { chatId, id, version: 1 })).body.error.code, 'conversation_archived');
  assert.deepEqual(await numbers(owner, { chatId }, id), [2, 1]);
});

test('concurrent replacements and restores lose no version, and give each its own number', async () => {
  const user = await app.signIn();
  const scope = { chatId: await createChat(user) };
  const { id } = await put(user, scope, 'race.txt', 'start');
  await replace(user, scope, 'race.txt', 'second');
  await Promise.all([
    ...Array.from({ length: 4 }, (_, index) => replace(user, scope, 'race.txt', `race ${index}`)),
    ...Array.from({ length: 2 }, () => restore(user, { ...scope, id, version: 1 })),
  ]);
  const found = await numbers(user, scope, id);
  assert.deepEqual(
    found,
    Array.from({ length: found.length }, (_, index) => found.length - index),
  );
  for (const version of found)
    assert.equal((await read(user, 'download', { ...scope, id, version: `${version}` }))[0], 200);
});
