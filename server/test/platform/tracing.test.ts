import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import type { Tool } from '../../src/chat/tools/tool-run.ts';
import { ToolFailure } from '../../src/chat/tools/tool-run.ts';
import { createTracing } from '../../src/tracing/open-tracing.ts';
import { noTracing, statementName } from '../../src/tracing/tracing.ts';
import { startTestApp, type TestApp, testConfig } from '../app.ts';
import { addModels, createChat, submit } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { type SeenSpan, startTraceCollector, type TraceCollector } from '../fakes/trace-collector.ts';

/** Traces as a collector gets them: the parents of spans, and the absence of personal data. */

const secrets = {
  apiKey: 'sk-test-key',
  text: 'canary-text-7f3a',
  argument: 'canary-argument-90b1',
  result: 'canary-result-c44d',
  failure: 'canary-failure-1e52',
  project: 'canary-project-aa17',
  email: 'canary-person-5d20@example.org',
};
const collectorKey = 'collector-key-31c8';
const remote = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

let collector: TraceCollector;
let provider: FakeProvider;
let app: TestApp;

const tool = (name: string, execute: Tool['execute']): Tool => ({
  name,
  description: 'Looks up',
  inputSchema: { type: 'object' },
  execute,
});
const tools = [
  tool('look_up', async () => ({ found: secrets.result })),
  tool('fails', async () => {
    throw new ToolFailure(secrets.failure);
  }),
];

before(async () => {
  collector = await startTraceCollector();
  provider = await startFakeProvider();
  app = await startTestApp({
    config: {
      tracesBase: `${collector.url}/`,
      tracesHeaders: `x-collector-key=${collectorKey}`,
      tracesResource: 'deployment.environment.name=test%20one',
      traceContextToProviders: true,
      trustedProxies: ['127.0.0.1'],
    },
    findTools: async () => tools,
  });
});
after(async () => {
  await app.stop();
  await provider.close();
  await collector.stop();
});

const named = (name: string) => collector.spans.filter((span) => span.name === name);
const parentOf = ({ traceId, parentId }: SeenSpan) =>
  collector.spans.find((span) => span.spanId === parentId && span.traceId === traceId);

/** The names from a span up to the root of its trace. */
function above(span: SeenSpan): string[] {
  const parent = parentOf(span);
  return parent === undefined ? [] : [parent.name, ...above(parent)];
}

test('a response has spans of request, response, model, tools and statements, each a child of its cause', async () => {
  const user = await app.signIn({ email: secrets.email });
  await addModels(user, provider, ['tools-2']);
  await user.call('POST /api/projects', { name: secrets.project });
  provider.script('tools-2', ({ count }) => toolTurn(count === 1));
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, secrets.text);
  const answered = await user.fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent: `00-${remote.traceId}-${remote.spanId}-01` },
    body: JSON.stringify({ chatId, messageId }),
  });
  assert.match(await answered.text(), /\[DONE\]/);
  const response = await until(() => named('response').at(0));
  const [request] = named('POST /api/chat').filter(({ traceId }) => traceId === remote.traceId);
  assert.ok(request !== undefined);
  assert.deepEqual([request.parentId, request.kind], [remote.spanId, 2]);
  assert.equal(request.facts['http.response.status_code'], 200);
  assert.equal(parentOf(response), request);
  assert.equal(response.facts['homeport.response_state'], 'complete');

  const calls = await until(() => (named('chat tools-2').length === 2 ? named('chat tools-2') : undefined));
  for (const call of calls) {
    assert.deepEqual(above(call), ['response', 'POST /api/chat']);
    assert.equal(call.kind, 3);
    assert.equal(call.facts['gen_ai.request.model'], 'tools-2');
    assert.equal(call.facts['http.response.status_code'], 200);
    assert.ok(call.endedAt >= call.startedAt);
  }
  const [lookUp] = named('execute_tool look_up');
  const [fails] = named('execute_tool fails');
  assert.ok(lookUp !== undefined && fails !== undefined);
  assert.deepEqual(above(lookUp), ['response', 'POST /api/chat']);
  assert.deepEqual([lookUp.failed, fails.failed, fails.facts['error.type']], [false, true, 'ToolFailure']);

  // Statements of the request and of the response; none is without a parent.
  const statements = collector.spans.filter(({ facts }) => facts['db.system.name'] === 'postgresql');
  assert.ok(statements.some((span) => above(span)[0] === 'POST /api/chat'));
  assert.ok(statements.some((span) => above(span)[0] === 'response'));
  for (const { parentId, name } of statements) assert.notEqual(parentId, '', name);
  assert.ok(
    statements.some(({ name }) => name === 'INSERT chats'),
    statements.map(({ name }) => name).join(),
  );

  // The provider received the span that called it.
  const parents = provider.requests.map(({ headers }) => headers.traceparent);
  for (const { spanId } of calls) assert.ok(parents.includes(`00-${remote.traceId}-${spanId}-01`));
  assert.deepEqual(
    [collector.resource['service.name'], collector.resource['deployment.environment.name']],
    ['homeport', 'test one'],
  );
});

test('no byte that was sent contains personal data or a key', async () => {
  const all = Buffer.concat(collector.bytes);
  assert.ok(all.includes('execute_tool look_up') && all.includes(collectorKey));
  for (const [name, secret] of Object.entries(secrets)) assert.ok(!all.includes(secret), name);
});

test('a failure has a fixed status, and probes and background work leave no trace', async () => {
  const user = await app.signIn();
  await user.fetch('/api/health');
  await user.fetch('/api/chats?id=nowhere-1');
  const failed = await until(() => named('GET /api/chats').find(({ facts }) => facts['homeport.error_code']));
  assert.equal(failed.facts['homeport.error_code'], 'not_found');
  assert.equal(failed.facts['http.response.status_code'], 404);
  assert.equal(named('GET /api/health').length, 0);
});

test('continues neither a stranger’s trace nor an invalid one', async () => {
  const other = await startTestApp({ config: { tracesBase: collector.url, traceContextToProviders: false } });
  try {
    await other.anonymous.fetch('/api/live', { headers: { traceparent: `00-${remote.traceId}-${remote.spanId}-01` } });
    const stranger = await until(() => named('GET /api/live').at(0));
    assert.deepEqual([stranger.parentId, stranger.traceId === remote.traceId], ['', false]);
    for (const traceparent of ['00-0-0-01', `ff-${remote.traceId}-${remote.spanId}-01`, 'x'.repeat(9_000)]) {
      assert.equal((await app.anonymous.fetch('/api/live', { headers: { traceparent } })).status, 200);
    }
    const trusted = await until(() => (named('GET /api/live').length === 4 ? named('GET /api/live') : undefined));
    for (const { parentId } of trusted) assert.equal(parentId, '');
  } finally {
    await other.stop();
  }
});

test('a collector that refuses, hangs or is unreachable affects no request, and is logged once', async () => {
  const lines: string[] = [];
  const away = await startTraceCollector();
  const other = await startTestApp({ config: { tracesBase: away.url }, log: (line) => lines.push(line) });
  const complaints = () => lines.filter((line) => line.includes('failed to send traces'));
  try {
    away.breakDown('hangs');
    for (let count = 0; count < 50; count += 1) assert.equal((await other.anonymous.fetch('/api/live')).status, 200);
    await away.stop();
    // More than the queue holds: excess spans are dropped, and every request is answered.
    for (let round = 0; round < 25; round += 1) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => other.anonymous.fetch('/api/live')));
      for (const answer of answers) assert.equal(answer.status, 200);
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    }
    await until(() => complaints()[0]);
    assert.equal(complaints().length, 1);
    assert.ok(!complaints()[0]?.includes(away.url));
  } finally {
    // It doesn't wait for a collector either.
    await other.stop();
  }
});

test('records nothing without a collector, and names a statement by verb and table', async () => {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  assert.equal(await createTracing(testConfig, log), noTracing);
  const names = [
    ['select "id" from "messages" where "text" = $1', 'SELECT messages'],
    ['\n  insert into inputs (id) values ($1)', 'INSERT inputs'],
    ['update only responses set lease = now()', 'UPDATE responses'],
    ['with due as (select 1) delete from frames using due', 'WITH frames'],
    ["notify chat, 'secret'", 'NOTIFY'],
  ];
  for (const [sql = '', name] of names) assert.equal(statementName(sql).name, name);
});

/** First two calls of tools with private arguments; then a text. */
function toolTurn(isFirst: boolean): { steps: { event: object | string }[] } {
  const call = (index: number, name: string) => ({
    index,
    id: `c${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify({ q: secrets.argument }) },
  });
  const first = { delta: { tool_calls: [call(0, 'look_up'), call(1, 'fails')] }, finish_reason: 'tool_calls' };
  const last = { delta: { content: 'Done' }, finish_reason: 'stop' };
  return { steps: [{ event: { choices: [{ index: 0, ...(isFirst ? first : last) }] } }, { event: '[DONE]' }] };
}
