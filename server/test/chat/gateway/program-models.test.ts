import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { execEvent } from '@homeport/contracts/workspace/daemon';
import { until } from '../../../../contracts/test/until.ts';
import { sessionCheckMs } from '../../../src/accounts/session-watch.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { modelTokenOf } from '../../../src/workspaces/tokens.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { ManualClock } from '../../fakes/manual-clock.ts';
import { ProcessRuntime } from '../../fakes/process-runtime.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { callsOf, setPrices, sumsDiffer } from '../../usage/usage-makers.ts';
import { whyNotAs } from '../../workspaces/local/host-process.ts';
import { enterWorkspace } from '../../workspaces/workspace-caller.ts';
import { addModels } from '../chat-harness.ts';

let app: TestApp;
let provider: FakeProvider;
let runtime: ProcessRuntime;
let admin: SignedIn;
before(async () => {
  provider = await startFakeProvider();
  runtime = new ProcessRuntime();
  app = await startTestApp({ workspaceRuntime: runtime });
  admin = await app.signIn({ role: 'admin' });
});
after(async () => {
  assert.deepEqual(await sumsDiffer(app), []);
  await app.stop();
  await runtime.destroy();
  await provider.close();
});

/** A clock on which only the checks of open calls are moved by hand. */
function manualTimers(): ManualClock {
  const manual = new ManualClock();
  const { now, elapsed, sleep, after, every } = systemClock;
  return Object.assign(manual, {
    now,
    elapsed,
    sleep,
    after,
    every: (milliseconds: number, work: () => void | Promise<void>) =>
      milliseconds === sessionCheckMs
        ? ManualClock.prototype.every.call(manual, milliseconds, work)
        : every(milliseconds, work),
  });
}

const hello = { messages: [{ role: 'user', content: 'Hello' }] };

/** A user with a running workspace, and the actions of a program in it with a token. */
async function person(models: string[]) {
  const user = await app.signIn();
  await addModels(user, provider, models);
  await setPrices(user);
  const inside = await enterWorkspace(app, runtime, user);
  const modelToken = modelTokenOf(inside.token);
  const send = (path: string, body?: Json, options: { token?: string; signal?: AbortSignal } = {}) =>
    fetch(`${app.url}/api/internal/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${options.token ?? modelToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  const ask = async (body: Json, signal?: AbortSignal) => {
    const answer = await send('v1/chat/completions', body, signal === undefined ? {} : { signal });
    const text = await answer.text();
    return { status: answer.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
  return { user, inside, send, ask, modelToken };
}

const events = (text: string): Json[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)));

test("lists the user's models, answers completely and as a stream, and records each call in the ledger", async () => {
  const { user, ask, send } = await person(['echo', 'think']);
  const list: Json = await (await send('v1/models')).json();
  assert.deepEqual(
    list.data.map(({ id, object }: Json) => [id, object]),
    [
      ['echo', 'model'],
      ['think', 'model'],
    ],
  );
  const whole = await ask({ ...hello, model: 'echo', max_tokens: 50 });
  assert.equal(whole.status, 200, whole.text);
  assert.match(whole.body.choices[0].message.content, /Hello/);
  assert.equal(whole.body.choices[0].finish_reason, 'stop');
  assert.equal(whole.body.usage.total_tokens, whole.body.usage.prompt_tokens + whole.body.usage.completion_tokens);
  assert.equal(provider.requests.at(-1)?.body.max_tokens ?? provider.requests.at(-1)?.body.max_completion_tokens, 50);

  const streamed = await ask({ ...hello, model: 'think', stream: true, stream_options: { include_usage: true } });
  const received = events(streamed.text);
  assert.equal(received[0].choices[0].delta.role, 'assistant');
  const textOf = (name: string) => received.map((event) => event.choices[0]?.delta[name] ?? '').join('');
  assert.ok(textOf('reasoning_content').length > 0 && textOf('content').length > 0, streamed.text);
  assert.equal(received.at(-2).choices[0].finish_reason, 'stop');
  assert.ok(received.at(-1).usage.completion_tokens > 0);
  assert.ok(streamed.text.endsWith('data: [DONE]\n\n'));

  const calls = await callsOf(app, user.id);
  assert.deepEqual(
    calls.map(({ kind, provider_model_id: model, estimated }) => [kind, model, estimated]),
    [
      ['program', 'echo', false],
      ['program', 'think', false],
    ],
  );
  assert.ok(calls.every(({ cost }) => cost !== null && cost > 0));
});

test('passes calls of tools in both directions', async () => {
  const { ask } = await person(['tool']);
  const tool = { type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } };
  const { body, text } = await ask({ ...hello, tools: [tool] });
  const { message, finish_reason: reason } = body.choices[0];
  assert.deepEqual([reason, message.tool_calls[0].function.name], ['tool_calls', 'look_up'], text);
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'It is 42' };
  const next = await ask({ messages: [...hello.messages, message, result], tools: [tool], stream: true });
  assert.equal(next.status, 200, next.text);
  assert.equal(provider.requests.at(-1)?.body.messages?.at(-1)?.content, 'It is 42');
  const without = await ask({ ...hello, tools: [tool], tool_choice: 'none' });
  assert.equal(without.status, 200);
  assert.equal(provider.requests.at(-1)?.raw.tool_choice, 'none');
});

test('the token of programs opens models and nothing else, and ends with the workspace', async () => {
  const { user, send, inside, modelToken } = await person(['echo']);
  assert.notEqual(modelToken, inside.token);
  for (const path of ['artifacts', 'conversations']) assert.equal((await send(path)).status, 401, path);
  assert.equal((await send('v1/models', undefined, { token: inside.token })).status, 200);
  assert.equal((await send('v1/models', undefined, { token: `wmt_${'x'.repeat(43)}` })).status, 401);
  assert.equal(await app.service.deps.workspaces.findUser(modelToken), undefined, 'the proxy is not opened by it');
  await user.call('DELETE /api/workspace/status');
  assert.equal((await send('v1/models')).status, 401);
});

test("refuses parameters that can't be honored, and unknown models", async () => {
  const { user, ask } = await person(['echo']);
  const wrong: [Json, string][] = [
    [{ n: 2 }, 'n'],
    [{ logprobs: true }, 'logprobs'],
    [{ store: true }, 'store'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ messages: [] }, 'messages'],
    [
      {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://10.0.0.1/x.png' } }] }],
      },
      'messages.0.content',
    ],
  ];
  for (const [change, path] of wrong) {
    const { status, body, text } = await ask({ ...hello, ...change });
    assert.equal(status, 400, text);
    assert.ok(body.error.details[0].path.startsWith(path), text);
  }
  const unknown = await ask({ ...hello, model: 'gpt-of-nobody' });
  assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'not_found']);
  assert.deepEqual(await callsOf(app, user.id), []);
});

test('refuses calls with an exhausted budget, too many at once, and when switched off', async () => {
  const { user, ask, send } = await person(['echo', 'hang-3']);
  const leaving = new AbortController();
  const hanging = Array.from({ length: limits.programCallsAtOnce }, () =>
    ask({ ...hello, model: 'hang-3' }, leaving.signal).catch(() => undefined),
  );
  const asked = () => provider.requests.filter(({ body }) => body.model === 'hang-3').length;
  await until(() => asked() === limits.programCallsAtOnce);
  const refused = await ask({ ...hello, model: 'echo' });
  assert.deepEqual([refused.status, refused.body.error.code], [429, 'rate_limited']);
  leaving.abort();
  await Promise.all(hanging);
  // Text sent before they disconnected is counted.
  await until(async () => {
    const cut = (await callsOf(app, user.id)).filter(({ estimated }) => estimated);
    return cut.length === limits.programCallsAtOnce;
  });
  assert.equal((await ask({ ...hello, model: 'echo' })).status, 200);

  const { preset, rules } = (await user.call('GET /api/workspace/rules')).body;
  const off = await user.call('PUT /api/workspace/rules', { preset, rules, programModels: false });
  assert.deepEqual(off.body, { preset, rules, programModels: false });
  assert.equal((await user.call('PUT /api/workspace/rules', { preset, rules })).body.programModels, false, 'it stays');
  const denied = await ask(hello);
  assert.deepEqual([denied.status, denied.body.error.code], [403, 'forbidden']);
  assert.equal((await send('v1/models')).status, 403);
  await user.call('PUT /api/workspace/rules', { preset, rules, programModels: true });

  const budget = { scope: 'person', userId: user.id, unit: 'tokens', period: 'day', limit: 1 };
  assert.equal((await admin.call('PUT /api/admin/budgets', { budgets: [budget] })).status, 200);
  const exhausted = await ask(hello);
  assert.deepEqual([exhausted.status, exhausted.body.error.code], [429, 'budget_exhausted']);
  assert.ok(exhausted.body.error.details.resetsAt);
  await admin.call('PUT /api/admin/budgets', { budgets: [] });
});

test("a provider's failure has its status before the first piece, an error event after it, and never shows a key", async () => {
  const { ask } = await person(['leak', 'stream-error']);
  for (const stream of [false, true]) {
    const refused = await ask({ ...hello, model: 'leak', stream });
    assert.deepEqual([refused.status, refused.body.error.code], [502, 'provider_error'], refused.text);
    assert.doesNotMatch(refused.text, /sk-|Incorrect API key/);
  }
  const broken = await ask({ ...hello, model: 'stream-error', stream: true });
  assert.equal(broken.status, 200);
  assert.equal(events(broken.text).at(-1).error.code, 'upstream_error');
  assert.doesNotMatch(broken.text, /\[DONE\]|bad key/);
});

describe("revoking access ends a program's model call within seconds, at every replica", () => {
  let replica: TestApp;
  let clock: ManualClock;
  before(async () => {
    clock = manualTimers();
    replica = await startTestApp({ database: app.database, workspaceRuntime: runtime, clock });
  });
  after(() => replica.stop());

  const ends: Record<string, (user: SignedIn) => Promise<unknown>> = {
    'when its account is disabled': (user) =>
      app.database.database.pool.query('update users set enabled = false where id = $1', [user.id]),
    'when its account is deleted': (user) =>
      app.database.database.pool.query('delete from workspaces where user_id = $1', [user.id]),
    'when its workspace gets another token': (user) =>
      app.database.database.pool.query(`update workspaces set model_token_hash = 'x' where user_id = $1`, [user.id]),
    'when its workspace is stopped': (user) => user.call('DELETE /api/workspace/status'),
    'when the user switches models for programs off': async (user) => {
      const { preset, rules } = (await user.call('GET /api/workspace/rules')).body;
      await user.call('PUT /api/workspace/rules', { preset, rules, programModels: false });
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    test(name, async () => {
      const { user, modelToken } = await person(['hang-3']);
      const call = async (stream: boolean) => {
        const answer = await fetch(`${replica.url}/api/internal/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${modelToken}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...hello, model: 'hang-3', stream }),
        });
        return { status: answer.status, text: await answer.text() };
      };
      const asked = () => provider.requests.filter(({ body }) => body.model === 'hang-3').length;
      const before = asked();
      const calls = [call(true), call(false)];
      await until('both calls at the provider', () => asked() === before + 2);
      clock.advance(sessionCheckMs);
      await end(user);
      await until('the end of both calls', async () => {
        clock.advance(sessionCheckMs);
        return (
          (await Promise.race([Promise.all(calls), new Promise((resolve) => setImmediate(resolve))])) !== undefined
        );
      });
      const [streamed, whole] = await Promise.all(calls);
      assert.match(streamed?.text ?? '', /"code":"invalid_api_key"/);
      assert.deepEqual([whole?.status, JSON.parse(whole?.text ?? '').error.code], [401, 'unauthorized']);
      const cut = (await callsOf(app, user.id)).filter(({ estimated }) => estimated);
      assert.equal(cut.length, 2, 'both are in the ledger');
    });
  }
});

describe('answers a program in a real sandbox', { skip: whyNotAs('root') ?? false }, () => {
  let folder: string;
  let real: TestApp;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'homeport-programs-'));
    real = await startTestApp({ config: { workspaceMode: 'local', dataDir: folder }, alone: true });
  });
  after(async () => {
    await real?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(user: SignedIn, command: string): Promise<string> {
    const hold = await real.service.deps.workspaces.hold(user.id, 'exec');
    try {
      const body = JSON.stringify({ id: `c-${Math.random().toString(36).slice(2)}`, command });
      const headers = { 'content-type': 'application/json' };
      const answer = await hold.daemon.request('/v1/exec', { method: 'POST', headers, body });
      const lines = Buffer.concat(await answer.body.toArray())
        .toString()
        .trim()
        .split('\n');
      const received = lines.map((line) => execEvent.parse(JSON.parse(line)));
      return received.map((event) => (event.type === 'stdout' || event.type === 'stderr' ? event.data : '')).join('');
    } finally {
      await hold.release();
    }
  }

  test("curl, Python and OpenAI's client find all settings in the environment", async () => {
    const user = await real.signIn();
    await addModels(user, provider, ['echo']);
    assert.match(
      await run(user, 'curl -sS $OPENAI_BASE_URL/models -H "authorization: Bearer $OPENAI_API_KEY"'),
      /"echo"/,
    );
    const python = `import json, os, urllib.request
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions",
  json.dumps({"model": "default", "stream": True, "messages": [{"role": "user", "content": "from Python"}]}).encode(),
  {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"})
try: answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as error: answer = error
for line in answer: print(line.decode().strip())`;
    const streamed = await run(user, `python3 - <<'END'\n${python}\nEND`);
    assert.match(streamed, /"content":"[^"]*from/);
    assert.match(streamed, /data: \[DONE\]/);
    // As npm would install it.
    const client = dirname(createRequire(import.meta.url).resolve('openai'));
    cpSync(client, join(folder, 'workspaces', user.id, 'home/node_modules/openai'), { recursive: true });
    const node = `import OpenAI from 'openai';
const answer = await new OpenAI().chat.completions.create({ model: 'echo', messages: [{ role: 'user', content: 'from Node' }] });
console.log(answer.choices[0].message.content, answer.usage.total_tokens);`;
    assert.match(await run(user, `cat > ~/ask.mjs <<'END'\n${node}\nEND\nnode ~/ask.mjs`), /from Node.* \d+/s);
    const calls = await callsOf(real, user.id);
    assert.deepEqual(
      calls.map(({ kind }) => kind),
      ['program', 'program'],
    );
    const found = await run(
      user,
      'env; curl -s -o /dev/null -w "%{http_code}" $OPENAI_BASE_URL/chat/completions -d "{}"',
    );
    assert.doesNotMatch(found, /wst_/, "the workspace's own token is in no environment");
    assert.match(found, /401$/);
  });
});
