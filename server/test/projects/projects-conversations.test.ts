import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { put } from '../artifacts/artifact-makers.ts';
import { addModels, answer, createChat, nextId, postChat, submission, submit } from '../chat/chat-harness.ts';
import { startResponse } from '../conversations/conversation-makers.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/** Conversations in projects: creating, moving, and the limits of an archived project. */

let app: TestApp;
let provider: FakeProvider;
let user: SignedIn;
let other: SignedIn;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  [user, other] = await Promise.all([app.signIn(), app.signIn()]);
  await addModels(user, provider, ['echo']);
});
after(async () => {
  await app.stop();
  await provider.close();
});

const makeProject = async (who = user): Promise<string> =>
  (await who.call('POST /api/projects', { name: 'Project' })).body.project.id;
const archive = (id: string, archived = true) => user.call('PATCH /api/projects', { id, archived });
const createIn = async (projectId: string): Promise<string> =>
  (await user.call('POST /api/chats', { projectId })).body.chat.id;
const move = (id: string, projectId: string | null) => user.call('PATCH /api/chats', { id, projectId });
const listed = async (query: Record<string, string> = {}): Promise<string[]> =>
  (await user.call('GET /api/chats', undefined, { query: { limit: '500', ...query } })).body.chats.map(
    (chat: Json) => chat.id,
  );

test("creates a conversation only in the user's own projects, and never in an archived one", async () => {
  const [own, foreign] = [await makeProject(), await makeProject(other)];
  assert.equal((await user.call('POST /api/chats', { projectId: own })).body.chat.projectId, own);
  assert.equal((await user.call('POST /api/chats', { projectId: foreign })).body.error.code, 'not_found');
  await archive(own);
  const refused = await user.call('POST /api/chats', { projectId: own });
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'project_archived']);
  const used = await createChat(user);
  await archive(own, false);
  assert.equal((await user.call('POST /api/chats', { id: used, projectId: own })).body.error.code, 'id_taken');
});

test('moves a conversation into a project, to another one, and out of it', async () => {
  const [one, two] = [await makeProject(), await makeProject()];
  const id = await createChat(user);
  for (const projectId of [one, one, two, null, null]) {
    const { status, body } = await move(id, projectId);
    assert.deepEqual(
      [status, body.chat.projectId, body.movedArtifacts, body.artifactFolder],
      [200, projectId, 0, null],
    );
  }
});

const paths = async (scope: Record<string, string>): Promise<string[]> =>
  (await user.call('GET /api/artifacts', undefined, { query: scope })).body.artifacts
    .map((file: Json) => file.path)
    .sort();

test('the files of a conversation move into the project under the same paths, and stay there when it leaves', async () => {
  const project = await makeProject();
  const id = await createChat(user);
  await put(user, { chatId: id }, 'plans/harbour.txt', 'one');
  await put(user, { chatId: id }, 'notes.txt', 'two');
  const { body } = await move(id, project);
  assert.deepEqual([body.movedArtifacts, body.artifactFolder], [2, null]);
  assert.deepEqual(await paths({ projectId: project }), ['notes.txt', 'plans/harbour.txt']);
  assert.deepEqual(await paths({ chatId: id }), ['notes.txt', 'plans/harbour.txt']);
  assert.equal((await move(id, null)).body.movedArtifacts, 0);
  assert.deepEqual([(await paths({ chatId: id })).length, (await paths({ projectId: project })).length], [0, 2]);
});

test('moves all files into a folder named after the conversation if one path is taken', async () => {
  const project = await makeProject();
  await put(user, { projectId: project }, 'notes.txt', 'there before');
  const id = await createChat(user);
  await put(user, { chatId: id }, 'notes.txt', 'one');
  await put(user, { chatId: id }, 'free.txt', 'two');
  const answer = await user.call('PATCH /api/chats', { id, title: 'Harbour plans', projectId: project });
  assert.deepEqual([answer.body.movedArtifacts, answer.body.artifactFolder], [2, 'Harbour plans']);
  const expected = ['Harbour plans/free.txt', 'Harbour plans/notes.txt', 'notes.txt'];
  assert.deepEqual(await paths({ projectId: project }), expected);
});

test('a refused move leaves the files unchanged', async () => {
  const closed = await makeProject();
  const id = await createChat(user);
  await put(user, { chatId: id }, 'stays.txt', 'one');
  await archive(closed);
  assert.equal((await move(id, closed)).status, 409);
  assert.deepEqual(await paths({ chatId: id }), ['stays.txt']);
});

test("a former member no longer sees a project's files, not even through the conversation that was in it", async () => {
  const project = (await other.call('POST /api/projects', { name: 'Left' })).body.project.id;
  await other.call('POST /api/projects/members', { projectId: project, email: user.email, role: 'member' });
  const id = await createIn(project);
  await put(user, { projectId: project }, 'shared.txt', 'one');
  assert.deepEqual(await paths({ chatId: id }), ['shared.txt']);
  await other.call('DELETE /api/projects/members', undefined, { query: { projectId: project, userId: user.id } });
  assert.deepEqual(await paths({ chatId: id }), []);
  const { status } = await user.call('GET /api/artifacts', undefined, { query: { projectId: project } });
  assert.equal(status, 404);
});

test("refuses a move during a response, into an archived project, and into another user's project", async () => {
  const [open, closed, foreign] = [await makeProject(), await makeProject(), await makeProject(other)];
  await archive(closed);
  const id = await createChat(user);
  assert.equal((await move(id, closed)).body.error.code, 'project_archived');
  assert.equal((await move(id, foreign)).body.error.code, 'not_found');
  await startResponse(app.database.database, { id, ownerId: user.id });
  assert.equal((await move(id, open)).body.error.code, 'response_running');
  const inside = await createIn(open);
  await startResponse(app.database.database, { id: inside, ownerId: user.id });
  assert.equal((await move(inside, null)).body.error.code, 'response_running');
  assert.equal((await user.call('PATCH /api/chats', { id: inside, projectId: open, title: 'Stays' })).status, 200);
});

test('an archived project hides its conversations from the list and the search, keeps them by id, and deletes nothing', async () => {
  const project = await makeProject();
  const id = await createIn(project);
  await user.call('PATCH /api/chats', { id, title: 'Pelican notes' });
  const standalone = await createChat(user);
  const seen = async () => [
    (await listed()).includes(id),
    (await listed({ q: 'pelican' })).includes(id),
    (await listed({ projectId: project })).includes(id),
    (await listed({ projectId: project, q: 'pelican' })).includes(id),
    (await listed()).includes(standalone),
  ];
  assert.deepEqual(await seen(), [true, true, true, true, true]);
  await archive(project);
  assert.deepEqual(await seen(), [false, false, true, true, true]);
  assert.equal((await listed({ archived: '1' })).includes(id), false);
  assert.equal((await user.call('GET /api/chats', undefined, { query: { id } })).body.chat.title, 'Pelican notes');
  await archive(project, false);
  assert.deepEqual(await seen(), [true, true, true, true, true]);
});

test('an archived project admits, starts, regenerates and resumes nothing new, and a retry is answered as before', async () => {
  const project = await makeProject();
  const id = await createIn(project);
  const first = submission(id, 'hello');
  await user.call('POST /api/chat/start', first);
  await answer(user, id, first.message.id);
  await archive(project);
  const refusals = [
    await user.call('POST /api/chat/start', submission(id, 'more')),
    await user.call('POST /api/chat/turn-inputs', submission(id, 'more')),
    await user.call('POST /api/chat', { chatId: id, messageId: first.message.id, regenerate: true }),
  ];
  for (const { status, body } of refusals) assert.deepEqual([status, body.error.code], [409, 'project_archived']);
  await app.database.database.pool.query(`update responses set state = 'interrupted' where chat_id = $1`, [id]);
  assert.equal((await user.call('POST /api/chat', { chatId: id, resume: true })).body.error.code, 'project_archived');
  const again = await user.call('POST /api/chat/start', first);
  assert.deepEqual([again.status, again.body], [201, { messageId: first.message.id }]);
});

test('queued inputs of an archived project stay queued, and are answered when it is restored', async () => {
  const project = await makeProject();
  const id = await createIn(project);
  const messageId = nextId('waits');
  // Between the two the grace period of the submission has not expired yet.
  await submit(user, id, 'are you there?', {
    message: { id: messageId, parts: [{ type: 'text', text: 'are you there?' }] },
  });
  await archive(project);
  const claim = await postChat(user, { chatId: id, messageId });
  assert.equal(claim.status, 409);
  await app.database.database.pool.query('update inputs set start_after = now() where id = $1', [messageId]);
  const free = await createChat(user);
  await user.call('POST /api/chat/turn-inputs', submission(free, 'free'));
  const state = async (chatId: string) =>
    (await user.call('GET /api/chats', undefined, { query: { id: chatId } })).body;
  // The dispatcher has finished a pass: a later input elsewhere is answered.
  await until(async () => (await state(free)).messages.length === 2);
  assert.deepEqual([(await state(id)).messages, (await state(id)).inputs.length], [[], 1]);
  await archive(project, false);
  await until(async () => (await state(id)).messages[1]?.status === 'complete');
});

test('archiving a project does not interrupt a running response', async () => {
  const project = await makeProject();
  const id = await createIn(project);
  const messageId = await submit(user, id, 'go on');
  provider.hold();
  const stream = answer(user, id, messageId);
  await until(async () => app.service.deps.responses.size > 0);
  await archive(project);
  provider.release();
  assert.equal((await stream).done, true);
});
