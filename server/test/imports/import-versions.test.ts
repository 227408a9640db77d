import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, upload } from '../artifacts/artifact-makers.ts';
import { bring, zipOf } from './import-makers.ts';

/** A replaced file is exported with its earlier versions, and imported with them. */

let app: TestApp;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-versions-'));
  app = await startTestApp({ config: { dataDir: folder, artifactMaxUploadBytes: 16 * 1024 * 1024 } });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

type Version = { version: number; mediaType: string; createdAt: string; content: string };

/** Every file of a scope with all its versions, the newest first. */
async function filesOf(who: SignedIn, scope: Record<string, string>): Promise<[path: string, versions: Version[]][]> {
  const { artifacts } = (await who.call('GET /api/artifacts', undefined, { query: scope })).body;
  const files = artifacts.map(async ({ id, path }: Json) => {
    const listed = await who.call('GET /api/artifacts/versions', undefined, { query: { ...scope, id } });
    const versions = listed.body.versions.map(async ({ version, mediaType, createdAt }: Json) => {
      const query = new URLSearchParams({ ...scope, id, version: String(version) });
      const content = await (await who.fetch(`/api/artifacts/download?${query}`)).text();
      return { version, mediaType, createdAt, content };
    });
    return [path, await Promise.all(versions)];
  });
  return Promise.all(files);
}

async function replace(who: SignedIn, scope: object, path: string, contents: readonly string[]): Promise<void> {
  for (const bytes of contents) {
    const { status, text } = await upload(who, { ...scope, path, onConflict: 'replace' }, { bytes });
    assert.equal(status, 201, text);
  }
}

async function exportOf(who: SignedIn): Promise<Buffer> {
  return Buffer.from(await (await who.fetch('/api/me/export')).arrayBuffer());
}

async function onlyChat(who: SignedIn): Promise<{ chatId: string }> {
  const { chats } = (await who.call('GET /api/chats')).body;
  assert.equal(chats.length, 1);
  return { chatId: chats[0].id };
}

const message = { id: 'm', parentId: null, role: 'user', parts: [{ type: 'text', text: 'Hello' }] };
const entries = (more: object) => ({
  'homeport.json': { format: 'homeport-export', version: 1, user: {} },
  'conversations/one.json': {
    chat: { id: 'one', title: 'One' },
    activeMessageId: 'm',
    messages: [message],
    files: [{ id: 'f', path: 'a.txt', mediaType: 'text/plain', entry: 'files/f/a.txt', ...more }],
  },
  'files/f/a.txt': 'now',
});
const earlier = (version: unknown, entry = `files/f/versions/${version}/a.txt`) => ({
  version,
  mediaType: 'text/plain',
  createdAt: '2026-01-01T00:00:00.000Z',
  entry,
});

test('exporting, importing and exporting again keeps every version with its number, type, time and content', async () => {
  const [first, second] = [await app.signIn(), await app.signIn()];
  const chat = { chatId: await createChat(first) };
  await replace(first, chat, 'page.html', ['one', 'two', 'three']);
  await replace(first, chat, 'plain.txt', ['once']);
  const { body: made } = await first.call('POST /api/projects', { name: 'Boats' });
  const project = { projectId: made.project.id };
  await replace(first, project, 'notes.md', ['# a', '# b', '# a']);

  await bring(second, await exportOf(first));
  const there = { chat: await onlyChat(second), project: (await second.call('GET /api/projects')).body.projects[0].id };
  assert.deepEqual(await filesOf(second, there.chat), await filesOf(first, chat));
  const inProject = await filesOf(second, { projectId: there.project });
  assert.deepEqual(inProject, await filesOf(first, project));
  assert.deepEqual(
    inProject[0]?.[1].map(({ version, content }) => [version, content]),
    [
      [3, '# a'],
      [2, '# b'],
      [1, '# a'],
    ],
  );

  await replace(second, there.chat, 'page.html', ['four']);
  const changed = await filesOf(second, there.chat);
  await bring(second, await exportOf(first));
  assert.deepEqual(await filesOf(second, there.chat), changed, 'a second time adds nothing and takes nothing back');
  const third = await app.signIn();
  await bring(third, await exportOf(second));
  assert.deepEqual(await filesOf(third, await onlyChat(third)), changed, 'and it goes on');
});

test('an export leaves out only files that are deleted while it is sent', async () => {
  const who = await app.signIn();
  const chat = { chatId: await createChat(who) };
  for (const path of ['a-1.bin', 'a-2.bin']) {
    const { status } = await upload(who, { ...chat, path }, { bytes: randomBytes(16 * 1024 * 1024) });
    assert.equal(status, 201);
  }
  await replace(who, chat, 'b.txt', ['nobody else has this', 'nor that']);
  await replace(who, chat, 'c.txt', ['kept']);
  const reader = (await who.fetch('/api/me/export')).body?.getReader();
  assert.ok(reader !== undefined);
  // The files are listed by now, and the client doesn't read the large ones.
  const chunks = [(await reader.read()).value ?? new Uint8Array()];
  while (Buffer.concat(chunks).length < 1024 * 1024) chunks.push((await reader.read()).value ?? new Uint8Array());
  const { artifacts } = (await who.call('GET /api/artifacts', undefined, { query: chat })).body;
  const { id } = artifacts.find(({ path }: Json) => path === 'b.txt');
  const deleted = await who.call('DELETE /api/artifacts', undefined, { query: { ...chat, id } });
  assert.ok(deleted.status < 300, deleted.text);
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);

  const other = await app.signIn();
  await bring(other, Buffer.concat(chunks));
  const files = (await who.call('GET /api/artifacts', undefined, { query: chat })).body.artifacts;
  const came = (await other.call('GET /api/artifacts', undefined, { query: await onlyChat(other) })).body.artifacts;
  const facts = (list: Json[]) => list.map(({ path, size }) => [path, size]).sort();
  assert.deepEqual(facts(came), facts(files));
  assert.equal(came.length, 3);
});

test('skips only versions that are damaged, out of order or above the limit', async () => {
  const who = await app.signIn();
  const odd = [
    earlier(9),
    earlier(8, 'files/f/none'),
    earlier(8),
    earlier(9),
    earlier('x'),
    earlier(0),
    earlier(2),
    'x',
  ];
  const contents = { 'files/f/versions/9/a.txt': 'nine', 'files/f/versions/2/a.txt': 'two' };
  const archive = await zipOf({ ...entries({ version: 10, changedAt: 'x', earlier: odd }), ...contents });
  const { import: done } = await bring(who, archive);
  assert.equal(done.state, 'done', JSON.stringify(done));
  const [[, versions] = ['', []]] = await filesOf(who, await onlyChat(who));
  assert.deepEqual(
    versions.map(({ version, content }) => [version, content]),
    [
      [10, 'now'],
      [9, 'nine'],
      [2, 'two'],
    ],
  );
  const report = await who.call('GET /api/imports', undefined, { query: { id: done.id } });
  assert.match(JSON.stringify(report.body), /Version 8 of the file “a\.txt” is damaged or too large/);
});

test('imports no more versions than are kept, and an invalid number counts as the first', async () => {
  const many = Array.from({ length: limits.artifactVersionsKept + 5 }, (_, index) => earlier(99 - index));
  const contents = Object.fromEntries(many.map(({ entry }) => [entry, 'x']));
  const who = await app.signIn();
  await bring(who, await zipOf({ ...entries({ version: 100, earlier: many }), ...contents }));
  const [[, versions] = ['', []]] = await filesOf(who, await onlyChat(who));
  assert.equal(versions.length, limits.artifactVersionsKept + 1);
  for (const version of [-1, 1e10, 1.5, '2', null, {}]) {
    const other = await app.signIn();
    await bring(
      other,
      await zipOf({ ...entries({ version, earlier: [earlier(1)] }), 'files/f/versions/1/a.txt': 'x' }),
    );
    const [[, single] = ['', []]] = await filesOf(other, await onlyChat(other));
    assert.deepEqual(
      single.map((each) => each.version),
      [1],
    );
  }
});
