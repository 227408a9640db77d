import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { addModels } from '../chat-harness.ts';
import { eventsOf } from './front-clients.ts';
import { type GatewayUser, gatewayUser } from './gateway-user.ts';

/** Requests as coding agents send them, with every member they are documented to have. */

let app: TestApp;
let provider: FakeProvider;
let user: GatewayUser;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['echo', 'tools-2']);
});
after(async () => {
  await app.stop();
  await provider.close();
});

const shell = {
  type: 'object',
  properties: { command: { type: 'array', items: { type: 'string' } }, workdir: { type: 'string' } },
  required: ['command'],
  additionalProperties: false,
};

const codex = {
  model: 'echo',
  instructions: 'You are a coding agent.',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<permissions>' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'List the files' }] },
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'I list them.' }],
      content: null,
      encrypted_content: null,
    },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'shell', arguments: '{"command":["ls"]}' },
    {
      type: 'custom_tool_call',
      id: 'ctc_1',
      call_id: 'call_2',
      name: 'apply_patch',
      input: '*** Begin',
      status: 'completed',
    },
    { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'Done' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'There is a.txt.' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Thanks' }] },
  ],
  tools: [
    { type: 'function', name: 'shell', description: 'Runs a command', strict: false, parameters: shell },
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits files',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
    },
    { type: 'web_search', external_web_access: false },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  reasoning: { effort: 'medium', summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '0199-abc',
  client_metadata: { session: 'x' },
};

test('answers a request of Codex, with a whole history and no model if need be', async () => {
  for (const body of [codex, { ...codex, model: undefined }]) {
    const response = await user.send('/v1/responses', body, {
      headers: { originator: 'codex_cli_rs', accept: 'text/event-stream', 'openai-beta': 'responses=experimental' },
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const events = eventsOf(text);
    const added = events.findIndex(({ type }) => type === 'response.output_item.added');
    assert.ok(added < events.findIndex(({ type }) => type === 'response.output_text.delta'), text);
    assert.equal(events.at(-1)?.type, 'response.completed');
    assert.equal(events.at(-1)?.response.output[0].content[0].text, 'Thanks');
  }
  const sent: Json = provider.requests.at(-1)?.raw;
  assert.deepEqual(
    sent.tools.map((tool: Json) => tool.function.name),
    ['shell', 'apply_patch'],
  );
  assert.deepEqual(
    sent.messages.filter(({ role }: Json) => role === 'tool').map(({ content }: Json) => content),
    ['a.txt', 'Done'],
  );
});

const cached = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const claudeCode = {
  model: 'echo',
  max_tokens: 2_000,
  system: [
    { type: 'text', text: 'You are an agent.', ...cached },
    { type: 'text', text: 'Be brief.' },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Look at the picture' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I read it.', signature: 'EqoBCkgIARAB' },
        { type: 'text', text: 'Reading.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: '/a.png' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUg==' } },
          ],
        },
        { type: 'text', text: 'What is in it?', ...cached },
      ],
    },
  ],
  tools: [
    {
      name: 'Read',
      description: 'Reads a file',
      input_schema: { $schema: 'x', type: 'object', properties: {} },
      ...cached,
    },
  ],
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: 'user_x' },
  temperature: 1,
  stream: true,
};

test('answers a request of Claude Code, with a picture in a result, and counts its tokens', async () => {
  const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'claude-code-20250219,unheard-of-2030' };
  const response = await user.send('/v1/messages?beta=true', claudeCode, { headers });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const events = eventsOf(text);
  assert.ok(events[0]?.message.usage.input_tokens > 0, text);
  assert.equal(events.at(-1)?.type, 'message_stop');
  const sent: Json = provider.requests.at(-1)?.raw;
  assert.match(JSON.stringify(sent.messages.at(-1)), /data:image\/png;base64/);
  assert.equal(sent.messages.at(-2).tool_call_id, 'toolu_1');
  const { max_tokens: _, stream: __, ...counted } = claudeCode;
  const count = await user.send('/v1/messages/count_tokens?beta=true', counted, { headers });
  assert.equal(count.status, 200, await count.clone().text());
});
