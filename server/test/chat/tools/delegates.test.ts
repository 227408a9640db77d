import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { until } from '../../../../contracts/test/until.ts';
import { type AgentChat, agentApp, type Call, callSteps, isCall } from '../../assistants/agent-makers.ts';
import { type FakeChatBody, finish, say } from '../../fakes/provider/provider-scripts.ts';
import { answer, chatDetail, postChat, readStream, submit } from '../chat-harness.ts';

const agents = agentApp();

type Messages = NonNullable<FakeChatBody['messages']>;

/** `turn` and `delegate` return each answer, given the messages so far; a text ends it. */
function script(
  { model }: AgentChat,
  turn: (messages: Messages) => Call[] | string,
  delegate: (task: string, messages: Messages) => Call[] | string,
): void {
  agents.provider.script(model, (call) => {
    const messages = call.body.messages ?? [];
    const first = messages.find(({ role }) => role === 'user');
    const isDelegate = String(messages[0]?.content).includes('You work on one task for another model');
    const play = isDelegate ? delegate(String(first?.content), messages) : turn(messages);
    const steps = typeof play === 'string' ? say(play) : callSteps(play, (index) => `call_${index}`);
    return { steps: [...steps, ...finish(call, 5, typeof play === 'string' ? 'stop' : 'tool_calls')] };
  });
}

const results = (messages: Messages): string[] =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));

async function run(chat: AgentChat) {
  const messageId = await submit(chat.user, chat.chatId, 'go');
  await answer(chat.user, chat.chatId, messageId);
  const message = (await chatDetail(chat.user, chat.chatId)).messages.at(-1);
  return { message, tools: message.parts.filter(isCall) };
}

const delegate = (task: string, more: object = {}): Call => ({ name: 'delegate', input: { task, ...more } });

test('a delegate works in the same workspace, and its turn reads only its last answer', async () => {
  const chat = await agents.startChat();
  const offered: string[][] = [];
  script(
    chat,
    (messages) =>
      results(messages).length > 0 ? 'done' : [delegate('write a'), delegate('write b', { tools: ['bash'] })],
    (task, messages) => {
      const names = agents.provider.requests.at(-1)?.body.tools?.map((tool) => String(tool.function?.name)) ?? [];
      offered.push(names);
      const name = task.slice(-1);
      if (results(messages).length === 0)
        return [{ name: 'bash', input: { command: `echo ${name} >> both; cat both` } }];
      return `${'secret work '.repeat(5_000)}${name}`;
    },
  );
  const { message, tools } = await run(chat);
  const sent = agents.provider.requests.findLast(({ body }) => body.model === chat.model)?.body.messages ?? [];
  for (const result of results(sent)) {
    assert.equal(result.length, 30_000);
    assert.match(result, /^secret work .*\[Cut: 60001 characters\]$/s);
  }
  assert.deepEqual(
    tools.map(({ output }: DynamicToolPart) => output instanceof Object && 'steps' in output && output.steps),
    ['a', 'b'].map((name) => [{ tool: 'bash', subject: `echo ${name} >> both; cat both`, state: 'done' }]),
  );
  const home = await agents.homeOf(chat.user);
  assert.deepEqual(readFileSync(join(home, 'both'), 'utf8').trim().split('\n').sort(), ['a', 'b']);
  assert.ok(offered.every((names) => !names.includes('delegate')));
  assert.ok(offered.some((names) => names.length === 1 && names[0] === 'bash'));
  // Two questions of the turn, and two of each delegate.
  assert.equal(message.usage.outputTokens, 6 * 5);
});

test('allows 4 delegates at a time and 20 per turn', async () => {
  const chat = await agents.startChat();
  const command = 'ls -d run-* 2>/dev/null | wc -l >> others; mkdir run-$$; sleep 0.1; rmdir run-$$';
  script(
    chat,
    (messages) =>
      results(messages).length > 0 ? 'done' : Array.from({ length: 22 }, (_, index) => delegate(`t${index}`)),
    (_task, messages) => (results(messages).length > 0 ? 'x' : [{ name: 'bash', input: { command } }]),
  );
  const { tools } = await run(chat);
  const states = tools.map(({ state }: DynamicToolPart) => state);
  assert.equal(states.filter((state: string) => state === 'output-available').length, 20);
  assert.equal(states.filter((state: string) => state === 'output-error').length, 2);
  const others = readFileSync(join(await agents.homeOf(chat.user), 'others'), 'utf8')
    .trim()
    .split('\n')
    .map(Number);
  assert.equal(others.length, 20);
  assert.ok(Math.max(...others) < 4, `${others}`);
});

test('rules apply to delegates, and calls that would ask are refused', async () => {
  const chat = await agents.startChat();
  const rules = [
    { tool: 'bash', pattern: 'git push *', policy: 'ask' },
    { tool: 'bash', pattern: 'rm *', policy: 'deny' },
  ];
  await chat.user.call('PUT /api/workspace/rules', { preset: 'auto', rules });
  const seen: string[] = [];
  script(
    chat,
    (messages) => (results(messages).length > 0 ? 'done' : [delegate('t'), delegate('u', { tools: ['delegate'] })]),
    (_task, messages) => {
      seen.push(...results(messages));
      if (results(messages).length > 0) return 'no';
      return ['git push', 'rm x', 'true'].map((command) => ({ name: 'bash', input: { command } }));
    },
  );
  const { tools } = await run(chat);
  assert.match(seen[0] ?? '', /cannot be asked here/);
  assert.match(seen[1] ?? '', /rules do not allow this/);
  assert.match(seen[2] ?? '', /exit code 0/);
  assert.match(tools[1].errorText, /A delegate cannot use: delegate/);
});

test("Stop ends a turn's delegates with it", async () => {
  const chat = await agents.startChat();
  script(
    chat,
    () => [delegate('t')],
    () => [{ name: 'bash', input: { command: 'sleep 100; touch late' } }],
  );
  const messageId = await submit(chat.user, chat.chatId, 'go');
  const streaming = readStream(await postChat(chat.user, { chatId: chat.chatId, messageId }));
  await until(async () => agents.provider.requests.filter(({ body }) => body.model === chat.model).length >= 2);
  await chat.user.call(`POST /api/chat/${chat.chatId}/stop`);
  await streaming;
  const message = (await chatDetail(chat.user, chat.chatId)).messages.at(-1);
  assert.equal(message.status, 'stopped');
  assert.match(message.parts.find(isCall)?.errorText ?? '', /Stopped before/);
});

test('a turn takes forty steps, gets a notice before its limit, and ends with an answer', async () => {
  const chat = await agents.startChat();
  const step: Call = { name: 'list_files', input: {} };
  script(
    chat,
    (messages) => (results(messages).length < 40 ? [step] : 'done'),
    () => 'x',
  );
  const { message, tools } = await run(chat);
  assert.equal(tools.length, 40);
  assert.equal(message.parts.at(-1).text, 'done');

  const admin = await agents.app.signIn({ role: 'admin' });
  const set = (turnBudget: object) => admin.call('POST /api/admin/config', { turnBudget });
  assert.deepEqual((await set({ steps: 12 })).body.turnBudget, { steps: 12, minutes: 120, tokens: null });
  for (const wrong of [{ steps: 0 }, { minutes: 1.5 }, { tokens: 5 }, { steps: 1e9 }]) {
    assert.equal((await set(wrong)).status, 400);
  }
  const second = await agents.startChat();
  const notes: string[] = [];
  script(
    second,
    (messages) => {
      notes.push(
        ...messages.flatMap(({ content }) => (String(content).startsWith('[System note') ? [String(content)] : [])),
      );
      return [step];
    },
    () => 'x',
  );
  const limited = await run(second);
  await set({ steps: 200 });
  assert.equal(limited.tools.length, 12);
  assert.ok(notes.some((note) => note.includes('2 of 12 steps')) && notes.at(-1)?.includes('last step'));
  assert.equal(limited.message.status, 'complete');
  const { data } = limited.message.parts.at(-1);
  assert.deepEqual(data, {
    code: 'turn_budget',
    message: 'This turn has reached its limit of 12 steps. Continue to give it another turn.',
  });
});

test('an exhausted budget ends a delegate before its next request, and its turn after it', async () => {
  const chat = await agents.startChat();
  const admin = await agents.app.signIn({ role: 'admin' });
  const budget = { scope: 'person', userId: chat.user.id, unit: 'tokens', period: 'day', limit: 1 };
  assert.equal((await admin.call('PUT /api/admin/budgets', { budgets: [budget] })).status, 200);
  script(
    chat,
    () => [delegate('look around')],
    (_task, messages) =>
      results(messages).length < 5
        ? [{ name: 'bash', input: { command: `echo ${results(messages).length}` } }]
        : 'done',
  );
  const { message } = await run(chat);
  assert.deepEqual([message.status, message.error?.code], ['failed', 'budget_exhausted']);
  const { rows } = await agents.app.database.database.pool.query(
    'select kind from usage_calls where owner_id = $1 order by kind',
    [chat.user.id],
  );
  assert.deepEqual(rows, [{ kind: 'answer' }, { kind: 'delegate' }]);
});
