import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ChangesSweep } from '../../src/chat/tools/workspace/changes-sweep.ts';
import { listTurns } from '../../src/workspaces/changes.ts';
import { type AgentChat, agentApp, bash, type Call } from '../assistants/agent-makers.ts';
import { answer, submit } from './chat-harness.ts';

const agents = agentApp();

/** One response in which the model makes these calls one after the other; its id. */
async function turnOf({ user, chatId, model }: AgentChat, calls: Call[]): Promise<string> {
  agents.script(model, ...calls.map((call) => [call]));
  const { frames } = await answer(user, chatId, await submit(user, chatId, 'go'));
  const start = frames.map(({ frame }) => frame).find((frame) => frame.type === 'start');
  assert.ok(start?.type === 'start' && start.messageId !== undefined);
  return start.messageId;
}

test('lists, shows, undoes and redoes the file changes of a response, and asks before overwriting newer ones', async () => {
  const chat = await agents.startChat();
  const { user, chatId } = chat;
  const home = await agents.homeOf(user);
  const messageId = await turnOf(chat, [
    { name: 'write_file', input: { path: 'notes.txt', content: 'one\n' } },
    { name: 'edit_file', input: { path: 'notes.txt', oldText: 'one', newText: 'two' } },
    bash('mkdir site && echo hi > site/a.html'),
  ]);
  const query = { chatId, messageId };
  const listed = await user.call('GET /api/chats/changes', undefined, { query });
  assert.equal(listed.status, 200);
  assert.deepEqual(
    listed.body.files.map(({ path, change, state }: Record<string, unknown>) => [path, change, state]),
    [
      ['~/notes.txt', 'added', 'applied'],
      ['~/site/a.html', 'added', 'applied'],
    ],
  );
  const shown = await user.fetch(
    `/api/chats/changes/file?chatId=${chatId}&messageId=${messageId}&path=notes.txt&side=after`,
  );
  assert.equal(await shown.text(), 'two\n');
  assert.match(shown.headers.get('content-disposition') ?? '', /^attachment/);

  const undone = await user.call('POST /api/chats/changes/undo', { chatId, messageId, paths: ['~/site'] });
  assert.equal(undone.status, 200);
  assert.deepEqual([existsSync(join(home, 'site')), existsSync(join(home, 'notes.txt'))], [false, true]);
  const redone = await user.call('POST /api/chats/changes/redo', { chatId, messageId });
  assert.equal(redone.body.files[1].state, 'applied');

  writeFileSync(join(home, 'notes.txt'), 'mine\n');
  const refused = await user.call('POST /api/chats/changes/undo', { chatId, messageId });
  assert.equal(refused.status, 409);
  assert.deepEqual(
    [refused.body.error.code, refused.body.error.details],
    ['files_changed', { paths: ['~/notes.txt'] }],
  );
  assert.equal(readFileSync(join(home, 'notes.txt'), 'utf8'), 'mine\n');
  const forced = await user.call('POST /api/chats/changes/undo', { chatId, messageId, force: true });
  assert.deepEqual([forced.status, existsSync(join(home, 'notes.txt'))], [200, false]);
  const strange = await user.call('POST /api/chats/changes/undo', { chatId, messageId, paths: ['other.txt'] });
  assert.equal(strange.status, 404);
  const outside = await user.call('POST /api/chats/changes/undo', { chatId, messageId, paths: ['/etc/passwd'] });
  assert.equal(outside.body.error.code, 'invalid_path');
});

test('a response without files has no changes and starts no workspace, and changes of deleted messages are deleted', async () => {
  const chat = await agents.startChat();
  const { user, chatId } = chat;
  const messageId = await turnOf(chat, []);
  const query = { chatId, messageId };
  assert.deepEqual((await user.call('GET /api/chats/changes', undefined, { query })).body.files, []);
  assert.deepEqual((await user.call('POST /api/chats/changes/undo', query)).status, 200);

  const first = await turnOf(chat, [bash('echo x > a.txt')]);
  await user.call('DELETE /api/chats', undefined, { query: { id: chatId } });
  const { deps } = agents.app.service;
  const hold = await deps.workspaces.hold(user.id, 'turn');
  assert.deepEqual(await listTurns(hold.daemon, hold.signal), [first]);
  await new ChangesSweep(deps).sweep(user.id, hold.daemon, hold.signal);
  assert.deepEqual(await listTurns(hold.daemon, hold.signal), []);
  await hold.release();
});
