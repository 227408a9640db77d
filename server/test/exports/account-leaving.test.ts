import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { insertPassword } from '../../src/accounts/credentials.ts';
import { hashPassword } from '../../src/accounts/passwords.ts';
import { exportAccount } from '../../src/exports/export-account.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { put, upload } from '../artifacts/artifact-makers.ts';
import { ManualClock } from '../fakes/manual-clock.ts';
import { bring, chatGptArchive, claudeArchive, conversationsOf, openWebUiExport } from '../imports/import-makers.ts';

/** Leaving: an archive of a person's data that can be imported again, and deleted accounts (contract.md section 11). */

const password = 'correct horse 1';
let app: TestApp;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'leaving-'));
  app = await startTestApp({ config: { dataDir: folder } });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

async function withPassword(fields: Json = {}): Promise<SignedIn> {
  const who = await app.signIn(fields);
  await insertPassword(app.database.database.kysely, who.id, await hashPassword(password));
  return who;
}

/** Without ids and members that an import can't restore: equal exports have equal texts. */
function comparable(conversations: Json[]): Json[] {
  return conversations.map(({ chat, activeMessageId, messages }) => {
    const place = (id: string | null) => messages.findIndex((message: Json) => message.id === id);
    return {
      title: chat.title,
      archived: chat.archived,
      instructions: chat.instructions,
      parameters: chat.parameters,
      createdAt: chat.createdAt,
      updatedAt: chat.updatedAt,
      inProject: chat.projectId !== null,
      active: place(activeMessageId),
      messages: messages.map(({ id: _, chatId: __, parentId, parts, ...message }: Json) => ({
        ...message,
        parent: place(parentId),
        parts: JSON.parse(JSON.stringify(parts).replace(/artifact:\/\/[\w-]+/g, 'artifact')),
      })),
    };
  });
}

async function filesOf(who: SignedIn): Promise<string[]> {
  const found: string[] = [];
  const { body } = await who.call('GET /api/projects');
  const scopes = [
    ...body.projects.map(({ id }: Json) => ({ projectId: id })),
    ...(await conversationsOf(who))
      .filter(({ chat }) => chat.projectId === null)
      .map(({ chat }) => ({ chatId: chat.id })),
  ];
  for (const query of scopes) {
    const { body: list } = await who.call('GET /api/artifacts', undefined, { query });
    for (const { path, sha256, mediaType } of list.artifacts) found.push(`${path} ${mediaType} ${sha256}`);
  }
  return found.sort();
}

test('an export imported into another account exports to the same content again', async () => {
  const first = await app.signIn();
  for (const archive of [await chatGptArchive(), await claudeArchive(), openWebUiExport]) await bring(first, archive);
  const { body: own } = await first.call('POST /api/chats', { title: 'Own' });
  await put(first, { chatId: own.chat.id }, 'notes/a.txt', 'by hand');
  await first.call('PATCH /api/me/personalization', { instructions: 'Be brief' });
  const response = await first.fetch('/api/me/export');
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/zip']);
  assert.match(response.headers.get('content-disposition') ?? '', /homeport-export-\d{4}-\d\d-\d\d\.zip/);
  const archive = Buffer.from(await response.arrayBuffer());
  await first.fetch('/api/me/export', { method: 'HEAD' });
  const exported = await app.database.database.kysely
    .selectFrom('audit_events')
    .select(['actor_id', 'target_id'])
    .where('action', '=', 'user.exported')
    .execute();
  assert.deepEqual(exported, [{ actor_id: first.id, target_id: first.id }]);

  const second = await app.signIn();
  const { import: made } = await bring(second, archive);
  assert.deepEqual([made.state, made.source, made.problems, made.instructions], ['done', 'homeport', [], 'Be brief']);
  assert.equal(made.counts.imported, 5);
  assert.deepEqual(comparable(await conversationsOf(second)), comparable(await conversationsOf(first)));
  assert.deepEqual(await filesOf(second), await filesOf(first));
  const names = async (who: SignedIn) =>
    (await who.call('GET /api/projects')).body.projects
      .map(({ name, instructions }: Json) => [name, instructions])
      .sort();
  assert.deepEqual(await names(second), await names(first));
  assert.equal((await bring(second, archive)).import.counts.imported, 0, 'a second time adds nothing');
  assert.equal((await bring(first, archive)).import.counts.imported, 0, 'what is still here is the same');
});

test('canceling an export at any moment disturbs no other request', async () => {
  const who = await app.signIn();
  const { body: own } = await who.call('POST /api/chats', { title: 'Own' });
  await put(who, { chatId: own.chat.id }, 'notes/a.txt', 'a'.repeat(300_000));
  let moments = 0;
  for (let isWhole = false; !isWhole; moments += 1) {
    const leaving = new AbortController();
    let left = moments;
    // The client disconnects at a later check of its signal each time.
    const signal = Object.assign(leaving.signal, {
      throwIfAborted() {
        if (left === 0) leaving.abort();
        left -= 1;
        AbortSignal.prototype.throwIfAborted.call(leaving.signal);
      },
    });
    const outgoing = new Writable({ write: (_chunk, _encoding, taken) => taken() });
    isWhole = await exportAccount(app.service.deps, who.id, outgoing, signal).then(
      () => true,
      (error: Error) => {
        assert.equal(error.name, 'AbortError');
        return false;
      },
    );
  }
  assert.ok(moments > 5, `${moments}`);
});

test('sends an export to a slow client in full and disconnects one that reads nothing for five minutes', async () => {
  const who = await app.signIn();
  const { body: own } = await who.call('POST /api/chats', { title: 'Own' });
  const bytes = randomBytes(1_000_000);
  await upload(who, { chatId: own.chat.id, path: 'a.png' }, { type: 'image/png', bytes });
  const clock = new ManualClock();
  const sendTo = (take: (taken: () => void) => void) => {
    const outgoing = new Writable({ write: (_chunk, _encoding, taken) => take(taken) });
    return exportAccount({ ...app.service.deps, clock }, who.id, outgoing, new AbortController().signal);
  };
  let pieces = 0;
  await sendTo((taken) => {
    pieces += 1;
    clock.advance(200_000);
    setImmediate(taken);
  });
  assert.ok(pieces > 10, `${pieces} pieces`);
  let reason = '';
  void sendTo(() => undefined).catch((error: Error) => {
    reason = error.message;
  });
  await until(async () => {
    clock.advance(300_000);
    return reason === 'the receiver takes nothing';
  });
});

test('deletes an account with its password and keeps shared data for the others', async () => {
  const who = await withPassword();
  const other = await app.signIn();
  const { body: chat } = await who.call('POST /api/chats', { title: 'Mine' });
  const { body: shared } = await who.call('POST /api/projects', { name: 'Shared' });
  const projectId = shared.project.id;
  await who.call('POST /api/projects/members', { projectId, email: other.email, role: 'member' });
  await put(who, { projectId }, 'plan.txt', 'ours');
  await who.call('POST /api/assistants', { name: 'Ours', audience: 'project', projectId });
  await who.call('POST /api/projects', { name: 'Alone' });

  const wrong = await who.call('DELETE /api/me', { password: 'wrong horse 12' });
  assert.deepEqual([wrong.status, wrong.body.error.code], [401, 'invalid_credentials']);
  const strange = await (await app.signIn()).call('DELETE /api/me', { email: 'somebody@else.example' });
  assert.equal(strange.body.error.message, 'The address is wrong. Nothing was deleted.');
  const gone = await who.call('DELETE /api/me', { password });
  assert.deepEqual([gone.status, gone.body], [200, { ok: true }]);
  assert.match(gone.headers.get('set-cookie') ?? '', /session_token=;/);
  assert.equal((await who.call('GET /api/me')).status, 401);
  const { body: projects } = await other.call('GET /api/projects');
  assert.deepEqual(
    projects.projects.map(({ name, role }: Json) => [name, role]),
    [['Shared', 'owner']],
  );
  const { body: files } = await other.call('GET /api/artifacts', undefined, { query: { projectId } });
  assert.deepEqual(
    files.artifacts.map(({ path, createdBy }: Json) => [path, createdBy]),
    [['plan.txt', 'deleted']],
  );
  const { body: assistants } = await other.call('GET /api/assistants');
  assert.deepEqual(
    assistants.assistants.map(({ name, canEdit }: Json) => [name, canEdit]),
    [['Ours', true]],
  );
  const left = await app.database.database.pool.query(
    `select (select count(*)::int from users where id = $1) as users, (select count(*)::int from chats where id = $2) as chats,
      (select count(*)::int from projects where name = 'Alone') as projects`,
    [who.id, chat.chat.id],
  );
  assert.deepEqual(left.rows, [{ users: 0, chats: 0, projects: 0 }]);
});

test('lets an administrator delete an account with its data, or keep the data without access to it', async () => {
  const admin = await withPassword({ role: 'admin' });
  const [kept, dropped] = [await withPassword(), await withPassword()];
  for (const who of [kept, dropped]) await who.call('POST /api/chats', { title: 'Mine' });
  const remove = (id: string, data: string) =>
    admin.call('DELETE /api/admin/users', undefined, { query: { id, data } });
  assert.deepEqual((await remove(kept.id, 'keep')).body, { ok: true });
  assert.deepEqual((await remove(dropped.id, 'delete')).body, { ok: true });
  for (const who of [kept, dropped]) {
    assert.equal((await who.call('GET /api/me')).status, 401);
    const signIn = await app.anonymous.call('POST /api/auth/sign-in/email', { email: who.email, password });
    assert.equal(signIn.status, 401);
    const { body } = await admin.call('GET /api/admin/users', undefined, { query: { q: who.id } });
    assert.deepEqual(body.users, []);
    assert.equal((await admin.call('PATCH /api/admin/users', { id: who.id, enabled: true })).status, 404);
    assert.equal((await admin.call('POST /api/admin/users', { name: 'Again', email: who.email })).status, 201);
  }
  const { rows } = await app.database.database.pool.query('select owner_id from chats where owner_id = any($1)', [
    [kept.id, dropped.id],
  ]);
  assert.deepEqual(rows, [{ owner_id: kept.id }]);
  const { body: audit } = await admin.call('GET /api/admin/audit');
  const actions = audit.events
    .filter(({ action }: Json) => action === 'user.deleted')
    .map(({ targetId, details }: Json) => [targetId, details]);
  assert.deepEqual(actions.slice(0, 2), [
    [dropped.id, { email: dropped.email, data: 'delete' }],
    [kept.id, { email: kept.email, data: 'keep' }],
  ]);
  assert.equal((await remove(kept.id, 'delete')).status, 200, 'kept data can be deleted later');
  assert.equal((await remove(kept.id, 'delete')).status, 404);
  const own = await admin.call('DELETE /api/me', { password });
  assert.deepEqual([own.status, own.body.error.code], [409, 'last_admin']);
  assert.equal((await remove(admin.id, 'delete')).status, 400);
});
