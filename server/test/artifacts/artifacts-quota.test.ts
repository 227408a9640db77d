import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, upload } from './artifact-makers.ts';

/** The storage quota of an account. */

let app: TestApp;
before(async () => {
  app = await startTestApp({ config: { artifactQuotaMb: 1 } });
});
after(() => app.stop());

const kilobytes = (count: number) => Buffer.alloc(count * 1024, 'x');

test('refuses files above the quota with the numbers, also when they arrive at the same time', async () => {
  const user = await app.signIn();
  const chatId = await createChat(user);
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => upload(user, { chatId, path: `${index}.bin` }, { bytes: kilobytes(300) })),
  );
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [201, 201, 201, 507, 507, 507]);
  const { error } = answers.find(({ status }) => status === 507)?.body ?? {};
  assert.equal(error.code, 'storage_full');
  assert.deepEqual(error.details, { usedBytes: 3 * 300 * 1024, maxBytes: 1024 * 1024 });
  assert.match(error.message, /1 MB of the 1 MB/);
  const other = await app.signIn();
  const theirs = await upload(other, { chatId: await createChat(other), path: 'own.bin' }, { bytes: kilobytes(900) });
  assert.equal(theirs.status, 201);
});

test('counts earlier versions, and frees the room of deleted files immediately', async () => {
  const user = await app.signIn();
  const chatId = await createChat(user);
  const replace = (letter: string, size: number) =>
    upload(user, { chatId, path: 'plan.txt', onConflict: 'replace' }, { bytes: Buffer.alloc(size * 1024, letter) });
  assert.equal((await replace('a', 400)).status, 201);
  assert.equal((await replace('b', 400)).status, 201);
  assert.equal((await replace('c', 400)).status, 507);
  await user.call(`DELETE /api/artifacts?chatId=${chatId}&path=plan.txt`);
  assert.equal((await replace('d', 900)).status, 201);
});

test('counts a replaced file for the user who replaced it', async () => {
  const [owner, member] = [await app.signIn(), await app.signIn()];
  const { body } = await owner.call('POST /api/projects', { name: 'Shared' });
  const projectId = body.project.id;
  await owner.call('POST /api/projects/members', { projectId, email: member.email, role: 'member' });
  const put = (user: SignedIn, path: string, size: number) =>
    upload(user, { projectId, path, onConflict: 'replace' }, { bytes: kilobytes(size) });
  assert.equal((await put(owner, 'plan.bin', 100)).status, 201);
  assert.equal((await put(member, 'plan.bin', 900)).status, 201);
  assert.equal((await put(member, 'more.bin', 200)).status, 507, 'what the member put in its place');
  assert.equal((await put(owner, 'own.bin', 800)).status, 201, 'the earlier version of 100 and 800 more');
  assert.equal((await put(owner, 'own-2.bin', 200)).status, 507);
});

test('does not restore an earlier version that exceeds the quota', async () => {
  const user = await app.signIn();
  const chatId = await createChat(user);
  const put = (path: string, size: number) =>
    upload(user, { chatId, path, onConflict: 'replace' }, { bytes: kilobytes(size) });
  const { id } = (await put('plan.bin', 600)).body.artifact;
  assert.equal((await put('plan.bin', 10)).status, 201);
  const restored = await user.call('POST /api/artifacts/restore', { chatId, id, version: 1 });
  assert.deepEqual([restored.status, restored.body.error?.code], [507, 'storage_full']);
});
