import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ToolPreset, ToolRule } from '@homeport/contracts/chat/tool-rules';
import { judgeTool } from '../../../src/chat/tools/rules/tool-rules.ts';
import type { SignedIn } from '../../app.ts';
import { type AgentChat, agentApp, bash, type Call, isCall } from '../../assistants/agent-makers.ts';
import { chatDetail, partsOf, postChat, readStream, type StreamedFrame, submit } from '../chat-harness.ts';

const agents = agentApp();

const write = (path: string): Call => ({ name: 'write_file', input: { path, content: 'x' } });
const read = (path: string): Call => ({ name: 'read_file', input: { path } });

const setRules = async (user: SignedIn, preset: ToolPreset, rules: ToolRule[] = []) =>
  assert.equal((await user.call('PUT /api/workspace/rules', { preset, rules })).status, 200);
const homeOf = ({ user }: AgentChat) => agents.homeOf(user);

/**
 * One response that makes these calls in parallel; `word` answers every question. Resolves with the calls, and the
 * questions.
 */
async function run(chat: AgentChat, calls: Call[], word: object | undefined = { approved: true }) {
  agents.script(chat.model, calls);
  const messageId = await submit(chat.user, chat.chatId, 'go');
  const asked: string[] = [];
  const statuses: Promise<number>[] = [];
  const onFrame = ({ frame }: StreamedFrame): boolean => {
    if (frame.type !== 'tool-approval-request') return false;
    asked.push(frame.toolCallId);
    const { approvalId } = frame;
    const say = (body: object) => chat.user.call(`POST /api/chat/${chat.chatId}/approvals`, { approvalId, ...body });
    const decided = say({ approved: true, ...word }).then(async ({ status }) => {
      if (status !== 200) await say({ approved: true });
      return status;
    });
    statuses.push(decided);
    return false;
  };
  const streamed = await readStream(await postChat(chat.user, { chatId: chat.chatId, messageId }), onFrame);
  const tools = partsOf(streamed.frames).filter(isCall);
  const states = tools.map(({ toolCallId, state }) => (asked.includes(toolCallId) ? `asked, ${state}` : state));
  return { tools, states, statuses: await Promise.all(statuses) };
}

test('stores rules, and a conversation has its own', async () => {
  const user = await agents.app.signIn();
  const rules = async () => (await user.call('GET /api/workspace/rules')).body;
  assert.deepEqual(await rules(), { preset: 'auto', rules: [], programModels: true });
  const mine = { preset: 'ask', rules: [{ tool: 'bash', pattern: 'git push *', policy: 'deny' }] };
  assert.deepEqual((await user.call('PUT /api/workspace/rules', mine)).body, { ...mine, programModels: true });
  assert.deepEqual(await rules(), { ...mine, programModels: true });
  const somebody = await agents.app.signIn();
  assert.deepEqual((await somebody.call('GET /api/workspace/rules')).body, {
    preset: 'auto',
    rules: [],
    programModels: true,
  });
  const toolRules = { preset: 'read-only', rules: [{ tool: 'write_file', policy: 'allow' }] };
  const { body } = await user.call('POST /api/chats', { toolRules });
  assert.deepEqual(body.chat.toolRules, toolRules);
  const changed = await user.call('PATCH /api/chats', { id: body.chat.id, toolRules: null });
  assert.equal(changed.body.chat.toolRules, null);
  const { rows } = await agents.app.database.database.pool.query(
    'select details from audit_events where target_id = $1',
    [body.chat.id],
  );
  assert.deepEqual(rows, [{ details: { changed: ['toolRules'] } }]);
  const long = { tool: 'bash', policy: 'ask', pattern: 'x'.repeat(2000) };
  for (const wrong of [
    { preset: 'full', rules: [] },
    { preset: 'auto', rules: [{ tool: 'read_file', pattern: 'x', policy: 'ask' }] },
    { preset: 'auto', rules: [{ tool: 'bash', pattern: ' ', policy: 'ask' }] },
    { preset: 'auto', rules: Array.from({ length: 20 }, () => long) },
    { preset: 'auto' },
  ]) {
    assert.equal((await user.call('PUT /api/workspace/rules', wrong)).status, 400);
    assert.equal((await user.call('PATCH /api/chats', { id: body.chat.id, toolRules: wrong })).status, 400);
  }
  assert.deepEqual(await rules(), { ...mine, programModels: true });
});

test('the preset auto runs everything that no rule stops', async () => {
  const chat = await agents.startChat();
  await setRules(chat.user, 'auto', [
    { tool: 'bash', pattern: 'rm *', policy: 'ask' },
    { tool: 'bash', pattern: 'git *', policy: 'deny' },
  ]);
  const calls = [
    bash('echo a > a && cat a'),
    write('b'),
    bash('cd . && rm a'),
    bash('true; git push'),
    { name: 'list_files', input: {} },
  ];
  const { states, tools, statuses } = await run(chat, calls, { approved: false, reason: 'Keep it' });
  const done = 'output-available';
  assert.deepEqual(states, [done, done, 'asked, output-denied', 'output-error', done]);
  assert.deepEqual(statuses, [200]);
  assert.match(tools[3]?.errorText ?? '', /rules do not allow this \(bash: git \*\)/);
  assert.equal(readFileSync(join(await homeOf(chat), 'a'), 'utf8'), 'a\n');
});

test('the preset ask allows reading and asks before anything else', async () => {
  const chat = await agents.startChat();
  await setRules(chat.user, 'ask');
  const calls = [
    bash('ls ~ | head -n 3'),
    bash('echo x > made'),
    write('written'),
    read('none'),
    bash('cat `echo x`; $X'),
  ];
  const { states } = await run(chat, calls, { approved: true });
  assert.deepEqual(states, [
    'output-available',
    ...['asked, output-available', 'asked, output-available', 'output-error', 'asked, output-available'],
  ]);
  assert.ok(existsSync(join(await homeOf(chat), 'made')) && existsSync(join(await homeOf(chat), 'written')));
});

test('the preset read only writes nothing, whatever else is allowed', async () => {
  const chat = await agents.startChat();
  await setRules(chat.user, 'auto', [{ tool: 'bash', policy: 'allow' }]);
  const toolRules = { preset: 'read-only', rules: [{ tool: 'write_file', policy: 'allow' }] };
  await chat.user.call('PATCH /api/chats', { id: chat.chatId, toolRules });
  const calls = [bash('pwd'), bash('echo x > made'), write('written'), bash('pwd $(touch made)'), bash('touch made')];
  const { states, tools } = await run(chat, calls);
  const no = 'output-error';
  assert.deepEqual(states, ['output-available', no, no, no, no]);
  assert.match(tools[2]?.errorText ?? '', /read-only/);
  assert.ok(!existsSync(join(await homeOf(chat), 'made')) && !existsSync(join(await homeOf(chat), 'written')));
});

const evilList = bash("mkdir evil && printf '#!/bin/sh\\ntouch ~/made\\n' > evil/ls && chmod 755 evil/ls");
/** Their text looks like reading, and they try to write. */
const disguised = [
  "sed -n 1p -e '1e touch made' /etc/passwd",
  "printf -v 'a[$(touch made)]' 1",
  "test -v 'a[$(touch made)]'",
  'x="a[\\$(touch made)]"; echo $((x))',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what the shell evaluates
  'x="a[\\$(touch made)]"; y=abc; echo "${y:x}"',
  'uniq -- /etc/passwd made',
  'PATH=./evil; ls',
];

for (const preset of ['ask', 'read-only'] as const) {
  test(`${preset}: an unapproved command can write nothing, however its text is judged`, async () => {
    const chat = await agents.startChat();
    await run(chat, [evilList]);
    await setRules(chat.user, preset);
    for (const command of disguised) {
      await run(chat, [bash(command)], { approved: false });
      assert.ok(!existsSync(join(await homeOf(chat), 'made')), command);
    }
    const { states, tools } = await run(chat, [
      bash('env | cut -d= -f1 | grep -c HOMEPORT_; ls; cat < /dev/tcp/127.0.0.1/9'),
    ]);
    assert.doesNotMatch(JSON.stringify([states, tools]), /HOMEPORT_TOKEN_FILE/);
  });
}

test('reports a command that failed because it ran read-only, and runs it once the user approves', async () => {
  const chat = await agents.startChat();
  await run(chat, [evilList]);
  await setRules(chat.user, 'ask');
  const command = 'PATH=./evil:$PATH; ls; cat made';
  const first = await run(chat, [bash(command)]);
  assert.deepEqual(first.states, ['output-available']);
  assert.match(JSON.stringify(first.tools[0]?.output), /ran read-only: it could not write files.*askFirst: true/);
  const second = await run(chat, [bash(command, { askFirst: true })]);
  assert.deepEqual(second.states, ['asked, output-available']);
  assert.doesNotMatch(JSON.stringify(second.tools[0]?.output), /read-only/);
  assert.ok(existsSync(join(await homeOf(chat), 'made')));
});

test('asks about every command when commands cannot be kept from writing', async () => {
  const shell = (can: boolean) => ({ name: 'bash', effect: 'command' as const, canReadOnly: async () => can });
  const judged = async (preset: ToolPreset, can: boolean, command = 'ls') =>
    (await judgeTool({ preset, conversation: [], person: [] }, shell(can), { command })).policy;
  assert.deepEqual([await judged('ask', true), await judged('ask', false)], ['allow', 'ask']);
  assert.deepEqual([await judged('read-only', true), await judged('read-only', false)], ['allow', 'ask']);
  assert.deepEqual([await judged('auto', false), await judged('read-only', false, 'touch a')], ['allow', 'deny']);
});

test('"always allow" stores this exact command, for the conversation or for the user', async () => {
  const chat = await agents.startChat();
  await setRules(chat.user, 'auto', [{ tool: 'bash', pattern: 'touch *', policy: 'ask' }]);
  const first = await run(chat, [bash('touch a* b')], { approved: true, remember: 'conversation' });
  assert.deepEqual(first.states, ['asked, output-available']);
  const kept = { tool: 'bash', pattern: 'touch a\\* b', policy: 'allow' };
  assert.deepEqual((await chatDetail(chat.user, chat.chatId)).chat.toolRules, { preset: 'auto', rules: [kept] });
  const again = await run(chat, [bash('touch a* b'), bash('touch ab b')]);
  assert.deepEqual(again.states, ['output-available', 'asked, output-available']);

  const elsewhere = await agents.startChat(chat.user);
  const asked = await run(elsewhere, [bash('touch a* b')], { approved: true, remember: 'person' });
  assert.deepEqual(asked.states, ['asked, output-available']);
  const rules = (await chat.user.call('GET /api/workspace/rules')).body;
  assert.deepEqual(rules.rules[0], kept);
  assert.equal(rules.rules.length, 2);
  assert.deepEqual((await run(await agents.startChat(chat.user), [bash('touch a* b')])).states, ['output-available']);

  const rule = { tool: 'bash', policy: 'ask' } as const;
  await setRules(chat.user, 'auto', [rule]);
  const looking = { name: 'bash', input: { processId: 'none' } };
  const looked = await run(await agents.startChat(chat.user), [looking], { remember: 'person' });
  assert.deepEqual([looked.statuses, looked.states], [[400], ['asked, output-error']], 'a look allows no command');
  assert.deepEqual((await chat.user.call('GET /api/workspace/rules')).body.rules, [rule]);

  const { rows } = await agents.app.database.database.pool.query(
    "select action, target_id, details from audit_events where actor_id = $1 and action ~ 'rules|conversation' order by id",
    [chat.user.id],
  );
  assert.deepEqual(rows, [
    {
      action: 'tool_rules.updated',
      target_id: chat.user.id,
      details: { preset: 'auto', rules: 1, programModels: true },
    },
    { action: 'conversation.updated', target_id: chat.chatId, details: { changed: ['toolRules'] } },
    { action: 'tool_rules.updated', target_id: chat.user.id, details: { tool: 'bash', policy: 'allow' } },
    {
      action: 'tool_rules.updated',
      target_id: chat.user.id,
      details: { preset: 'auto', rules: 1, programModels: true },
    },
  ]);

  const long = await run(chat, [bash(`touch ${'x '.repeat(1500)}`)], { remember: 'person' });
  assert.deepEqual([long.statuses, long.states], [[400], ['asked, output-available']]);
});
