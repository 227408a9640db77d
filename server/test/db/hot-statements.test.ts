import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCaller, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { makeProject, put } from '../artifacts/artifact-makers.ts';
import { callSteps } from '../assistants/agent-makers.ts';
import { addModels, answer, idle, nextId, postChat, readStream, submission, submit } from '../chat/chat-harness.ts';
import { echoTool, type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { finish, say } from '../fakes/provider/provider-scripts.ts';
import { lookAtStatements } from '../statement-keys.ts';

/**
 * Every statement of everyday use names the owner of its rows, so that a PostgreSQL partitioned by owner could send it
 * to one part (docs/scaling.md). The exceptions are listed here, with the reason.
 */

const timings = { heartbeatMs: 200, sweepMs: 200, dispatchMs: 100, tickMs: 20 };

const exceptions: { reason: string; statements: RegExp[] }[] = [
  {
    reason: 'The lessons of models are found by the models, which were found by their owner.',
    statements: [/^select l\.model_id, .* from model_lessons l /, /^select m\.id as .* from model_lessons l /],
  },
  {
    reason: 'The sweep of imports finds those of everybody that can go on.',
    statements: [/^select id, owner_id from imports where \(state in /],
  },
  {
    reason:
      'The dispatcher finds the conversations of everybody that can go on; each is then taken by its own statements.',
    statements: [
      /^select i\.chat_id as "chatId", i\.owner_id as "ownerId" from inputs i /,
      /^select r\.chat_id from responses r .* where \(handed_over /,
      /^select distinct r\.chat_id from tool_approvals a /,
    ],
  },
  {
    reason: 'A sweep finds what a replica that is gone has left.',
    statements: [
      /^select "id", "chat_id", "owner_id", "generation", "first_seq" from "responses" where "state" = \$1 and "lease_until" < now\(\)/,
      /^select "user_id" from "workspaces" where "phase" in /,
      /^select \*, coalesce\(op_until < now\(\), false\) as "op_lost".* from "workspaces" where (?!"user_id")/,
      /^update imports i set claim = \$1/,
    ],
  },
  {
    reason: 'A sweep removes what is old, a batch at a time.',
    statements: [
      /^with old as \( update responses set end_frames = null /,
      /^delete from responses where ctid = any\(array\(/,
      /^update inputs set parts = '\[\]' where ctid = any\(array\(/,
      /^delete from chats where id in \( select id from chats c where c\.temporary /,
      /^update imports set sha256 = null/,
      /^delete from "workspace_leases" where "expires_at" < now\(\)/,
    ],
  },
  {
    reason: 'A content is kept once for everybody who has the same file, and goes when nobody has it.',
    statements: [
      /^delete from blobs b where b\.sha256 = any\(\$1\)/,
      /^select b\.sha256 from blobs b where not exists \(select from artifacts a /,
    ],
  },
  {
    reason: 'Assistants that are shared with everybody are listed for everybody; there are few.',
    statements: [/^select a\.id, a\.owner_id, u\.name as owner_name, a\.audience, .* from assistants a /],
  },
];

/** The tools of a turn, step by step. */
const steps = [
  [
    { name: 'mcp__Fake__echo', input: { text: 'one' } },
    { name: 'write_file', input: { path: 'a.txt', content: 'two' } },
    { name: 'plan', input: { items: [{ content: 'Step', status: 'completed' }] } },
  ],
  [
    { name: 'bash', input: { command: 'cat a.txt' } },
    { name: 'publish_artifact', input: { path: 'a.txt' } },
  ],
];
const question = { question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] };

let provider: FakeProvider;
let mcp: FakeMcp;
let runtime: ProcessRuntime;
let app: TestApp;
let second: TestApp;
let seen: Set<string> | undefined;

const trace = <T>(sql: string, work: () => Promise<T>): Promise<T> => {
  // Settings of a transaction touch no rows.
  if (!/^\s*set\b/.test(sql)) seen?.add(sql);
  return work();
};

before(async () => {
  provider = await startFakeProvider();
  for (const [model, calls] of Object.entries({
    agent: steps,
    asks: [[{ name: 'ask', input: { questions: [question] } }]],
  })) {
    provider.script(model, (call) => {
      const step = calls[call.count - 1];
      if (step === undefined) return { steps: [...say('done'), ...finish(call, 1)] };
      return { steps: [...callSteps(step), ...finish(call, 1, 'tool_calls')] };
    });
  }
  mcp = await startFakeMcp([echoTool]);
  runtime = new ProcessRuntime();
  app = await startTestApp({ timings, trace, workspaceRuntime: runtime });
  second = await startTestApp({ timings, trace, database: app.database });
});
after(async () => {
  await second.stop();
  await app.stop();
  await runtime.destroy();
  await mcp.close();
  await provider.close();
});

/** The everyday actions of a user. */
async function useAll(user: SignedIn, models: Record<string, string>): Promise<void> {
  const get = async (path: string, query: Record<string, string> = {}) => {
    const { status, body, text } = await user.call(`GET ${path}`, undefined, { query });
    assert.equal(status, 200, `${path}: ${text}`);
    return body;
  };
  const must = async (route: string, body?: object, query: Record<string, string> = {}) => {
    const answered = await user.call(route, body, { query });
    assert.ok(answered.status < 300, `${route}: ${answered.text}`);
    return answered.body;
  };
  const chatWith = async (model: string, fields: object = {}): Promise<string> => {
    const { chat } = await must('POST /api/chats', fields);
    await must('PATCH /api/chats', { id: chat.id, modelPinned: true, modelId: models[model] });
    return chat.id;
  };
  for (const path of ['/api/me', '/api/providers', '/api/model-tiers', '/api/mcp', '/api/projects', '/api/assistants'])
    await get(path);

  // A turn with tools, in a project, with a file.
  const projectId = await makeProject(app.database.database.pool, [user.id]);
  const chatId = await chatWith('agent', { projectId });
  const file = await put(user, { chatId }, 'notes.md', 'Notes');
  const attached = { type: 'file', mediaType: 'text/plain', filename: 'notes.md', url: `artifact://${file.id}` };
  const message = { id: nextId('m'), parts: [{ type: 'text', text: 'go' }, attached] };
  await must('POST /api/chat/start', { chatId, message });
  const streamed = await answer(user, chatId, message.id);
  assert.equal(streamed.text, 'done');
  const failed = streamed.frames.flatMap(({ frame }) => (frame.type === 'tool-output-error' ? [frame.errorText] : []));
  assert.deepEqual(failed, []);

  // The list, the page, search, and the prompt context.
  await get('/api/chats', { limit: '50' });
  await get('/api/chats', { projectId });
  await get('/api/chats', { q: 'notes' });
  const { messages } = await get('/api/chats', { id: chatId });
  await get('/api/chats/context', { chatId, messageId: messages[1].id });
  await get('/api/me/usage');

  // Files: upload, replace, list, download, move, delete.
  await must('PATCH /api/artifacts', { chatId, id: file.id, to: 'moved.md' });
  await get('/api/artifacts', { chatId });
  await get('/api/artifacts/stat', { chatId, path: 'moved.md' });
  await get('/api/artifacts/text', { chatId, path: 'moved.md' });
  const downloaded = await user.fetch(`/api/artifacts/download?${new URLSearchParams({ chatId, path: 'moved.md' })}`);
  assert.equal(await downloaded.text(), 'Notes');
  await must('DELETE /api/artifacts', undefined, { chatId, path: 'moved.md' });

  // A response that two replicas show, with a message queued, sent now, and Stop, without which it would continue.
  const elsewhere = { ...createCaller(second.url, user.cookie), id: user.id, email: user.email };
  const long = await chatWith('words-60000@100');
  const messageId = await submit(user, long, 'tell');
  const here = readStream(await postChat(user, { chatId: long, messageId }));
  await readStream(await elsewhere.fetch(`/api/chat/${long}/stream`), ({ id }) => id > 20);
  const { input } = await must('POST /api/chat/turn-inputs', submission(long, 'next'));
  await must('PATCH /api/chat/turn-inputs', { chatId: long, id: input.id, steer: true });
  await must('DELETE /api/chat/turn-inputs', undefined, { chatId: long, id: input.id });
  assert.equal((await elsewhere.call(`POST /api/chat/${long}/stop`, {})).status, 200);
  await here;

  // A question that is answered, and the response made again.
  const asking = await chatWith('asks');
  const asked = Promise.withResolvers<string>();
  const questionId = await submit(user, asking, 'ask');
  const answering = readStream(await postChat(user, { chatId: asking, messageId: questionId }), ({ frame }) => {
    if (frame.type === 'data-question') asked.resolve(frame.data.questionId);
    return false;
  });
  await must(`POST /api/chat/${asking}/answers`, { questionId: await asked.promise, answers: { 0: 'A' } });
  assert.equal((await answering).text, 'done');
  await must('PATCH /api/chats', { id: asking, title: 'Another title' });
  await must('DELETE /api/chats', undefined, { id: asking });
}

test('every hot statement names the owner of its rows', async (t) => {
  const { rows } = await app.database.database.pool.query(
    `select current_setting('server_version_num')::int as version`,
  );
  // Before 17, a plan doesn't show the comparison of a hashed subquery.
  if (rows[0].version < 170_000) return t.skip('needs PostgreSQL 17');
  const user = await app.signIn();
  const names = ['agent', 'asks', 'words-60000@100'];
  const models = Object.fromEntries(
    (await addModels(user, provider, names)).map((id, index) => [names[index] ?? '', id]),
  );
  const { body } = await user.call('POST /api/mcp', { name: 'Fake', url: mcp.url });
  await user.call('POST /api/mcp/trust', { id: body.server.id, fingerprint: body.server.fingerprint });
  const hot = new Set<string>();
  seen = hot;
  await useAll(user, models);
  await idle(app);
  seen = undefined;
  const found = await lookAtStatements(app.database.database, hot);
  const all = [...found].map(([text, facts]) => ({ ...facts, text: text.trim().replaceAll(/\s+/g, ' ') }));
  const unnamed = all.filter(({ across }) => across.length > 0);
  const isExcepted = ({ text }: { text: string }) =>
    exceptions.some(({ statements }) => statements.some((each) => each.test(text)));
  assert.deepEqual(
    unnamed.filter((each) => !isExcepted(each)).map(({ across, text }) => `${across}: ${text}`),
    [],
  );
  const direct = all.filter(({ isDirect, across }) => isDirect && across.length === 0).length;
  t.diagnostic(
    `${all.length} statements: ${direct} name an owner, ${unnamed.length} are excepted, the others name a row`,
  );
  // Fewer would mean that the statements were not seen.
  assert.ok(direct > 60 && all.length > 100);
});

test('finds a statement that does not name the owner of its rows, in every form', async () => {
  const cases: [across: string, statement: string][] = [
    ['messages', 'select parts from messages order by seq desc limit 1'],
    ['chats,messages', 'select m.parts from messages m join chats c on c.id = m.chat_id where not c.archived'],
    ['messages', 'select m.parts from messages m, chats c where c.id = $1 and m.seq > $2'],
    ['chats', 'select title from chats where owner_id = $1 or title = $2'],
    ['chats', 'select title from chats where owner_id <> $1'],
    ['messages', 'select id from chats c where owner_id = $1 and exists (select from messages m where m.role = $2)'],
    ['inputs', 'update inputs set state = $1 where state = $2'],
    [
      'artifacts',
      'with gone as (delete from artifacts where size > $1 returning id) select id from chats where id = $2',
    ],
    ['plans', `insert into plans (items) select $1::jsonb`],
    ['', 'select m.parts from messages m join chats c on c.id = m.chat_id where c.owner_id = $1'],
    ['', 'select parts from messages where chat_id = any ($1)'],
    ['', 'select branding from settings'],
  ];
  const found = await lookAtStatements(
    app.database.database,
    cases.map(([, statement]) => statement),
  );
  for (const [across, statement] of cases) assert.equal(found.get(statement)?.across.join(), across, statement);
});
