import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { until } from '../../../contracts/test/until.ts';
import type { Elicitation, ElicitationAnswer } from '../../src/mcp/connection/elicitation.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat } from '../chat/chat-harness.ts';
import { startNewestMcp } from '../fakes/newest-mcp.ts';

/** The newest protocol: a call that needs input is answered with a question, and sent again with the user's answer. */

const nothing = fromJsonSchema({ type: 'object', properties: {} });
const field = (name: string) =>
  inputRequired.elicit({
    message: `Which ${name}?`,
    requestedSchema: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] },
  });
let asks = 3;
let moreTools = 0;
function make(): McpServer {
  const server = new McpServer({ name: 'newest', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  const say = (text: string) => ({ content: [{ type: 'text' as const, text }] });
  server.registerTool('book', { description: 'Books', inputSchema: nothing }, (_input, { mcpReq }) => {
    const { inputResponses } = mcpReq;
    const state = mcpReq.requestState<string>() ?? '';
    const inputs = JSON.stringify(inputResponses ?? {});
    if (state === '')
      return inputRequired({ inputRequests: { first: field('city'), second: field('day') }, requestState: 'one' });
    if (state === 'one')
      return inputRequired({ inputRequests: { third: field('seat') }, requestState: `two ${inputs}` });
    return say(`${state} ${inputs}`);
  });
  server.registerTool('endless', { description: 'Never ends', inputSchema: nothing }, () =>
    inputRequired({ requestState: 'again' }),
  );
  server.registerTool('many', { description: 'Asks for much', inputSchema: nothing }, () =>
    inputRequired({
      inputRequests: Object.fromEntries(Array.from({ length: asks }, (_, at) => [`q${at}`, field('x')])),
    }),
  );
  server.registerTool('model', { description: 'Wants a model', inputSchema: nothing }, () =>
    inputRequired({ inputRequests: { it: inputRequired.createMessage({ messages: [], maxTokens: 5 }) } }),
  );
  for (let at = 0; at < moreTools; at += 1) {
    server.registerTool(`more${at}`, { description: 'New', inputSchema: nothing }, () => say('new'));
  }
  return server;
}

let app: TestApp;
let newest: Awaited<ReturnType<typeof startNewestMcp>>;
before(async () => {
  newest = await startNewestMcp(make);
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  newest.close();
});

async function trusted(): Promise<{ user: SignedIn; id: string }> {
  const user = await app.signIn();
  const { body } = await user.call('POST /api/mcp', { name: 'Newest', url: newest.url });
  const { id, fingerprint, lastError } = body.server;
  assert.equal(lastError, null);
  await user.call('POST /api/mcp/trust', { id, fingerprint });
  return { user, id };
}

type Ask = (asked: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

async function callIt(user: SignedIn, name: string, ask: Ask, signal = new AbortController().signal) {
  const { findMcpTools } = await import('../../src/mcp/turn-tools.ts');
  const notices: { code: string }[] = [];
  const request = { ownerId: user.id, chatId: await createChat(user), serverIds: null };
  const tools = await findMcpTools(app.service.deps, request, (notice) => notices.push(notice));
  const tool = tools.find((each) => each.name === `mcp__Newest__${name}`);
  const progress: string[] = [];
  const result = await tool?.call({}, signal, { report: (line) => progress.push(line), ask });
  return { text: JSON.stringify(result), notices, progress };
}

test('asks the questions of several rounds, and sends the call again with the answers', async () => {
  const { user } = await trusted();
  const from = newest.methods.length;
  const asked: string[] = [];
  const { text, progress } = await callIt(user, 'book', async ({ message, questions }) => {
    asked.push(message);
    return { action: 'accept', answers: questions.map(({ field: of }) => [`my ${of?.name}`]) };
  });
  assert.deepEqual(asked.sort(), ['Which city?', 'Which day?', 'Which seat?']);
  for (const part of [/my city/, /my day/, /my seat/]) assert.match(text, part);
  const methods = newest.methods.slice(from);
  assert.equal(methods.filter((method) => method === 'tools/call').length, 3);
  assert.ok(!methods.includes('initialize'), methods.join());
  assert.deepEqual(progress, [], 'what our own library says of it is not shown as the server’s words');
  const declined = await callIt(user, 'book', async () => ({ action: 'decline' }));
  assert.match(declined.text, /decline/);
});

test('Stop during a question ends the call', async () => {
  const { user } = await trusted();
  const stop = new AbortController();
  const ask: Ask = async (_asked, signal) => {
    stop.abort(new Error('stopped'));
    await until(async () => signal.aborted);
    return { action: 'cancel' };
  };
  await assert.rejects(callIt(user, 'book', ask, stop.signal));
});

test('a server that asks endlessly, too much at once, or for a model gets no more', async () => {
  const { user } = await trusted();
  let questions = 0;
  const ask: Ask = async () => {
    questions += 1;
    return { action: 'accept', answers: [['x']] };
  };
  const calls = () => newest.methods.filter((method) => method === 'tools/call').length;
  const before = calls();
  assert.match((await callIt(user, 'endless', ask)).text, /errorText/);
  assert.ok(calls() - before <= 6, `${calls() - before} calls`);
  assert.match((await callIt(user, 'model', ask)).text, /errorText/);
  assert.equal(questions, 0);
  asks = 3;
  await callIt(user, 'many', ask);
  assert.equal(questions, 5, 'a call may ask five times in all');
  questions = 0;
  asks = 200;
  assert.match((await callIt(user, 'many', ask)).text, /asked for too much at once/);
  assert.equal(questions, 0);
});

test('immediately notices tools that change while the server is used', async () => {
  const { user, id } = await trusted();
  const listings = () => newest.methods.filter((method) => method === 'tools/list').length;
  await callIt(user, 'none', async () => ({ action: 'cancel' }));
  const known = listings();
  await callIt(user, 'none', async () => ({ action: 'cancel' }));
  assert.equal(listings(), known, 'what stands is not listed again');
  moreTools = 1;
  newest.notify.toolsChanged();
  await until(async () => {
    const { notices } = await callIt(user, 'none', async () => ({ action: 'cancel' }));
    return notices.some(({ code }) => code === 'mcp_drifted');
  });
  const { servers } = (await user.call('GET /api/mcp')).body;
  assert.equal(servers.find((server: { id: string }) => server.id === id).trustState, 'drifted');
  moreTools = 0;
});
