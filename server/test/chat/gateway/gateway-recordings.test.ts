import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Json, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { callTool, finish, stream } from '../../fakes/provider/provider-scripts.ts';
import { addModels } from '../chat-harness.ts';
import { eventsOf } from './front-clients.ts';
import { type GatewayUser, gatewayUser } from './gateway-user.ts';

/**
 * Requests that unmodified clients sent to the gateway, with their texts shortened: a conversation with tools, a
 * picture, reasoning and a second turn.
 */

type Recording = { client: string; requests: { path: string; headers: Record<string, string>; body: Json }[] };
const folder = join(import.meta.dirname, 'recordings');
const recordings: Recording[] = readdirSync(folder)
  .sort()
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));

let app: TestApp;
let provider: FakeProvider;
let user: GatewayUser;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['echo']);
});
after(async () => {
  await app.stop();
  await provider.close();
});

const lastEvents = ['response.completed', 'message_stop', '[DONE]'];

for (const { client, requests } of recordings) {
  test(`answers what ${client} sends`, async () => {
    for (const [index, { path, headers, body }] of requests.entries()) {
      const response = await user.send(path, body, { headers });
      const text = await response.text();
      assert.equal(response.status, 200, `request ${index}: ${text}`);
      if (body.stream !== true) continue;
      const last = text.trimEnd().split('\n').at(-1) ?? '';
      assert.ok(
        lastEvents.some((event) => last.includes(event)),
        `request ${index} ends with ${last.slice(0, 200)}`,
      );
    }
  });
}

function recorded(client: RegExp, index: number): Recording['requests'][number] {
  const found = recordings.find((recording) => client.test(recording.client))?.requests[index];
  assert.ok(found !== undefined);
  return found;
}

const sentTools = (): string[] =>
  (Object(provider.requests.at(-1)?.raw).tools ?? []).map((tool: Json) => tool.function.name);

test("calls a tool of a namespace by both names, and returns the call with the client's own", async () => {
  const { path, headers, body } = recorded(/^Codex [\d.]+$/, 0);
  const { name: namespace, tools } = body.tools.find(({ type }: Json) => type === 'namespace');
  const called = `${namespace}__${tools[0].name}`;
  provider.enqueue('echo', (call) =>
    stream([...callTool(0, 'call_9', called, '{}'), ...finish(call, 5, 'tool_calls')]),
  );
  const events = eventsOf(await (await user.send(path, body, { headers })).text());
  assert.ok(sentTools().includes(called), sentTools().join());
  const { output } = events.at(-1)?.response ?? {};
  const call = output.find(({ type }: Json) => type === 'function_call');
  assert.deepEqual([call.namespace, call.name], [namespace, tools[0].name]);
  const input = [...body.input, ...output, { type: 'function_call_output', call_id: 'call_9', output: 'Closed' }];
  const second = await user.send(path, { ...body, input }, { headers });
  assert.equal(second.status, 200, await second.clone().text());
  await second.text();
  const messages: Json = provider.requests.at(-1)?.raw.messages;
  assert.equal(messages.at(-2).tool_calls[0].function.name, called);
});

test('gives the model a short name for a tool whose namespace is long, the same in each request', async () => {
  const tools = ['a', 'b'].map((last) => ({ type: 'function', name: `${'tool'.repeat(12)}_${last}` }));
  const body = { model: 'echo', input: 'Hello', tools: [{ type: 'namespace', name: 'n'.repeat(40), tools }] };
  const seen: string[][] = [];
  for (let round = 0; round < 2; round += 1) {
    assert.equal((await user.send('/v1/responses', body)).status, 200);
    seen.push(sentTools());
  }
  assert.deepEqual(seen[0], seen[1]);
  assert.equal(new Set(seen[0]).size, 2);
  assert.ok(
    seen[0]?.every((name) => /^[\w-]{64}$/.test(name)),
    seen[0]?.join(),
  );
});

test('leaves out tools that only OpenAI runs, unless the request asks for nothing else or forces a call', async () => {
  const own = { type: 'function', name: 'look_up' };
  const hosted = [
    { type: 'web_search', external_web_access: true },
    { type: 'image_generation' },
    { type: 'tool_search' },
  ];
  const body = { model: 'echo', input: 'Hello', tools: [own, ...hosted] };
  assert.equal((await user.send('/v1/responses', body)).status, 200);
  assert.deepEqual(sentTools(), ['look_up']);
  for (const refused of [
    { tools: hosted },
    { tools: [own, ...hosted], tool_choice: 'required' },
    { tools: [own, { type: 'code_interpreter', container: { type: 'auto' } }] },
  ]) {
    const response = await user.send('/v1/responses', { ...body, ...refused });
    const text = await response.text();
    assert.equal(response.status, 400, text);
    assert.match(JSON.parse(text).error.param, /^tools\[\d\]\.type$/);
  }
});

test("puts instructions within a conversation of Anthropic's API into the user's turn", async () => {
  const messages = [
    { role: 'user', content: 'Hello' },
    { role: 'system', content: [{ type: 'text', text: 'Two agents are there.' }] },
  ];
  const response = await user.send('/v1/messages', { model: 'echo', max_tokens: 100, system: 'Be brief.', messages });
  assert.equal(response.status, 200, await response.clone().text());
  await response.text();
  const sent: Json = provider.requests.at(-1)?.raw.messages;
  assert.deepEqual(
    sent.map(({ role }: Json) => role),
    ['system', 'user'],
  );
  assert.equal(sent[0].content, 'Be brief.');
  assert.match(
    JSON.stringify(sent[1].content),
    /Hello.*<system-reminder>\\nTwo agents are there\.\\n<\/system-reminder>/,
  );
});
