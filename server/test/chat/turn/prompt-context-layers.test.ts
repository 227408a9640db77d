import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/platform/clock.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeMcp, startFakeMcp } from '../../fakes/mcp-server.ts';
import { ProcessRuntime } from '../../fakes/process-runtime.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { addModels, answer, chatDetail, submit } from '../chat-harness.ts';

/**
 * The complete system message as the provider gets it: in both editions, with and without a workspace and MCP tools.
 */

let provider: FakeProvider;
let mcp: FakeMcp;
before(async () => {
  [provider, mcp] = await Promise.all([startFakeProvider(), startFakeMcp()]);
});
after(() => Promise.all([provider.close(), mcp.close()]));

const written = `House rules of {{mood}}.

# The project "Moon"

Metric, Friday, 2 January 2026.

# From the person you are talking to

Call me Ada.

# For this conversation

Rhyme in German.`;
const about = `- The person's name is Ada.
- They prefer answers in German.
- Their time zone is Europe/Berlin.
- Today is Friday, 2 January 2026.`;
const workspace =
  '- You have a workspace: a computer that belongs to the person, with a shell and files. Its home folder is kept between ' +
  'conversations. Work in the home folder. Hand over finished files with publish_artifact: the person does not see files in the ' +
  'conversation that exist only in the workspace.\n';
const workspaceTools = 'bash, read_file, write_file, edit_file, list_files, search_files, publish_artifact, preview';

for (const edition of ['community', 'managed'] as const) {
  for (const hasWorkspace of [false, true]) {
    for (const hasMcp of [false, true]) {
      const others = [...(hasWorkspace ? [workspaceTools] : []), ...(hasMcp ? ['mcp__Fake__echo'] : [])];
      const names = [...others, ...(others.length === 0 ? [] : ['plan', 'ask'])].join(', ');
      const tools = names === '' ? '- You have no tools.\n' : `- Your tools: ${names}.\n`;
      const expected = `${written}\n\n# Now\n\n${hasWorkspace ? workspace : ''}${tools}${about}`;
      const what = `${edition}, ${hasWorkspace ? 'with' : 'without'} a workspace, ${hasMcp ? 'with' : 'without'} MCP`;
      test(`sends all layers, ${what}`, () => checkSystem({ edition, hasWorkspace, hasMcp }, expected));
    }
  }
}

type Scene = { edition: 'community' | 'managed'; hasWorkspace: boolean; hasMcp: boolean };

async function checkSystem({ edition, hasWorkspace, hasMcp }: Scene, expected: string): Promise<void> {
  const runtime = hasWorkspace ? new ProcessRuntime() : undefined;
  const clock = { ...systemClock, now: () => Date.parse('2026-01-01T23:30:00Z') };
  const app: TestApp = await startTestApp({
    config: { edition },
    clock,
    ...(runtime === undefined ? {} : { workspaceRuntime: runtime }),
  });
  try {
    const admin = await app.signIn({ role: 'admin' });
    const user = await app.signIn({ name: 'Ada' });
    await addModels(edition === 'managed' ? admin : user, provider, ['echo']);
    if (hasMcp) await trustServer(user);
    const projectId = (await user.call('POST /api/projects', { name: 'Moon' })).body.project.id;
    const [chatId, bareId] = await Promise.all(
      [projectId, null].map(async (id) => (await user.call('POST /api/chats', { projectId: id })).body.chat.id),
    );
    await change(admin, 'POST /api/admin/config', { instructions: 'House rules of {{mood}}.' });
    await change(user, 'PATCH /api/projects', { id: projectId, instructions: 'Metric, {{current_date}}.' });
    const aboutMe = { name: true, language: 'de', timeZone: 'Europe/Berlin' };
    await change(user, 'PATCH /api/me/personalization', { instructions: 'Call me {{user_name}}.', aboutMe });
    await change(user, 'PATCH /api/chats', { id: chatId, instructions: 'Rhyme in {{language}}.' });
    assert.equal(await systemOf(user, chatId), expected);
    await change(user, 'PATCH /api/me/personalization', { instructions: null });
    const now = expected.slice(expected.indexOf('\n\n# Now'));
    assert.equal(await systemOf(user, bareId), `House rules of {{mood}}.${now}`);
  } finally {
    await app.stop();
    await runtime?.destroy();
  }
}

async function systemOf(user: SignedIn, chatId: string): Promise<string> {
  await answer(user, chatId, await submit(user, chatId, 'Hello'));
  assert.equal((await chatDetail(user, chatId)).messages[1].status, 'complete');
  const { messages } = provider.requests.at(-1)?.body ?? {};
  assert.deepEqual(
    messages?.map(({ role }: Json) => role),
    ['system', 'user'],
  );
  // The workspace's part depends on the machine: workspace-notes.test.ts.
  return String(messages?.[0]?.content).replace(/\n\n## The workspace\n[\s\S]*$/, '');
}

async function change(user: SignedIn, route: string, body: object): Promise<void> {
  const changed = await user.call(route, body);
  assert.equal(changed.status, 200, changed.text);
}

async function trustServer(user: SignedIn): Promise<void> {
  const { server } = (await user.call('POST /api/mcp', { name: 'Fake', url: mcp.url })).body;
  await change(user, 'POST /api/mcp/trust', { id: server.id, fingerprint: server.fingerprint });
}
