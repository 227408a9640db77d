import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { type AgentChat, agentApp, isCall } from '../../assistants/agent-makers.ts';
import { echoTool, type FakeMcp, startFakeMcp } from '../../fakes/mcp-server.ts';
import { answer, partsOf, submit } from '../chat-harness.ts';

const agents = agentApp();
const place = /\n\[omitted (\d+) bytes; full log in ~\/(\.workspace\/exec\/[0-9a-f]{16}\.log)\]\n/;
let fake: FakeMcp;
let chat: AgentChat;
before(async () => {
  fake = await startFakeMcp([echoTool]);
});
beforeEach(async () => {
  chat = await agents.startChat();
  const { body } = await chat.user.call('POST /api/mcp', { name: 'Fake', url: fake.url });
  const { id, fingerprint } = body.server;
  await chat.user.call('POST /api/mcp/trust', { id, fingerprint });
});
after(() => fake.close());

/** The result of a call of the server's tool, in a conversation whose model can use a workspace. */
async function result(): Promise<DynamicToolPart> {
  agents.script(chat.model, [{ name: 'mcp__Fake__echo', input: { text: 'x' } }]);
  const { frames } = await answer(chat.user, chat.chatId, await submit(chat.user, chat.chatId, 'go'));
  const call = partsOf(frames).find(isCall);
  assert.ok(call);
  return call;
}

const homeFile = async (path = ''): Promise<string> => readFileSync(join(await agents.homeOf(chat.user), path), 'utf8');

test('keeps a long result completely in the workspace, and returns its ends with the path', async () => {
  const text = Array.from({ length: 40_000 }, (_, index) => `line ${index} ü`).join('\n');
  fake.answer = () => ({ content: [{ type: 'text', text }] });
  const output = String((await result()).output);
  const [note, omitted, path] = place.exec(output) ?? [];
  assert.ok(note);
  assert.ok(Buffer.byteLength(output) < 33 * 1024);
  assert.match(output, /^line 0 ü\nline 1 ü\n/);
  assert.match(output, /\nline 39999 ü$/);
  assert.equal(await homeFile(path), text);
  const given = Buffer.byteLength(output.replace(note, ''));
  assert.equal(given + Number(omitted), Buffer.byteLength(text));
});

test('keeps long structured results as JSON in lines', async () => {
  const structuredContent = { rows: Array.from({ length: 5_000 }, (_, id) => ({ id, name: `row ${id}` })) };
  fake.answer = () => ({ content: [], structuredContent });
  const [, , path] = place.exec(String((await result()).output)) ?? [];
  const kept = await homeFile(path);
  assert.deepEqual(JSON.parse(kept), structuredContent);
  assert.ok(kept.split('\n').length > 5_000);
});

test('leaves short results unchanged', async () => {
  const text = 'x'.repeat(32 * 1024);
  fake.answer = () => ({ content: [{ type: 'text', text }] });
  assert.equal((await result()).output, text);
});

test("returns a result as before if it can't be kept", async () => {
  const home = await agents.homeOf(chat.user);
  mkdirSync(join(home, '.workspace'), { recursive: true });
  rmSync(join(home, '.workspace/exec'), { recursive: true, force: true });
  writeFileSync(join(home, '.workspace/exec'), 'a file where the folder would be');
  const text = 'y'.repeat(100_000);
  fake.answer = () => ({ content: [{ type: 'text', text }] });
  assert.equal((await result()).output, text);
});
