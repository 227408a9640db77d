import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  addModels,
  type Caller,
  embeddedPid,
  pause,
  type Running,
  readEvents,
  scratchFolder,
  setUp,
  signal,
  startProduct,
  startProvider,
} from '../product.ts';
import { chatDetail, createChat, postChat, submission, textOf } from './conversation.ts';
import { addPerson, openTerminal } from './people.ts';

/** The product on its own disk, which becomes full. */

const mebibyte = 1024 ** 2;
// Before its folder is removed.
process.on('exit', () => spawnSync('umount', ['-l', disk]));
const disk = join(scratchFolder(), 'disk');
const dataDir = join(disk, 'data');
const filler = join(disk, 'filler');
mkdirSync(disk);
const mounted = spawnSync('mount', ['-n', '-t', 'tmpfs', '-o', 'size=448m', 'homeport-test', disk], {
  encoding: 'utf8',
});
const skip = mounted.status === 0 ? false : `no file system can be mounted here (${mounted.stderr?.trim()})`;

const sandbox = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-user', '--unshare-pid', 'true']);
const skipSandbox = sandbox.status === 0 || process.env.REQUIRE_SANDBOX === '1' ? false : 'no sandbox can be made here';

let provider: Running;
let product: Running;
let ada: Caller;
let port: number;

before(async () => {
  if (skip !== false) return;
  provider = await startProvider();
  product = await startProduct(dataDir, { WORKSPACE_MODE: 'auto' });
  port = Number(new URL(product.url).port);
  ada = await setUp(product.url);
  await addModels(ada, provider.url, ['words-100@50']);
});
after(() => rmSync(filler, { force: true }));

async function isRunning(caller: Caller): Promise<boolean> {
  return (await caller.must('GET', '/api/workspace/status')).phase === 'running';
}

const free = (): number => {
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize;
};

/** Fills the disk until only this much is left. */
function fill(leftBytes: number): void {
  const chunk = Buffer.alloc(mebibyte, 1);
  if (!existsSync(filler)) writeFileSync(filler, '');
  try {
    while (free() > leftBytes) appendFileSync(filler, chunk.subarray(0, Math.min(chunk.length, free() - leftBytes)));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  }
}

async function upload(name: string, bytes: number): Promise<number> {
  const form = new FormData();
  form.set('chatId', await createChat(ada));
  form.set('file', new File([Buffer.alloc(bytes, 1)], name));
  const response = await ada.fetch('/api/artifacts', { method: 'POST', body: form, headers: { origin: ada.url } });
  await response.arrayBuffer();
  return response.status;
}

async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(50);
}

const send = (chatId: string, id: string) => ada.call('POST', '/api/chat/start', submission(chatId, id));

test('ends a workspace that fills the disk, while answers continue', {
  skip: skip || skipSandbox,
  timeout: 180_000,
}, async () => {
  const bob = await addPerson(ada, 1);
  await bob.must('POST', '/api/workspace/status');
  const terminal = await openTerminal(bob);
  const chatId = await createChat(ada);
  await send(chatId, 'meanwhile-nobody-waits');
  const answered = readEvents(await postChat(ada, { chatId, messageId: 'meanwhile-nobody-waits' }));
  terminal.send(Buffer.from('cat /dev/zero > fill\n'));
  await eventually(async () => !(await isRunning(bob)));
  assert.match((await bob.must('GET', '/api/workspace/status')).message, /nearly full/);
  terminal.close();
  assert.ok((await answered).done, 'an answer that ran meanwhile came to its end');

  // Deleting the file that filled the disk is enough to recover.
  await bob.must('DELETE', `/api/workspace/files?path=${encodeURIComponent('~/fill')}`);
  await eventually(async () => (await send(chatId, 'with-room')).status < 300);
  const { done } = await readEvents(await postChat(ada, { chatId, messageId: 'with-room' }));
  assert.ok(done);
  await eventually(async () => {
    const body = new FormData();
    body.set('file', new File(['text'], 'new'));
    const response = await bob.fetch('/api/workspace/files', { method: 'POST', body, headers: { origin: ada.url } });
    await response.arrayBuffer();
    return response.ok;
  });
  await bob.must('DELETE', '/api/workspace/status');
});

test('refuses uploads that fill the disk, while messages are still answered', { skip }, async () => {
  let status = 201;
  for (let index = 0; status === 201; index += 1) status = await upload(`part-${index}`, 16 * mebibyte + index);
  assert.equal(status, 507);
  assert.ok(free() > 48 * mebibyte, `${free()} bytes are left for the database`);
  const chatId = await createChat(ada);
  assert.equal((await send(chatId, 'as-ever')).status, 201);
  const response = await postChat(ada, { chatId, messageId: 'as-ever' });
  const { done } = await readEvents(response);
  assert.ok(done);
});

test('completes an answer that is running when the disk becomes full', { skip }, async () => {
  const chatId = await createChat(ada);
  await send(chatId, 'meanwhile');
  let isFilled = false;
  const { done } = await readEvents(await postChat(ada, { chatId, messageId: 'meanwhile' }), () => {
    if (!isFilled) fill(0);
    isFilled = true;
    return false;
  });
  assert.ok(done, 'the stream ended by itself');
  await eventually(async () => !existsSync(join(dataDir, 'ballast')));
  const [, answer] = (await chatDetail(ada, chatId)).messages;
  assert.notEqual(answer.status, 'streaming');
  assert.notEqual(textOf(answer), '');
  const refused = await send(await createChat(ada).catch(() => chatId), 'no-room');
  assert.deepEqual([refused.status, refused.body.error.code], [507, 'storage_full']);
});

test('serves reads after a start on a full disk, or reports why it cannot start', {
  skip,
  timeout: 180_000,
}, async () => {
  const database = embeddedPid(dataDir) ?? 0;
  product.kill('SIGKILL');
  await product.exited;
  signal(database, 'SIGKILL');
  await eventually(() => !signal(database, 0));
  fill(24 * mebibyte);
  product = await startProduct(dataDir, { WORKSPACE_MODE: 'auto' }, port);
  const { chats } = await ada.must('GET', '/api/chats');
  assert.ok(chats.length > 1);
  assert.equal((await send(chats[0].id, 'no-room-either')).status, 507);
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);

  fill(0);
  await assert.rejects(startProduct(dataDir, {}, port), (error: Error) => {
    const said = error.message.split('\n').filter((line) => /Homeport cannot start/.test(line));
    assert.match(said[0] ?? error.message, /The disk of DATA_DIR \(.*\) is full\. Free some space on it/);
    assert.doesNotMatch(error.message, /starting up/);
    return true;
  });
});

test('starts with free space again, accepts messages and files, and restores its reserve', {
  skip,
  timeout: 180_000,
}, async () => {
  rmSync(filler);
  rmSync(join(dataDir, 'artifacts'), { recursive: true });
  product = await startProduct(dataDir, { WORKSPACE_MODE: 'auto' }, port);
  const chatId = await createChat(ada);
  assert.equal((await send(chatId, 'again')).status, 201);
  const { done } = await readEvents(await postChat(ada, { chatId, messageId: 'again' }));
  assert.ok(done);
  assert.equal(await upload('again', 1_000), 201);
  await eventually(() => existsSync(join(dataDir, 'ballast')));
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);
});
