import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { markName } from '../../src/artifacts/blob-store.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, makeProject, paths, put } from '../artifacts/artifact-makers.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';
import { enterWorkspace, type Inside } from './workspace-caller.ts';
import { quiet } from './workspace-makers.ts';

/** /api/internal/artifacts: a workspace's access to the files of its user. */

const maxBytes = 4 * 1024 * 1024;
const runtime = new ProcessRuntime();
let app: TestApp;
let user: SignedIn;
let inside: Inside;
let root: string;
before(async () => {
  app = await startTestApp({
    workspaceRuntime: runtime,
    // The workspace of a disabled account is not stopped before the request.
    workspaceTimings: { ...quiet, watchMs: 1_000_000_000 },
    config: { artifactMaxUploadBytes: maxBytes },
  });
  user = await app.signIn();
  inside = await enterWorkspace(app, runtime, user);
  root = app.service.deps.config.artifactStore ?? '';
});
after(async () => {
  await runtime.destroy();
  await app.stop();
});

const base = '/api/internal/artifacts';
const download = (scope: string, query: Record<string, string>, from = inside) =>
  from.fetch(`${base}/download?${new URLSearchParams(query)}`, { headers: { 'x-artifact-scope': scope } });

function filesIn(folder: string): string[] {
  // The service can move or remove a file of its own between the two reads.
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name !== markName && statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true,
  );
}

test('uploads a file as a body, finds it by path and id, moves, downloads and deletes it', async () => {
  const chatId = await createChat(user);
  const scope = `chat:${chatId}`;
  const bytes = randomBytes(100_000);
  const up = await inside.put(scope, { path: 'data/räw.bin' }, bytes, { 'content-type': 'application/x-thing' });
  assert.equal(up.status, 201, up.text);
  const { artifact } = up.body;
  assert.deepEqual(
    [artifact.path, artifact.size, artifact.mediaType, artifact.createdBy, artifact.namespace],
    ['data/räw.bin', bytes.length, 'application/x-thing', user.id, { type: 'chat', id: chatId }],
  );
  assert.equal(artifact.sha256, createHash('sha256').update(bytes).digest('hex'));
  const both: Record<string, string>[] = [{ id: artifact.id }, { path: 'data/räw.bin' }];
  for (const query of both) {
    const { body } = await inside.call(`GET ${base}/stat`, scope, { query });
    assert.deepEqual(body.artifact, artifact);
    assert.deepEqual(Buffer.from(await (await download(scope, query)).arrayBuffer()), bytes);
  }
  const part = await inside.fetch(`${base}/download?id=${artifact.id}`, {
    headers: { 'x-artifact-scope': scope, range: 'bytes=10-19' },
  });
  assert.deepEqual([part.status, Buffer.from(await part.arrayBuffer())], [206, bytes.subarray(10, 20)]);
  const moved = await inside.call(`PATCH ${base}`, scope, { body: { id: artifact.id, to: 'b.bin' } });
  assert.deepEqual([moved.status, moved.body.artifact.path, moved.body.moved], [200, 'b.bin', 1]);
  await inside.put(scope, { path: 'text/a.txt' }, 'hello');
  const shown = await inside.fetch(`${base}/preview?path=text/a.txt`, { headers: { 'x-artifact-scope': scope } });
  assert.deepEqual([await shown.text(), shown.headers.get('content-type')], ['hello', 'text/plain; charset=utf-8']);
  const listed = await inside.call(`GET ${base}`, scope, { query: { prefix: 'text', q: 'A.T' } });
  assert.deepEqual(
    listed.body.artifacts.map((one: { path: string }) => one.path),
    ['text/a.txt'],
  );
  assert.deepEqual(await paths(user, { chatId }), ['b.bin', 'text/a.txt'], 'its owner sees the same');
  assert.equal((await inside.call(`DELETE ${base}`, scope, { query: { prefix: 'text' } })).body.deleted, 1);
  assert.equal((await inside.call(`DELETE ${base}`, scope, { query: { path: 'b.bin' } })).body.deleted, 1);
  assert.equal((await inside.call(`GET ${base}/stat`, scope, { query: { id: artifact.id } })).status, 404);
});

test('a taken path gets a number, a new content or a refusal, and the type is that of the sender or of the name', async () => {
  const scope = `chat:${await createChat(user)}`;
  const first = (await inside.put(scope, { path: 'a.csv' }, 'one')).body.artifact;
  const second = (await inside.put(scope, { path: 'a.csv' }, 'two')).body.artifact;
  const third = (await inside.put(scope, { path: 'a.csv', onConflict: 'replace' }, 'three')).body.artifact;
  const fourth = await inside.put(scope, { path: 'a.csv', onConflict: 'fail' }, 'four');
  assert.deepEqual([second.path, third.id, third.size], ['a (2).csv', first.id, 5]);
  assert.deepEqual([fourth.status, fourth.body.error.code], [409, 'path_taken']);
  const types = await Promise.all([
    inside.put(scope, { path: 't.csv' }, Buffer.from('x'), { 'content-type': 'application/octet-stream' }),
    inside.put(scope, { path: 't.unknown' }, Buffer.from('x'), { 'content-type': 'not a type at all' }),
    inside.put(scope, { path: 't.txt', mediaType: 'text/x-own; charset=utf-8' }, Buffer.from('x')),
    inside.put(scope, { path: 'empty.json' }, Buffer.alloc(0)),
  ]);
  assert.deepEqual(
    types.map(({ body }) => [body.artifact.mediaType, body.artifact.size]),
    [
      ['text/csv', 1],
      ['application/octet-stream', 1],
      ['text/x-own', 1],
      ['application/json', 0],
    ],
  );
});

test('a conversation in a project addresses the project, for its current members only', async () => {
  const { pool } = app.database.database;
  const projectId = await makeProject(pool, [user.id]);
  const chatId = await createChat(user, { projectId });
  const { artifact } = (await inside.put(`chat:${chatId}`, { path: 'shared.txt' }, 'shared')).body;
  assert.deepEqual(artifact.namespace, { type: 'project', id: projectId });
  const other = await app.signIn();
  const theirs = await enterWorkspace(app, runtime, other);
  const statOf = (scope: string) => theirs.call(`GET ${base}/stat`, scope, { query: { id: artifact.id } });
  assert.equal((await statOf(`project:${projectId}`)).status, 404);
  await pool.query(`insert into project_members (project_id, user_id, role) values ($1, $2, 'member')`, [
    projectId,
    other.id,
  ]);
  assert.equal((await statOf(`project:${projectId}`)).status, 200);
  assert.equal((await statOf(`chat:${chatId}`)).status, 404, 'the conversation stays its owner’s alone');
  const stream = new TransformStream<Uint8Array, Uint8Array>();
  const writer = stream.writable.getWriter();
  const slow = theirs.put(`project:${projectId}`, { path: 'late.txt' }, stream.readable);
  await writer.write(Buffer.from('begun as a member'));
  await pool.query('delete from project_members where project_id = $1 and user_id = $2', [projectId, other.id]);
  await writer.close();
  assert.equal((await slow).status, 404, 'who is removed while it uploads is no member when it ends');
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await theirs.call(
      `${method} ${base}${method === 'GET' ? '/stat' : ''}`,
      `project:${projectId}`,
      {
        query: { id: artifact.id },
      },
    );
    assert.deepEqual([status, body.error.code], [404, 'not_found']);
  }
  assert.deepEqual(await paths(user, { projectId }), ['shared.txt']);
});

test('no user reaches another’s files by any name, and every such answer is the same', async () => {
  const chatId = await createChat(user);
  const file = await put(user, { chatId }, 'mine.txt', 'mine');
  const theirs = await enterWorkspace(app, runtime, await app.signIn());
  const own = `chat:${await createChat(await app.signIn({ email: `${randomUUID()}@example.org` }))}`;
  const scopes = [`chat:${chatId}`, `chat:${randomUUID()}`, `project:${chatId}`, `project:${randomUUID()}`, own];
  for (const scope of scopes) {
    const answers = await Promise.all([
      theirs.call(`GET ${base}`, scope),
      theirs.call(`GET ${base}/stat`, scope, { query: { id: file.id } }),
      theirs.call(`GET ${base}/preview`, scope, { query: { path: 'mine.txt' } }),
      theirs.call(`GET ${base}/download`, scope, { query: { path: 'mine.txt' } }),
      theirs.put(scope, { path: 'x' }, 'x'),
      theirs.call(`PATCH ${base}`, scope, { body: { id: file.id, to: 'taken.txt' } }),
      theirs.call(`DELETE ${base}`, scope, { query: { id: file.id } }),
    ]);
    for (const { status, body } of answers) assert.deepEqual([status, body.error.code], [404, 'not_found'], scope);
  }
  const chat = await createChat(user);
  const elsewhere = await inside.call(`GET ${base}/stat`, `chat:${chat}`, { query: { id: file.id } });
  assert.equal(elsewhere.status, 404, 'an id of another namespace is none of this one');
});

test('requires a scope of one of two forms', async () => {
  const chatId = await createChat(user);
  const odd = [
    undefined,
    '',
    'chat',
    'chat:',
    chatId,
    `Chat:${chatId}`,
    `chat:${chatId},project:x`,
    `chat:${'x'.repeat(129)}`,
    'chat:a b',
  ];
  for (const scope of odd) {
    const { status, body } = await inside.call(`GET ${base}`, scope);
    assert.deepEqual([status, body.error?.code], [400, 'invalid_request'], String(scope));
    assert.deepEqual(
      body.error.details.map((one: { path: string }) => one.path),
      ['x-artifact-scope'],
      String(scope),
    );
  }
  for (const [query, path] of [
    [{}, 'path'],
    [{ path: 'x', onConflict: 'maybe' }, 'onConflict'],
  ] as const) {
    const { status, body } = await inside.put(`chat:${chatId}`, query, 'x');
    assert.deepEqual([status, body.error.details[0].path], [400, path]);
  }
  for (const path of ['../x', '/x', 'a//b', 'x\u0007']) {
    const { status, body } = await inside.put(`chat:${chatId}`, { path }, 'x');
    assert.deepEqual([status, body.error.code], [400, 'invalid_path'], path);
    assert.ok(!JSON.stringify(body).includes('../x'), 'what was asked is not repeated');
  }
});

test('archived projects and conversations accept nothing new', async () => {
  const chatId = await createChat(user);
  await inside.put(`chat:${chatId}`, { path: 'a' }, 'a');
  await user.call('PATCH /api/chats', { id: chatId, archived: true });
  const { status, body } = await inside.put(`chat:${chatId}`, { path: 'b' }, 'b');
  assert.deepEqual([status, body.error.code], [409, 'conversation_archived']);
  assert.equal((await download(`chat:${chatId}`, { path: 'a' })).status, 200);
});

test('accepts no session as a workspace, no workspace as a session, and a disabled account as neither', async () => {
  const chatId = await createChat(user);
  const withCookie = await user.fetch(base, { headers: { 'x-artifact-scope': `chat:${chatId}` } });
  assert.equal(withCookie.status, 401);
  assert.equal((await inside.fetch('/api/chats')).status, 401);
  assert.equal((await app.anonymous.fetch(base)).status, 401);
  const forged = await app.anonymous.fetch(base, { headers: { authorization: `Bearer wst_${'A'.repeat(43)}` } });
  assert.equal(forged.status, 401);
  const gone = await app.signIn();
  const theirs = await enterWorkspace(app, runtime, gone);
  const chat = `chat:${await createChat(gone)}`;
  assert.equal((await theirs.call(`GET ${base}`, chat)).status, 200);
  await app.database.database.pool.query('update users set enabled = false where id = $1', [gone.id]);
  const refused = await theirs.call(`GET ${base}`, chat);
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'account_disabled']);
  const before = theirs.token;
  await app.database.database.pool.query('update users set enabled = true where id = $1', [gone.id]);
  await gone.call('DELETE /api/workspace/status');
  const again = await enterWorkspace(app, runtime, gone);
  assert.notEqual(again.token, before);
  assert.equal((await theirs.call(`GET ${base}`, chat)).status, 401, 'the token of an earlier start');
  assert.equal((await again.call(`GET ${base}`, chat)).status, 200);
});

test('refuses too large files by their declared and their actual size, and leaves nothing', async () => {
  const chatId = await createChat(user);
  const scope = `chat:${chatId}`;
  const present = filesIn(root).length;
  const declared = await inside.put(scope, { path: 'big' }, Buffer.alloc(maxBytes + 1));
  assert.deepEqual([declared.status, declared.body.error.code], [413, 'payload_too_large']);
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
  });
  const counted = await inside.put(scope, { path: 'big' }, endless);
  assert.deepEqual([counted.status, counted.body.error.code], [413, 'payload_too_large']);
  assert.ok(sent > maxBytes && sent < maxBytes + 64 * 1024 * 1024);
  const exact = await inside.put(scope, { path: 'exact' }, Buffer.alloc(maxBytes));
  assert.equal(exact.status, 201, exact.text);
  assert.deepEqual(await paths(user, { chatId }), ['exact']);
  await until(async () => filesIn(root).length === present + 1);
});

test('a refusal reaches a client that is still sending, and the connection stays usable', async () => {
  const { status, body } = await inside.put(`chat:${randomUUID()}`, { path: 'x' }, Buffer.alloc(maxBytes));
  assert.deepEqual([status, body.error.code], [404, 'not_found']);
  const nobody = await app.anonymous.fetch(`${base}?path=x`, { method: 'PUT', body: Buffer.alloc(maxBytes) });
  assert.equal(nobody.status, 401);
  assert.match(await nobody.text(), /"code":"unauthorized"/);
});

test('an upload interrupted at any byte leaves nothing, on the disk or in the list', async () => {
  const chatId = await createChat(user);
  const present = filesIn(root).sort();
  const body = randomBytes(300_000);
  const { port } = new URL(app.url);
  const head = (framing: string) =>
    [
      `PUT ${base}?path=cut.bin HTTP/1.1`,
      'host: localhost',
      `authorization: Bearer ${inside.token}`,
      `x-artifact-scope: chat:${chatId}`,
      framing,
      '\r\n',
    ].join('\r\n');
  const cut = (bytes: Buffer) =>
    new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(Number(port), '127.0.0.1', () => socket.end(bytes));
      socket
        .on('data', (chunk) => (text += chunk))
        .on('error', () => resolve(text))
        .on('close', () => resolve(text));
    });
  const chunked = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
  for (const [framing, payload] of [
    [`content-length: ${body.length}`, body],
    ['transfer-encoding: chunked', chunked],
  ] as const) {
    for (let at = 0; at < payload.length; at += Math.floor(payload.length / 11)) {
      const answer = await cut(Buffer.concat([Buffer.from(head(framing)), payload.subarray(0, at)]));
      assert.doesNotMatch(answer, /^HTTP\/1\.1 2/, `${framing} ${at}`);
    }
  }
  await until(async () => filesIn(root).length === present.length);
  assert.deepEqual(filesIn(root).sort(), present);
  assert.deepEqual(await paths(user, { chatId }), []);
  const whole = await inside.put(`chat:${chatId}`, { path: 'cut.bin' }, body);
  assert.equal(whole.status, 201, 'the whole of it is no fault');
});
