import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, startTestApp, type TestApp } from '../../app.ts';
import { echoTool, type FakeMcp, startFakeMcp } from '../../fakes/mcp-server.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { callTool, finish, say, stream, think } from '../../fakes/provider/provider-scripts.ts';
import { addModels } from '../chat-harness.ts';
import { ask, fronts } from './front-clients.ts';
import { type GatewayUser, gatewayUser } from './gateway-user.ts';

/** Assistants as models of clients: ordinary turns, in which no person can be asked. */

let app: TestApp;
let provider: FakeProvider;
let mcp: FakeMcp;
before(async () => {
  provider = await startFakeProvider();
  // Thinks, calls `wipe`, which needs approval, and `echo`, then writes their results.
  provider.script('caller', (call) => {
    const messages = call.body.messages ?? [];
    const results = messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));
    if (messages.at(-1)?.role === 'tool') return stream([...say(`got ${results.join(' | ')}`), ...finish(call, 3)]);
    const calls = ['wipe', 'echo'].flatMap((name, at) =>
      callTool(at, `c-${name}`, `mcp__Fake__${name}`, '{"text":"a"}'),
    );
    return stream([...think('I look.'), ...say('Looking.'), ...calls, ...finish(call, 2, 'tool_calls')]);
  });
  mcp = await startFakeMcp([echoTool, { ...echoTool, name: 'wipe' }]);
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  await mcp.close();
  await provider.close();
});

async function scene(
  scopes = ['models', 'chats:write'],
  model = 'echo',
): Promise<GatewayUser & { assistantId: string }> {
  const user = await gatewayUser(app, scopes);
  const [modelId] = await addModels(user.signedIn, provider, [model]);
  const content = { name: 'Kind Teacher', instructions: 'Explain kindly.', modelId };
  const { body } = await user.signedIn.call('POST /api/assistants', content);
  return { ...user, assistantId: body.assistant.id };
}

async function addServer({ signedIn }: GatewayUser): Promise<void> {
  const { body } = await signedIn.call('POST /api/mcp', { name: 'Fake', url: mcp.url, toolPolicies: { wipe: 'ask' } });
  const { id, fingerprint } = body.server;
  assert.equal((await signedIn.call('POST /api/mcp/trust', { id, fingerprint })).status, 200);
}

const chatCount = async (userId: string): Promise<number> => {
  const { rows } = await app.database.database.pool.query(
    'select count(*)::int as count from chats where owner_id = $1',
    [userId],
  );
  return rows[0].count;
};
const sent = (): Json => provider.requests.at(-1)?.raw.messages;
const question = (content: Json = 'What is rain?') => ({
  model: 'assistant/Kind Teacher',
  messages: [{ role: 'user', content }],
});

test('lists assistants as models for tokens that may start conversations', async () => {
  const user = await scene();
  const list = async (each: GatewayUser) => JSON.parse(await (await each.send('/v1/models')).text()).data;
  assert.deepEqual(
    (await list(user)).map(({ id }: Json) => id),
    ['echo', 'assistant/Kind Teacher'],
  );
  for (const path of ['/v1/models/assistant/Kind%20Teacher', '/v1/models/assistant%2Fkind%20teacher']) {
    assert.equal(JSON.parse(await (await user.send(path)).text()).id, 'assistant/Kind Teacher', path);
  }
  const reader = await scene(['models']);
  assert.equal((await list(reader)).length, 1);
  const refused = await reader.send('/v1/chat/completions', question());
  assert.deepEqual([refused.status, JSON.parse(await refused.text()).error.code], [403, 'insufficient_scope']);
  const stranger = await gatewayUser(app, ['models', 'chats:write']);
  await addModels(stranger.signedIn, provider, ['echo']);
  assert.equal((await stranger.send('/v1/chat/completions', question())).status, 404);
});

test('answers in each API, whole and streamed, with the instructions of both, and keeps nothing', async () => {
  const user = await scene();
  for (const front of fronts) {
    for (const isStreamed of [false, true]) {
      const answer = await ask(user.send, front, { model: 'assistant/kind teacher', stream: isStreamed });
      assert.deepEqual([answer.text, answer.finish, answer.status], ['Hello', 'stop', 200], `${front}: ${answer.raw}`);
      assert.ok((answer.usage?.input ?? 0) > 0, front);
      assert.match(answer.raw, /assistant\/Kind Teacher/);
      assert.equal(sent()[0].role, 'system');
      assert.match(sent()[0].content, /Explain kindly\./);
    }
  }
  const history = [
    { role: 'system', content: 'Answer in French.' },
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Un' },
    { role: 'user', content: 'Two' },
    { role: 'user', content: 'Three' },
  ];
  await user.send('/v1/chat/completions', { ...question(), messages: history });
  assert.match(sent()[0].content, /Explain kindly\..*Answer in French\./s);
  assert.deepEqual(
    sent()
      .slice(1)
      .map(({ role }: Json) => role),
    ['user', 'assistant', 'user'],
  );
  assert.equal(await chatCount(user.id), 0);
});

test('shows a picture of the client to the assistant', async () => {
  const user = await scene();
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
  const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
  const body = question([{ type: 'text', text: 'What is this?' }, picture]);
  const answer = await user.send('/v1/chat/completions', body);
  assert.equal(answer.status, 200, await answer.text());
  assert.match(JSON.stringify(sent().at(-1)), /data:image\/png;base64/);
});

test('runs tools of the assistant that need no approval, and refuses those that do', async () => {
  const user = await scene(undefined, 'caller');
  await addServer(user);
  for (const front of fronts) {
    for (const isStreamed of [false, true]) {
      mcp.calls.length = 0;
      const { text, calls, reasoning } = await ask(user.send, front, {
        model: 'assistant/Kind Teacher',
        stream: isStreamed,
      });
      assert.match(
        text,
        /^Looking\.\n\ngot [^|]*needs approval, and the person cannot be asked here[^|]*\| .*a/,
        front,
      );
      assert.deepEqual([calls, reasoning], [[], 'I look.']);
      assert.deepEqual(
        mcp.calls.map(({ name }) => name),
        ['echo'],
      );
    }
  }
  assert.equal(await chatCount(user.id), 0);
});

test('keeps a turn in a conversation of the assistant, and continues it', async () => {
  const user = await scene();
  const first = await user.send('/v1/responses', { model: 'assistant/Kind Teacher', input: 'One', store: true });
  const stored = JSON.parse(await first.text());
  const chatId = first.headers.get('x-homeport-conversation') ?? '';
  assert.deepEqual(JSON.parse(await (await user.send(`/v1/responses/${stored.id}`)).text()), stored);
  const next = { model: 'assistant/Kind Teacher', input: 'Two', store: true, previous_response_id: stored.id };
  assert.equal((await user.send('/v1/responses', next)).status, 200);
  const headers = { 'x-homeport-conversation': chatId };
  const third = await user.send('/v1/chat/completions', question('Three'), { headers });
  assert.equal(third.status, 200, await third.text());
  const { body } = await user.signedIn.call('GET /api/chats', undefined, { query: { id: chatId } });
  assert.deepEqual(
    body.messages.map(({ role, parts }: Json) => `${role} ${parts.map((part: Json) => part.text ?? '').join('')}`),
    ['One', 'Two', 'Three'].flatMap((text) => [`user ${text}`, `assistant ${text}`]),
  );
  assert.equal(body.messages.at(-1).assistant.name, 'Kind Teacher');
  assert.equal(body.chat.assistantId, user.assistantId);
  const plain = await user.signedIn.call('POST /api/chats', {});
  const other = await user.send('/v1/chat/completions', question(), {
    headers: { 'x-homeport-conversation': plain.body.chat.id },
  });
  assert.equal(other.status, 400, await other.text());
  const foreign = await scene();
  const refused = await foreign.send('/v1/chat/completions', question(), { headers });
  assert.equal(refused.status, 404);
});

test('refuses what an assistant cannot honor, with the member', async () => {
  const user = await scene();
  const tool = { type: 'function', function: { name: 'look_up' } };
  const call = { id: 'c', type: 'function', function: { name: 'look_up', arguments: '{}' } };
  const cases: [Json, string][] = [
    [{ tools: [tool] }, 'tools'],
    [{ response_format: { type: 'json_object' } }, 'response_format'],
    [{ frequency_penalty: 1 }, 'frequency_penalty'],
    [
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: 'c', content: 'b' },
        ],
      },
      'messages',
    ],
    [
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
      'messages',
    ],
    [
      {
        messages: [
          { role: 'system', content: 'x'.repeat(16_001) },
          { role: 'user', content: 'a' },
        ],
      },
      'messages',
    ],
  ];
  for (const [members, param] of cases) {
    const response = await user.send('/v1/chat/completions', { ...question(), ...members });
    const { error } = JSON.parse(await response.text());
    assert.deepEqual([response.status, error.param], [400, param], JSON.stringify(error));
  }
  assert.equal(await chatCount(user.id), 0);
});

test('ends the turn and deletes its conversation when the client leaves, and after a failure', async () => {
  const user = await scene(undefined, 'hang-5');
  const left = new AbortController();
  const begun = provider.requests.length;
  const response = await user.send('/v1/chat/completions', { ...question(), stream: true }, { signal: left.signal });
  const reading = response.text();
  left.abort();
  await assert.rejects(reading);
  const asked = provider.requests.slice(begun).find(({ body }) => body.model === 'hang-5');
  assert.equal(await asked?.closed, 'aborted');
  const failing = await scene(undefined, 'error-401');
  const failed = await failing.send('/v1/chat/completions', question());
  assert.equal(failed.status, 502, await failed.text());
  assert.equal(await chatCount(failing.id), 0);
});
