import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from './app.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

const given = ' Two\r\nlines \u202eturned\u0007 ';
const kept = 'Two lines turned';

test('keeps names and titles as one line without control or direction characters', async () => {
  const admin = await app.signIn({ role: 'admin' });
  const provider = (await admin.call('POST /api/providers', { name: given, baseUrl: 'http://127.0.0.1:9/v1' })).body
    .provider;
  const model = {
    providerId: provider.id,
    providerModelId: 'm',
    displayName: given,
    contextWindow: 1000,
    maxOutputTokens: 100,
    tier: 1,
  };
  const chat = (await admin.call('POST /api/chats', { title: given })).body.chat;
  const project = (await admin.call('POST /api/projects', { name: given })).body.project;
  const user = await admin.call('POST /api/admin/users', { name: given, email: 'ada@example.org' });
  const server = await admin.call('POST /api/mcp', { name: given, url: 'http://127.0.0.1:9/mcp' });
  const names = {
    provider: provider.name,
    model: (await admin.call('POST /api/models', model)).body.model.displayName,
    chat: chat.title,
    renamedChat: (await admin.call('PATCH /api/chats', { id: chat.id, title: `Re${given}` })).body.chat.title,
    project: project.name,
    user: user.body.user.name,
    me: (await admin.call('PATCH /api/me', { name: given })).body.user.name,
    server: server.body.server?.name,
  };
  assert.deepEqual(names, {
    provider: kept,
    model: kept,
    chat: kept,
    renamedChat: `Re ${kept}`,
    project: kept,
    user: kept,
    me: kept,
    server: kept,
  });
  for (const title of ['\u202e', '\n', '\u0000']) {
    assert.equal((await admin.call('PATCH /api/chats', { id: chat.id, title })).status, 400, JSON.stringify(title));
  }
});
