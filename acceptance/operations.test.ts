import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { createChat, postChat, startDetached, submission } from './faults/conversation.ts';
import {
  addModels,
  type Caller,
  type Json,
  type Running,
  readEvents,
  scratchFolder,
  setUp,
  startProduct,
  startProgram,
  startProvider,
} from './product.ts';

/** Runs the steps of docs/operations.md for operators. */

const run = promisify(execFile);
const dist = process.env.HOMEPORT_DIST ?? join(import.meta.dirname, '../dist');
const newKey = 'the next encryption key of these tests';

let provider: Running;

before(async () => {
  provider = await startProvider();
});

async function stop(product: Running): Promise<void> {
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0, product.output());
}

/** Sends a message and reads the whole answer: needs the session, the history and the provider's key. */
async function ask(caller: Caller, chatId: string, id: string): Promise<string> {
  await caller.must('POST', '/api/chat/start', submission(chatId, id));
  const { text, done } = await readEvents(await postChat(caller, { chatId, messageId: id }));
  assert.ok(done);
  return text;
}

test('restores sessions, messages and keys from a copy of the stopped data folder', async () => {
  const dataDir = join(scratchFolder(), 'data');
  const first = await startProduct(dataDir);
  const caller = await setUp(first.url);
  await addModels(caller, provider.url, ['words-20']);
  const chatId = await createChat(caller);
  assert.notEqual(await ask(caller, chatId, 'before'), '');
  // An answer that is running when the service is stopped is in the backup too.
  const other = await createChat(caller);
  await startDetached(caller, other, 'last-words');
  await stop(first);

  const archive = join(dirname(dataDir), 'backup.tar');
  await run('tar', ['-C', dirname(dataDir), '-cpf', archive, basename(dataDir)]);
  const elsewhere = join(scratchFolder(), 'restored');
  mkdirSync(elsewhere);
  await run('tar', ['-C', elsewhere, '-xpf', archive]);

  // Data written after the backup is not in it.
  const second = await startProduct(dataDir);
  caller.url = second.url;
  const late = await createChat(caller);
  await stop(second);

  const restored = await startProduct(join(elsewhere, 'data'));
  caller.url = restored.url;
  const { chats } = await caller.must('GET', '/api/chats');
  assert.deepEqual(chats.map((chat: Json) => chat.id).sort(), [chatId, other].sort());
  assert.ok(!chats.some((chat: Json) => chat.id === late));
  const { messages } = await caller.must('GET', `/api/chats?id=${other}`);
  assert.equal(messages.length, 2);
  assert.notEqual(await ask(caller, chatId, 'after'), '');
  await stop(restored);
});

test('serves metrics for requests with the token', async () => {
  const product = await startProduct(join(scratchFolder(), 'data'), { METRICS_TOKEN: 'token-of-the-numbers' });
  const read = (token: string) => fetch(`${product.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal((await read('another')).status, 401);
  const answer = await read('token-of-the-numbers');
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /^homeport_http_request_duration_seconds_count\{.*route="\/api\/health".*\} \d/m);
  await stop(product);
});

test('stores files in a bucket', async () => {
  const s3 = await startProgram('server/test/fakes/s3-server.ts');
  const product = await startProduct(join(scratchFolder(), 'data'), {
    ARTIFACT_STORE: 's3://homeport-files/some/folder',
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  });
  const caller = await setUp(product.url);
  const chatId = await createChat(caller);
  // More than fits into one request of the store.
  const bytes = randomBytes(10 * 1024 * 1024);
  const form = new FormData();
  form.set('chatId', chatId);
  form.set('file', new Blob([bytes]), 'large.bin');
  const upload = await caller.fetch('/api/artifacts', { method: 'POST', body: form });
  const stored: Json = await upload.json();
  assert.equal(upload.status, 201, JSON.stringify(stored));
  const query = new URLSearchParams({ chatId, id: stored.artifact.id });
  const download = await caller.fetch(`/api/artifacts/download?${query}`);
  assert.ok(Buffer.from(await download.arrayBuffer()).equals(bytes));
  await caller.must('DELETE', `/api/artifacts?${query}`);
  await stop(product);
});

test('rotates the encryption key while the service runs', async () => {
  const dataDir = join(scratchFolder(), 'data');
  const first = await startProduct(dataDir);
  const caller = await setUp(first.url);
  await addModels(caller, provider.url, ['words-20']);
  const chatId = await createChat(caller);
  await stop(first);

  const oldKey: unknown = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')).SETTINGS_ENCRYPTION_KEY;
  const keys = { SETTINGS_ENCRYPTION_KEY: newKey, SETTINGS_ENCRYPTION_KEY_PREVIOUS: String(oldKey) };
  const both = await startProduct(dataDir, keys);
  caller.url = both.url;
  const { PATH } = process.env;
  const env = { PATH, DATA_DIR: dataDir, ...keys };
  const { stdout } = await run(process.execPath, [join(dist, 'server/admin.mjs'), 'rotate-keys'], { env });
  assert.equal(stdout, 'Credentials: 1 encrypted again, 0 already current, 0 unreadable.\n');
  assert.notEqual(await ask(caller, chatId, 'meanwhile'), '');
  await stop(both);

  const after = await startProduct(dataDir, { SETTINGS_ENCRYPTION_KEY: newKey });
  caller.url = after.url;
  assert.notEqual(await ask(caller, chatId, 'after'), '');
  await stop(after);
});

test('sends traces, also while it stops', async () => {
  const bodies: Buffer[] = [];
  const collector = createServer(async (request, response) => {
    for await (const part of request) bodies.push(part);
    response.writeHead(request.url === '/v1/traces' ? 200 : 404).end();
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const address = collector.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  try {
    const product = await startProduct(join(scratchFolder(), 'data'), { OTEL_EXPORTER_OTLP_ENDPOINT: url });
    assert.equal((await fetch(`${product.url}/api/setup`)).status, 200);
    await stop(product);
    const sent = Buffer.concat(bodies);
    for (const name of ['GET /api/setup', 'SELECT users']) assert.ok(sent.includes(name), product.output());
  } finally {
    collector.close();
    collector.closeAllConnections();
  }
});
