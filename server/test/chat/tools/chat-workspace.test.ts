import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DynamicToolPart, Frame } from '@homeport/contracts/chat/frames';
import { commandText, isCommandResult, workspaceTools } from '@homeport/contracts/workspace/workspace-tools';
import { until } from '../../../../contracts/test/until.ts';
import { interruptExpired } from '../../../src/chat/ledger/interruption.ts';
import { type AgentChat, agentApp, bash, type Call, isCall } from '../../assistants/agent-makers.ts';
import { answer, chatDetail, idle, partsOf, postChat, readStream, submit } from '../chat-harness.ts';

const agents = agentApp();

/** One response in which these calls are made, in steps; resolves with the parts of the calls and all frames. */
async function run(chat: AgentChat, ...steps: Call[][]) {
  agents.script(chat.model, ...steps);
  const streamed = await answer(chat.user, chat.chatId, await submit(chat.user, chat.chatId, 'go'));
  const parts = partsOf(streamed.frames);
  const tools = parts.filter(isCall);
  return { ...streamed, parts, tools, frames: streamed.frames.map(({ frame }) => frame) };
}

const outputOf = (part: DynamicToolPart | undefined): string =>
  isCommandResult(part?.output) ? commandText(part.output) : String(part?.output ?? part?.errorText);

test('offers the model exactly the tools of the contract', async () => {
  const chat = await agents.startChat();
  await run(chat);
  const names = agents.provider.requests.at(-1)?.body.tools?.map((tool) => tool.function?.name);
  assert.deepEqual(names, [...workspaceTools.filter((name) => name !== 'delegate'), ...['plan', 'ask', 'delegate']]);
});

test('the command-line tool addresses the conversation that it runs in', async () => {
  const chat = await agents.startChat();
  const homeport = `${process.execPath} ${join(import.meta.dirname, '../../../../workspace/src/cli/main.ts')}`;
  const { tools } = await run(
    chat,
    [bash(`echo from inside | ${homeport} artifacts put - note.txt && ${homeport} artifacts get note.txt -`)],
    [bash(`${homeport} conversations current --turn 1`)],
  );
  assert.match(outputOf(tools[0]), /^Saved as note\.txt \(12 B, id [^)]+\)\nfrom inside\n/);
  assert.match(outputOf(tools[1]), /## You \(turn 1\), .*\n\ngo\n/);
  const stat = await chat.user.call('GET /api/artifacts/stat', undefined, {
    query: { chatId: chat.chatId, path: 'note.txt' },
  });
  assert.equal(stat.body.artifact.createdBy, chat.user.id);
});

test('creates, reads, changes, finds and runs a file', async () => {
  const chat = await agents.startChat();
  const { tools } = await run(
    chat,
    [{ name: 'write_file', input: { path: 'src/hello.py', content: 'print("hello")\nprint("there")\n' } }],
    [{ name: 'read_file', input: { path: '~/src/hello.py' } }],
    [{ name: 'read_file', input: { path: 'src/hello.py', offset: 2, limit: 1 } }],
    [{ name: 'edit_file', input: { path: 'src/hello.py', oldText: 'there', newText: 'world' } }],
    [{ name: 'list_files', input: { path: 'src' } }],
    [{ name: 'list_files', input: { glob: '**/*.py' } }],
    [{ name: 'search_files', input: { pattern: 'wor.d' } }],
    [bash('cat src/hello.py; echo problem >&2; exit 3')],
  );
  const outputs = tools.map(outputOf);
  assert.equal(outputs[0], 'Wrote 30 bytes to ~/src/hello.py');
  assert.equal(outputs[1], '1\tprint("hello")\n2\tprint("there")');
  assert.equal(outputs[2], '2\tprint("there")');
  assert.equal(outputs[3], 'Replaced 1 in ~/src/hello.py, which now has 30 bytes');
  assert.equal(outputs[4], 'hello.py  30');
  assert.match(outputs[5] ?? '', /^~\/src\/hello\.py {2}30$/);
  assert.equal(outputs[6], '~/src/hello.py:2: print("world")');
  assert.match(outputs[7] ?? '', /print\("world"\)\n(.*\n)*\[exit code 3, [\d.]+ s\]$/);
  assert.match(outputs[7] ?? '', /^problem$/m);
});

test('invalid arguments and refusals get helpful messages', async () => {
  const chat = await agents.startChat();
  const { tools } = await run(chat, [
    { name: 'bash', input: {} },
    { name: 'bash', input: { command: 'true', timeoutSeconds: 'soon' } },
    { name: 'read_file', input: { path: 'none.txt' } },
    { name: 'read_file', input: { path: '../../etc/passwd' } },
    { name: 'read_file', input: {} },
    { name: 'edit_file', input: { path: 'none.txt', oldText: 'a', newText: 'b' } },
    { name: 'bash', input: { processId: 'none' } },
  ]);
  assert.deepEqual(
    tools.map(({ state }) => state),
    tools.map(() => 'output-error'),
  );
  const texts = tools.map(outputOf);
  assert.match(texts[0] ?? '', /Pass a command/);
  assert.match(texts[1] ?? '', /timeoutSeconds: /);
  assert.match(texts[2] ?? '', /not found/);
  assert.match(texts[3] ?? '', /must not contain/);
  assert.match(texts[4] ?? '', /path: /);
  assert.match(texts[6] ?? '', /no process none/i);
});

test('long output shows its beginning, its end, and the place of the remaining text', async () => {
  const chat = await agents.startChat();
  const { tools } = await run(chat, [bash(`seq 1 100000; head -c 5000 /dev/zero | tr '\\0' x; echo`)]);
  const output = outputOf(tools[0]);
  assert.ok(output.length < 36_000);
  assert.match(output, /^1\n2\n3\n/);
  assert.match(output, /\n\[omitted \d+ bytes; full log in ~\/\.workspace\/exec\/[0-9a-f]{16}\.log\]\n/);
  assert.match(output, /x{2000} \[line cut: 3000 more characters\]\n\[exit code 0, /);
  const [, log = ''] = /exec\/([0-9a-f]{16}\.log)/.exec(output) ?? [];
  const kept = readFileSync(join(await agents.homeOf(chat.user), '.workspace/exec', log), 'utf8');
  assert.match(kept, /^1\n[\s\S]*\n50000\n[\s\S]*x\n$/);
});

test('a timeout kills the command and is reported with its output', async () => {
  const chat = await agents.startChat();
  // A shell that has not started within the first second prints nothing: then it gets more time.
  for (let timeoutSeconds = 1; ; timeoutSeconds *= 4) {
    const { tools } = await run(chat, [bash('echo before; sleep 600', { timeoutSeconds })]);
    const output = outputOf(tools[0]);
    assert.match(output, /\[timed out and was killed, /);
    if (output.startsWith('before\n')) break;
    assert.ok(timeoutSeconds < 60, output);
  }
});

test('a background command is polled for later output and its end', async () => {
  const chat = await agents.startChat();
  const first = await run(chat, [bash('echo up; sleep 600', { background: true })]);
  const [, processId = ''] = /processId: ([0-9a-f]{16})/.exec(outputOf(first.tools[0])) ?? [];
  const read = { name: 'bash', input: { processId } };
  await until(async () => {
    const { tools } = await run(chat, [read]);
    return outputOf(tools.at(-1)) === 'up\n[still running]';
  });
  const { tools } = await run(chat, [{ name: 'bash', input: { processId, action: 'kill' } }]);
  assert.match(outputOf(tools.at(-1)), /^up\n[\s\S]*\[ended by SIGTERM, /);
});

test('the owner sees background commands with the end of their output and kills them, and the model is notified', async () => {
  const chat = await agents.startChat();
  const { user } = chat;
  const list = async () => (await user.call('GET /api/workspace/processes')).body.processes;
  const output = (id: string) => user.call('GET /api/workspace/processes/output', undefined, { query: { id } });
  assert.deepEqual(await list(), []);
  const long = `seq 1 9000; printf '\\303'; sleep 600`;
  const first = await run(chat, [
    bash('true'),
    bash(`printf '\\033[31mup\\033[0m\\n'; sleep 600`, { background: true }),
  ]);
  const { tools } = await run(chat, [bash(long, { background: true })]);
  const [older = '', id = ''] = [first.tools.at(-1), tools.at(-1)].map(
    (part) => /processId: ([0-9a-f]{16})/.exec(outputOf(part))?.[1],
  );
  const listed = await list();
  assert.deepEqual(
    listed.map((process: { id: string; running: boolean }) => [process.id, process.running]),
    [
      [id, true],
      [older, true],
    ],
  );
  assert.deepEqual(Object.keys(listed[0]).sort(), [
    ...['command', 'exitCode', 'id', 'logPath', 'outputBytes', 'running', 'signal', 'startedAt'],
  ]);
  const read = await until(async () => {
    const { body } = await output(id);
    // The unfinished character comes from another program, after the last number.
    const isAllThere = body.skippedBytes + body.output.length < body.process.outputBytes;
    return isAllThere && body.output.endsWith('\n9000\n') ? body : undefined;
  });
  assert.ok(read.skippedBytes > 0 && read.output.length <= 32 * 1024);
  assert.equal(read.output.split('\n')[0].length, 4, 'it begins with a whole line');
  assert.equal(read.skippedBytes + read.output.length + 1, read.process.outputBytes, 'an unfinished character waits');
  await until('the other one has said something', async () => (await output(older)).body.output !== '');
  assert.equal((await output(older)).body.output, 'up\n');

  const stranger = await agents.app.signIn();
  await stranger.call('POST /api/workspace/status');
  for (const [who, given] of [
    [stranger, id],
    [user, '../x'],
  ] as const) {
    const query = { id: given };
    assert.equal((await who.call('GET /api/workspace/processes/output', undefined, { query })).status, 404);
    assert.equal((await who.call('DELETE /api/workspace/processes', undefined, { query })).status, 404);
  }
  const ended = await user.call('DELETE /api/workspace/processes', undefined, { query: { id } });
  assert.equal(ended.status, 200);
  const gone = await until(async () =>
    (await list()).find((process: { id: string; running: boolean }) => process.id === id && !process.running),
  );
  assert.deepEqual([gone.exitCode, gone.signal], [null, 'SIGTERM']);
  const polled = await run(chat, [{ name: 'bash', input: { processId: id } }]);
  assert.match(outputOf(polled.tools.at(-1)), /\[ended by SIGTERM, /);
  await user.call('DELETE /api/workspace/status');
  assert.deepEqual(await list(), []);
  assert.equal((await output(older)).status, 404);
  assert.equal((await user.call('GET /api/workspace/status')).body.phase, 'stopped', 'looking starts nothing');
});

test('output streams while the command runs, and is replaced by the result', async () => {
  const chat = await agents.startChat();
  const home = await agents.homeOf(chat.user);
  agents.script(chat.model, [bash('echo first; until [ -e go ]; do sleep 0.02; done; echo second')]);
  const messageId = await submit(chat.user, chat.chatId, 'go');
  const isPreliminary = (frame: Frame) => frame.type === 'tool-output-available' && frame.preliminary === true;
  const early = await readStream(await postChat(chat.user, { chatId: chat.chatId, messageId }), ({ frame }) =>
    isPreliminary(frame),
  );
  const [running] = partsOf(early.frames).filter((part) => part.type === 'dynamic-tool');
  assert.deepEqual([running?.output, running?.preliminary, running?.state], ['first\n', true, 'output-available']);
  // A client that joins later gets the current output.
  const late = await readStream(await postChat(chat.user, { chatId: chat.chatId, messageId }), ({ frame }) =>
    isPreliminary(frame),
  );
  assert.equal(late.frames.filter(({ frame }) => isPreliminary(frame)).length, 1);
  writeFileSync(join(home, 'go'), '');
  await idle(agents.app);
  const { messages } = await chatDetail(chat.user, chat.chatId);
  const [stored] = messages[1].parts.filter((part: { type: string }) => part.type === 'dynamic-tool');
  const { text, end } = stored.output;
  assert.deepEqual({ text, end }, { text: 'first\nsecond\n', end: { kind: 'exit', code: 0 } });
  assert.equal('preliminary' in stored, false);
});

test('Stop kills the command immediately and keeps its output', async () => {
  const chat = await agents.startChat();
  const home = await agents.homeOf(chat.user);
  agents.script(chat.model, [bash(`trap 'touch ended' TERM; echo said; while :; do sleep 0.05; done`)]);
  const messageId = await submit(chat.user, chat.chatId, 'go');
  await readStream(
    await postChat(chat.user, { chatId: chat.chatId, messageId }),
    ({ frame }) => frame.type === 'tool-output-available',
  );
  await chat.user.call(`POST /api/chat/${chat.chatId}/stop`, {});
  await idle(agents.app);
  await until(async () => existsSync(join(home, 'ended')));
  const { messages } = await chatDetail(chat.user, chat.chatId);
  const [stored] = messages[1].parts.filter((part: { type: string }) => part.type === 'dynamic-tool');
  assert.equal(stored.state, 'output-error');
  assert.match(stored.errorText, /^Stopped.*Its output so far:\nsaid\n$/s);
});

test('after a crash the call is closed with its output, and the command is killed', async () => {
  const chat = await agents.startChat();
  const home = await agents.homeOf(chat.user);
  agents.script(chat.model, [bash(`trap 'touch ended' TERM; echo said; while :; do sleep 0.05; done`)]);
  const messageId = await submit(chat.user, chat.chatId, 'go');
  await readStream(
    await postChat(chat.user, { chatId: chat.chatId, messageId }),
    ({ frame }) => frame.type === 'tool-output-available',
  );
  const { deps } = agents.app.service;
  await until(async () => {
    const stored = `select from response_frames f join responses r on r.id = f.response_id
      where r.chat_id = $1 and f.frames like '%"preliminary":true%'`;
    const { rows } = await deps.db.pool.query(stored, [chat.chatId]);
    return rows.length > 0;
  });
  // As another replica does with a response of a lost replica.
  await interruptExpired(deps, { chatId: chat.chatId, orphans: true });
  const { messages } = await chatDetail(chat.user, chat.chatId);
  const [stored] = messages[1].parts.filter((part: { type: string }) => part.type === 'dynamic-tool');
  assert.equal(messages[1].status, 'interrupted');
  assert.equal(stored.state, 'output-error');
  assert.match(stored.errorText, /^Interrupted.*Its output so far:\nsaid\n$/s);
  assert.equal('output' in stored || 'preliminary' in stored, false);
  await until(async () => existsSync(join(home, 'ended')));
  await idle(agents.app);
});

test('a published file becomes an artifact of the conversation, publishing again updates it, and images are shown', async () => {
  const chat = await agents.startChat();
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const publish = (input: Record<string, unknown>): Call => ({ name: 'publish_artifact', input });
  const { tools, parts } = await run(
    chat,
    [bash(`echo one > report.txt; echo ${png} | base64 -d > dot.png; mkdir folder`)],
    [publish({ path: 'report.txt' })],
    [bash('echo two > report.txt')],
    [publish({ path: '~/report.txt' }), publish({ path: 'dot.png', name: 'pictures/dot.png' })],
    [publish({ path: 'none' }), publish({ path: 'folder' }), publish({ path: 'report.txt', name: '../x' })],
  );
  const outputs = tools.filter(({ toolName }) => toolName === 'publish_artifact').map((part) => part.output as never);
  const [first, second, picture] = outputs as { id: string; path: string; link: string; size: number }[];
  assert.equal(first?.id, second?.id);
  assert.deepEqual(second, {
    id: first?.id,
    path: 'report.txt',
    size: 4,
    version: 2,
    link: `[report.txt](artifact://${first?.id})`,
  });
  const query = { chatId: chat.chatId };
  const listed = await chat.user.call('GET /api/artifacts', undefined, { query });
  assert.deepEqual(listed.body.artifacts.map((artifact: { path: string }) => artifact.path).sort(), [
    'pictures/dot.png',
    'report.txt',
  ]);
  const download = { query: { ...query, id: first?.id ?? '' } };
  assert.equal((await chat.user.call('GET /api/artifacts/download', undefined, download)).text, 'two\n');
  const files = parts.filter((part) => part.type === 'file');
  assert.deepEqual(files, [{ type: 'file', mediaType: 'image/png', url: `artifact://${picture?.id}` }]);
  assert.deepEqual(
    tools.slice(-3).map(({ state }) => state),
    ['output-error', 'output-error', 'output-error'],
  );
});

test('a model that sees can look at a picture in the workspace, and another one gets a note', async () => {
  const chat = await agents.startChat();
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const look: Call = { name: 'read_file', input: { path: 'shot.dat' } };
  const seen = () => JSON.stringify(agents.provider.requests.at(-1)?.body.messages);
  for (const images of [true, false]) {
    const abilities = { images, documents: false, tools: true, temperature: true, reasoning: [] };
    const { body } = await chat.user.call('GET /api/chats', undefined, { query: { id: chat.chatId } });
    const id = body.chat.modelId;
    assert.equal((await chat.user.call('PATCH /api/models', { id, abilities })).status, 200);
    const { tools } = await run(chat, [bash(`echo ${png} | base64 -d > shot.dat`)], [look]);
    assert.match(outputOf(tools.at(-1)), /^\[The picture .*shot\.dat \(image\/png, 70 bytes\)\. Read it again/);
    assert.equal(seen().includes(`data:image/png;base64,${png}`), images, seen());
    assert.equal(seen().includes('A picture was left out: this model doesn’t take pictures'), !images);
  }
  const { tools } = await run(
    chat,
    [bash('head -c 100 /dev/zero > zero.bin')],
    [{ name: 'read_file', input: { path: 'zero.bin' } }],
  );
  assert.match(outputOf(tools.at(-1)), /is not a text file/);
});

test('losing a workspace fails the running tool, and the next call starts it again', async () => {
  const chat = await agents.startChat();
  agents.script(chat.model, [bash('echo said; touch here; sleep 600')], [bash('ls; echo again')]);
  const messageId = await submit(chat.user, chat.chatId, 'go');
  const home = await agents.homeOf(chat.user);
  const reading = answer(chat.user, chat.chatId, messageId);
  await until(async () => existsSync(join(home, 'here')));
  await chat.user.call('DELETE /api/workspace/status');
  const tools = partsOf((await reading).frames).filter((part) => part.type === 'dynamic-tool');
  assert.equal(tools[0]?.state, 'output-error');
  assert.match(outputOf(tools[0]), /stopped or no longer responds/);
  assert.match(outputOf(tools[1]), /^here\nagain\n/);
});

test('runs a call once per call id, and another call with the same input again', async () => {
  const chat = await agents.startChat();
  await run(chat, [bash('echo x >> count')], [bash('echo x >> count')]);
  assert.equal(readFileSync(join(await agents.homeOf(chat.user), 'count'), 'utf8'), 'x\nx\n');
});

test('after a daemon is killed during a tool, the next call has a new one', async () => {
  const chat = await agents.startChat();
  const { tools } = await run(
    chat,
    [bash('echo said; kill -9 $(cat /proc/$PPID/status | sed -n "s/^PPid:[^0-9]*//p")')],
    [bash('echo again')],
  );
  assert.match(outputOf(tools[0]), /stopped or no longer responds/);
  assert.match(outputOf(tools[1]), /^again\n/);
});
