import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { echoTool, type FakeMcp, type FakeTool, startFakeMcp } from '../fakes/mcp-server.ts';

let app: TestApp;
let user: SignedIn;
let fake: FakeMcp;
before(async () => {
  app = await startTestApp();
  user = await app.signIn();
  fake = await startFakeMcp();
});
after(async () => {
  await fake.close();
  await app.stop();
});

const tool = (name: string, annotations?: FakeTool['annotations']): FakeTool => ({
  ...echoTool,
  name,
  ...(annotations && { annotations }),
});
const sends = tool('send_invitations', { destructiveHint: false });

async function create(tools: FakeTool[], fields: object = {}): Promise<string> {
  fake.tools = tools;
  const { status, body } = await user.call('POST /api/mcp', { name: 'Calendar', url: fake.url, ...fields });
  assert.equal(status, 201);
  return body.server.id;
}

async function policiesAfterTrust(id: string) {
  const { status, body } = await user.call('POST /api/mcp/trust', { id });
  assert.equal(status, 200);
  return body.server.toolPolicies;
}

test('a tool that acts outside its server starts as "ask", though the server calls it harmless', async () => {
  const reads = tool('list_events', { readOnlyHint: true, openWorldHint: true });
  const inside = tool('note', { openWorldHint: false });
  const erases = tool('erase', { openWorldHint: false, destructiveHint: true });
  const id = await create([sends, reads, inside, erases, tool('plain')]);
  assert.deepEqual(await policiesAfterTrust(id), { send_invitations: 'ask', erase: 'ask' });
});

test('keeps the policies that a person has set, and those of tools that were trusted before', async () => {
  const id = await create([sends, tool('post', {})], { toolPolicies: { send_invitations: 'deny' } });
  assert.deepEqual(await policiesAfterTrust(id), { send_invitations: 'deny' });
  // As for servers that were trusted before tools could start as "ask".
  await user.call('PATCH /api/mcp', { id, toolPolicies: {} });
  const changed = { ...sends, description: 'Sends even more' };
  fake.tools = [changed, tool('cancel_event', { openWorldHint: true })];
  assert.deepEqual(await policiesAfterTrust(id), { cancel_event: 'ask' });
});

test('asks for a trusted tool that no longer only reads', async () => {
  const id = await create([tool('sync', { readOnlyHint: true })]);
  assert.deepEqual(await policiesAfterTrust(id), {});
  fake.tools = [tool('sync', { readOnlyHint: false })];
  assert.deepEqual(await policiesAfterTrust(id), { sync: 'ask' });
});
