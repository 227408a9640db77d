import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { sweepBlobs } from '../../src/artifacts/blobs.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { put, upload } from '../artifacts/artifact-makers.ts';
import { addModels, nextId, postChat, readStream } from '../chat/chat-harness.ts';
import { makeDocx, paragraph } from '../documents/document-makers.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, finish, say } from '../fakes/provider/provider-scripts.ts';

/** Knowledge files of assistants: their readers and editors, versions, and search in them. */

let app: TestApp;
let provider: FakeProvider;
let owner: SignedIn;
let member: SignedIn;
let stranger: SignedIn;
let admin: SignedIn;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  [owner, member, stranger] = await Promise.all([app.signIn(), app.signIn(), app.signIn()]);
  admin = await app.signIn({ role: 'admin' });
});
after(async () => {
  await app.stop();
  await provider.close();
});

const pool = () => app.database.database.pool;

async function makeAssistant(who: SignedIn, fields: Json = {}): Promise<string> {
  const { status, text, body } = await who.call('POST /api/assistants', { name: 'Lawyer', ...fields });
  assert.equal(status, 201, text);
  return body.assistant.id;
}

async function sharedWithProject(): Promise<{ assistantId: string; projectId: string }> {
  const { body } = await owner.call('POST /api/projects', { name: 'Boats' });
  const projectId: string = body.project.id;
  await owner.call('POST /api/projects/members', { projectId, email: member.email, role: 'member' });
  return { projectId, assistantId: await makeAssistant(owner, { audience: 'project', projectId }) };
}

const assistantOf = async (who: SignedIn, id: string): Promise<Json> =>
  (await who.call('GET /api/assistants', undefined, { query: { id } })).body.assistant;
const list = (who: SignedIn, assistantId: string) =>
  who.call('GET /api/artifacts', undefined, { query: { assistantId } });
const paths = async (who: SignedIn, assistantId: string): Promise<string[]> =>
  (await list(who, assistantId)).body.artifacts.map(({ path }: Json) => path);
const remove = (who: SignedIn, assistantId: string, id: string) =>
  who.call('DELETE /api/artifacts', undefined, { query: { assistantId, id } });
const restore = (who: SignedIn, id: string, restoreVersion: number) =>
  who.call('PATCH /api/assistants', { id, restoreVersion });

test('people who may use an assistant open its files, and no other user does', async () => {
  const { assistantId, projectId } = await sharedWithProject();
  const file = await put(owner, { assistantId }, 'law.txt', 'Boats have lights.');
  assert.deepEqual(file.namespace, { type: 'assistant', id: assistantId });
  const reads = ['', '/stat', '/preview', '/text', '/download', '/versions'];
  const read = (who: Pick<SignedIn, 'fetch'>, route: string) =>
    who.fetch(`/api/artifacts${route}?assistantId=${assistantId}${route === '' ? '' : `&id=${file.id}`}`);
  for (const route of reads) {
    assert.equal((await read(member, route)).status, 200, route);
    assert.equal((await read(stranger, route)).status, 404, route);
    assert.equal((await read(admin, route)).status, 404, route);
  }
  const query = { projectId, userId: member.id };
  assert.equal((await owner.call('DELETE /api/projects/members', undefined, { query })).status, 200);
  for (const route of reads) assert.equal((await read(member, route)).status, 404, route);
});

test('only the editors of an assistant change its files', async () => {
  const { assistantId } = await sharedWithProject();
  const file = await put(owner, { assistantId }, 'law.txt');
  const changes = (who: SignedIn) => [
    upload(who, { assistantId, path: 'mine.txt' }, { bytes: 'Mine' }),
    who.call('PATCH /api/artifacts', { assistantId, id: file.id, to: 'moved.txt' }),
    who.call('POST /api/artifacts/restore', { assistantId, id: file.id, version: 1 }),
    remove(who, assistantId, file.id),
  ];
  for (const answer of await Promise.all(changes(member))) assert.equal(answer.body.error.code, 'forbidden');
  for (const answer of await Promise.all(changes(stranger))) assert.equal(answer.status, 404);
  assert.deepEqual(await paths(owner, assistantId), ['law.txt']);
  const forAll = await makeAssistant(admin, { audience: 'everyone' });
  await put(admin, { assistantId: forAll }, 'all.txt');
  assert.deepEqual(await paths(stranger, forAll), ['all.txt']);
  assert.equal((await upload(stranger, { assistantId: forAll }, { bytes: 'x' })).status, 403);
  const other = await app.signIn({ role: 'admin' });
  assert.equal((await upload(other, { assistantId: forAll }, { name: 'b.txt', bytes: 'x' })).status, 201);
});

test('a file of an assistant is found in no other namespace', async () => {
  const [assistantId, another] = [await makeAssistant(owner), await makeAssistant(owner)];
  const { id } = await put(owner, { assistantId }, 'law.txt');
  const chatId = (await owner.call('POST /api/chats', { assistantId })).body.chat.id;
  for (const [name, value] of [
    ['assistantId', another],
    ['chatId', chatId],
    ['assistantId', id],
  ] as const) {
    const answer = await owner.call('GET /api/artifacts/stat', undefined, { query: { [name]: value, id } });
    assert.equal(answer.status, 404);
  }
  const both = await owner.call('GET /api/artifacts', undefined, { query: { assistantId, chatId } });
  assert.equal(both.status, 400);
  const share = await owner.call('POST /api/shares', { artifactId: id, audience: 'signed_in' });
  assert.equal(share.status, 404);
});

test('every change of files makes a version, and restoring a version brings its files back', async () => {
  const assistantId = await makeAssistant(owner);
  const [first, second] = [
    await put(owner, { assistantId }, 'a.txt', 'one'),
    await put(owner, { assistantId }, 'b.txt'),
  ];
  assert.equal((await assistantOf(owner, assistantId)).version, 2, 'files that are added in a row share a version');
  assert.equal((await assistantOf(owner, assistantId)).fileCount, 2);
  await upload(owner, { assistantId, path: 'a.txt', onConflict: 'replace' }, { bytes: 'two' });
  await owner.call('PATCH /api/artifacts', { assistantId, id: second.id, to: 'c.txt' });
  await remove(owner, assistantId, first.id);
  await owner.call('PATCH /api/assistants', { id: assistantId, name: 'Judge' });
  const query = { id: assistantId };
  const { versions } = (await owner.call('GET /api/assistants/versions', undefined, { query })).body;
  assert.deepEqual(
    versions.map(({ version, files }: Json) => [version, files.map(({ path }: Json) => path)]),
    [
      [6, ['c.txt']],
      [5, ['c.txt']],
      [4, ['a.txt', 'c.txt']],
      [3, ['a.txt', 'b.txt']],
      [2, ['a.txt', 'b.txt']],
      [1, []],
    ],
  );
  await sweepBlobs(app.service.deps, 3_600_000);
  assert.equal((await restore(owner, assistantId, 2)).body.assistant.version, 7);
  assert.deepEqual(await paths(owner, assistantId), ['a.txt', 'b.txt']);
  const content = await owner.fetch(`/api/artifacts/download?assistantId=${assistantId}&id=${first.id}`);
  assert.equal(await content.text(), 'one');
  assert.equal((await restore(owner, assistantId, 7)).body.assistant.version, 7, 'nothing differs');
  await put(owner, { assistantId }, 'd.txt');
  assert.equal((await assistantOf(owner, assistantId)).version, 8, 'other changes end a row of added files');
});

test('uploading the same content again makes no version', async () => {
  const assistantId = await makeAssistant(owner);
  await put(owner, { assistantId }, 'a.txt', 'same');
  const again = await upload(owner, { assistantId, path: 'a.txt', onConflict: 'replace' }, { bytes: 'same' });
  assert.equal(again.status, 201);
  assert.equal((await assistantOf(owner, assistantId)).version, 2);
});

test('an editor restores only the files of versions that they could see', async () => {
  const { body } = await owner.call('POST /api/projects', { name: 'Boats' });
  const projectId: string = body.project.id;
  await owner.call('POST /api/projects/members', { projectId, email: member.email, role: 'owner' });
  const assistantId = await makeAssistant(owner);
  const secret = await put(owner, { assistantId }, 'private.txt');
  await remove(owner, assistantId, secret.id);
  await owner.call('PATCH /api/assistants', { id: assistantId, audience: 'project', projectId });
  assert.equal((await restore(member, assistantId, 2)).status, 404);
  const seen = (await member.call('GET /api/assistants/versions', undefined, { query: { id: assistantId } })).text;
  assert.ok(!seen.includes('private.txt'));
  assert.deepEqual(await paths(member, assistantId), []);
});

test('readers of an assistant find no earlier content of its files', async () => {
  const assistantId = await makeAssistant(admin);
  const { id } = await put(admin, { assistantId }, 'a.txt', 'MARK-DRAFT');
  await upload(admin, { assistantId, path: 'a.txt', onConflict: 'replace' }, { bytes: 'final' });
  await admin.call('PATCH /api/assistants', { id: assistantId, audience: 'everyone' });
  const query = { assistantId, id };
  const { versions } = (await stranger.call('GET /api/artifacts/versions', undefined, { query })).body;
  assert.equal(versions.length, 1);
  const earlier = await stranger.fetch(`/api/artifacts/download?assistantId=${assistantId}&id=${id}&version=1`);
  assert.equal(earlier.status, 404);
});

test('an assistant has a bounded number of files, and their contents count for its author', async () => {
  const assistantId = await makeAssistant(owner);
  const { sha256 } = await put(owner, { assistantId }, 'first.txt');
  await pool().query(
    `insert into artifacts (id, assistant_id, path, search, media_type, size, sha256, created_by)
     select $1 || n, $1, 'many' || n, 'many' || n, 'text/plain', 9, $2, $3 from generate_series(2, $4::int) n`,
    [assistantId, sha256, owner.id, limits.assistantFilesMax],
  );
  const refused = await upload(owner, { assistantId }, { name: 'more.txt', bytes: 'x' });
  assert.equal(refused.body.error.code, 'invalid_request');
  assert.match(refused.body.error.message, /at most 50 files/);
});

test('the audit log names changes of files of shared assistants only', async () => {
  const own = await makeAssistant(owner);
  await put(owner, { assistantId: own }, 'a.txt');
  const { assistantId } = await sharedWithProject();
  await put(owner, { assistantId }, 'secret-name.txt');
  const { rows } = await pool().query(
    `select target_id, actor_id, details from audit_events where action = 'assistant.updated' and target_id = any($1)`,
    [[own, assistantId]],
  );
  assert.deepEqual(rows, [
    {
      target_id: assistantId,
      actor_id: owner.id,
      details: { name: 'Lawyer', changed: ['files'], audience: 'project' },
    },
  ]);
});

test('files go with their assistant, and their contents with the last version', async () => {
  const assistantId = await makeAssistant(owner);
  const { id, sha256 } = await put(owner, { assistantId }, 'gone.txt', nextId('content'));
  await remove(owner, assistantId, id);
  const has = async () => (await pool().query('select from blobs where sha256 = $1', [sha256])).rowCount;
  await sweepBlobs(app.service.deps, 3_600_000);
  assert.equal(await has(), 1, 'an earlier version has it');
  await owner.call('DELETE /api/assistants', undefined, { query: { id: assistantId } });
  assert.equal((await list(owner, assistantId)).status, 404);
  await sweepBlobs(app.service.deps, 3_600_000);
  assert.equal(await has(), 0);
});

/** The tools that the model was offered, and the results of its calls. */
type Asked = { tools: string[]; results: string[] };

async function ask(who: SignedIn, chatId: string, model: string, calls: [string, object][]): Promise<Asked> {
  provider.script(model, (call) => {
    const done = (call.body.messages ?? []).filter(({ role }) => role === 'tool').length;
    const step = calls[done];
    if (step === undefined) return { steps: [...say('Done'), ...finish(call, 5)] };
    const fn = { name: step[0], arguments: JSON.stringify(step[1]) };
    const tool = { index: 0, id: `c${done}`, type: 'function', function: fn };
    return { steps: [chunk({ tool_calls: [tool] }), ...finish(call, 5, 'tool_calls')] };
  });
  const message = { id: nextId('m'), parts: [{ type: 'text', text: 'Search' }] };
  assert.equal((await who.call('POST /api/chat/start', { chatId, message })).status, 201);
  await readStream(await postChat(who, { chatId, messageId: message.id }));
  const { body } = provider.requests.at(-1) as Json;
  return {
    tools: (body.tools ?? []).map((tool: Json) => tool.function.name),
    results: body.messages.filter(({ role }: Json) => role === 'tool').map(({ content }: Json) => content),
  };
}

test('a conversation with an assistant searches and reads its files until the person loses access', async () => {
  const { assistantId, projectId } = await sharedWithProject();
  const bytes = makeDocx(paragraph('A ketch has two masts.'));
  const added = await upload(owner, { assistantId }, { name: 'boats.docx', bytes, type: 'application/octet-stream' });
  const model = nextId('model');
  const [modelId] = await addModels(member, provider, [model]);
  const { body } = await member.call('POST /api/chats', { assistantId, modelPinned: true, modelId });
  const chatId: string = body.chat.id;
  const fileId: string = added.body.artifact.id;
  const calls: [string, object][] = [
    ['search_documents', { query: 'masts of a ketch' }],
    ['read_document', { id: fileId, page: 1 }],
  ];
  const { tools, results } = await ask(member, chatId, model, calls);
  assert.ok(tools.includes('search_documents'));
  assert.match(results[0] ?? '', /"file":"boats\.docx".*two masts/);
  assert.match(results[1] ?? '', /two masts/);
  const query = { projectId, userId: member.id };
  assert.equal((await owner.call('DELETE /api/projects/members', undefined, { query })).status, 200);
  const after = await ask(member, chatId, model, []);
  assert.ok(!after.tools.includes('search_documents'));
});
