import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../app.ts';
import { addModels, createChat, postChat, readStream, submit } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { sendRaw } from '../raw-request.ts';

let app: TestApp;
let provider: FakeProvider;
let webFolder: string;
before(async () => {
  webFolder = await mkdtemp(join(tmpdir(), 'homeport-head-'));
  await writeFile(join(webFolder, 'index.html'), '<!doctype html><title>Page</title>');
  provider = await startFakeProvider();
  app = await startTestApp({ webFolder });
});
after(async () => {
  await app.stop();
  await provider.close();
  await rm(webFolder, { recursive: true });
});

/** HEAD, and then a GET on the same connection: it is answered only when HEAD has been answered completely. */
async function headThenHealth(path: string, cookie = ''): Promise<string> {
  const { head, body } = await sendRaw(
    app.url,
    `HEAD ${path} HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\nGET /api/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
  );
  assert.match(body, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(body, /\{"ok":true\}$/);
  return head;
}

test('HEAD of a page has the headers of GET and no body', async () => {
  const head = await headThenHealth('/');
  assert.match(head, /^HTTP\/1\.1 200 /);
  assert.match(head, /content-type: text\/html/i);
  assert.match(head, /content-security-policy: /i);
});

test('HEAD of an endpoint has the headers of GET and no body', async () => {
  const user = await app.signIn();
  assert.match(await headThenHealth('/api/me', user.cookie), /^HTTP\/1\.1 200 /);
  assert.match(await headThenHealth('/api/me'), /^HTTP\/1\.1 401 /);
});

test('HEAD of a running stream does not follow it', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-5006@50']);
  const chatId = await createChat(user);
  const streaming = readStream(await postChat(user, { chatId, messageId: await submit(user, chatId, 'go') }));
  const head = await headThenHealth(`/api/chat/${chatId}/stream`, user.cookie);
  assert.match(head, /^HTTP\/1\.1 200 /);
  assert.match(head, /content-type: text\/event-stream/i);
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await streaming;
});
