import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type Json, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { addModels } from '../chat-harness.ts';
import { type Front, paths } from './front-clients.ts';
import { type GatewayUser, gatewayUser } from './gateway-user.ts';

/** Odd but legal requests of clients, and where the errors of wrong ones point. */

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

const hello = { messages: [{ role: 'user', content: 'Hello' }] };
const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const named = (name: string) => ({ type: 'function', function: { name } });
const lastTools = () => provider.requests.at(-1)?.body.tools?.map((each) => each.function?.name);

function post(path: string, body: Uint8Array<ArrayBuffer> | string, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${user.token}`;
  return fetch(app.url + path, {
    method: 'POST',
    body,
    headers: { authorization, 'content-type': 'application/json', ...headers },
  });
}

test('reads compressed bodies, within the limits of plain ones', async () => {
  const json = JSON.stringify(hello);
  const encoded = {
    gzip: gzipSync(json),
    'x-gzip': gzipSync(json),
    br: brotliCompressSync(json),
    zstd: zstdCompressSync(json),
    deflate: deflateSync(json),
    ' Deflate': deflateRawSync(json),
    identity: json,
  };
  for (const [encoding, body] of Object.entries(encoded)) {
    const response = await post(paths.chat, body, { 'content-encoding': encoding });
    assert.equal(response.status, 200, `${encoding}: ${await response.text()}`);
  }
  const bomb = gzipSync(Buffer.alloc(200_000_000, ' '));
  const deep = gzipSync(`{"a":${'['.repeat(65)}${']'.repeat(65)}}`);
  for (const [status, body, encoding] of [
    [413, bomb, 'gzip'],
    [400, deep, 'gzip'],
    [400, gzipSync(json).subarray(4), 'gzip'],
    [400, json, 'br'],
    [415, json, 'gzip, gzip'],
    [415, json, 'rot13'],
  ] as const) {
    const response = await post(paths.chat, body, { 'content-encoding': encoding });
    const { error } = (await response.json()) as Json;
    assert.deepEqual([response.status, error.type], [status, 'invalid_request_error'], `${encoding}: ${error.message}`);
  }
});

test('takes addresses with a slash at their end', async () => {
  assert.equal((await post(`${paths.chat}/`, JSON.stringify(hello))).status, 200);
  assert.equal((await user.send('/v1/models/')).status, 200);
  assert.equal((await user.send('/v1/models/echo/')).status, 200);
  assert.equal((await post('/v1/nothing/', '{}')).status, 404);
});

test('offers only the tools that a choice allows', async () => {
  const tools = [tool('look'), tool('write')];
  const allowed = (mode: string, ...names: string[]) => ({
    type: 'allowed_tools',
    allowed_tools: { mode, tools: names.map(named) },
  });
  const asked = await user.send(paths.chat, { ...hello, tools, tool_choice: allowed('auto', 'look') });
  assert.equal(asked.status, 200);
  assert.deepEqual(lastTools(), ['look']);
  const forced = await user.send(paths.chat, { ...hello, tools, tool_choice: allowed('required', 'write') });
  assert.equal(forced.status, 200);
  assert.deepEqual(lastTools(), ['write']);
  const flat = tools.map(({ type, function: each }) => ({ type, ...each }));
  const choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'none' }] };
  for (const [path, body] of [
    [paths.chat, { ...hello, tools, tool_choice: allowed('auto', 'none') }],
    [paths.responses, { input: 'Hello', tools: flat, tool_choice: choice }],
  ] as const) {
    const refused = (await (await user.send(path, body)).json()) as Json;
    assert.equal(refused.error.param, 'tool_choice');
  }
});

test('passes on results of searches and names of tools in results of Anthropic’s API', async () => {
  const passages = {
    type: 'search_result',
    source: 'https://a.example/b',
    title: 'T',
    content: [{ type: 'text', text: 'P' }],
  };
  const content = [passages, { type: 'tool_reference', tool_name: 'look' }];
  const messages = [
    { role: 'user', content: [passages, { type: 'text', text: 'Hello' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'find', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content }] },
  ];
  const response = await user.send(paths.messages, { max_tokens: 10, messages });
  assert.equal(response.status, 200, await response.text());
  const sent = provider.requests.at(-1)?.body.messages ?? [];
  assert.equal(sent.at(-1)?.content, '[T](https://a.example/b)\nP\n\nTool: look');
});

test('points to the innermost member that is wrong', async () => {
  const turn = (content: Json) => ({ messages: [{ role: 'user', content }] });
  const input = (item: Json) => ({ input: [{ role: 'user', content: 'x' }, item] });
  const wrong: [Front, Json, string][] = [
    [
      'chat',
      turn([
        { type: 'text', text: 'a' },
        { type: 'input_audio', input_audio: {} },
      ]),
      'messages[0].content[1].type',
    ],
    ['chat', turn([{ type: 'image_url', image_url: 'x' }]), 'messages[0].content[0].image_url'],
    ['chat', turn([{ type: 'text' }]), 'messages[0].content[0].text'],
    ['chat', turn(5), 'messages[0].content'],
    ['chat', { tool_choice: { type: 'function', name: 'look' } }, 'tool_choice.function'],
    ['chat', { web_search_options: {} }, 'web_search_options'],
    ['responses', input({ type: 'item_reference', id: 'x' }), 'input[1].type'],
    ['responses', input({ role: 'tool', content: 'x' }), 'input[1].role'],
    [
      'responses',
      input({ role: 'user', content: [{ type: 'input_image', file_id: 'x' }] }),
      'input[1].content[0].image_url',
    ],
    ['responses', input(null), 'input[1]'],
    ['responses', { tool_choice: { type: 'web_search' } }, 'tool_choice.type'],
  ];
  for (const [front, change, param] of wrong) {
    const base = front === 'chat' ? hello : { input: 'Hello' };
    const response = await user.send(paths[front], { ...base, ...change });
    const { error } = (await response.json()) as Json;
    assert.deepEqual([response.status, error.param], [400, param], JSON.stringify(error));
  }
  const system = await user.send(paths.messages, { ...hello, max_tokens: 5, system: [{ type: 'image' }] });
  assert.match(((await system.json()) as Json).error.message, /system\.0\.type/);
});
