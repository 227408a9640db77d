import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, test } from 'node:test';
import { type EndpointSpec, maxBodyBytes } from '@homeport/contracts/endpoint';
import { type EndpointName, endpoints } from '@homeport/contracts/endpoints';
import { limits } from '@homeport/contracts/limits';
import type { Json } from '../app.ts';
import { samples } from '../authorization/authorization-samples.ts';
import { beingBuilt } from '../authorization/authorization-samples-workspace.ts';
import { type Actor, type ActorKind, makeWorld, type World } from '../authorization/authorization-world.ts';
import { fill, fillingsOf, misshapen, shapelessBodies } from '../large-bodies.ts';

/** No JSON body, at the largest size of its endpoint, blocks other requests. */

const names = Object.keys(endpoints)
  .filter((name): name is EndpointName => Object.hasOwn(endpoints, name))
  .filter((name) => !beingBuilt.includes(name));
const bodied = names.filter((name) => specOf(name).body !== undefined);
/** Milliseconds of work that can block other requests. */
const longestTurn = 100;

let world: World;
before(async () => {
  world = await makeWorld('community');
});
after(() => world.stop());

type CallerKind = ActorKind | 'token';
const callers = new Map<CallerKind, Promise<Actor>>();

function kindOf({ access }: EndpointSpec): CallerKind {
  if (access === 'workspace' || access === 'token') return access;
  return access.startsWith('admin') ? 'administrator' : 'plain user';
}

/** A caller with access. */
function callerOf(spec: EndpointSpec): Promise<Actor> {
  const kind = kindOf(spec);
  const caller = callers.get(kind) ?? (kind === 'token' ? makeTokenHolder() : world.makeActor(kind));
  callers.set(kind, caller);
  return caller;
}

/** A user whose requests carry an access token. */
async function makeTokenHolder(): Promise<Actor> {
  const actor = await world.makeActor('plain user');
  const response = await fetch(`${world.app.url}/api/me/tokens`, {
    method: 'POST',
    headers: { ...actor.credentials, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Gateway', scopes: ['models', 'chats:write'], expiresAt: null }),
  });
  const { secret }: Json = await response.json();
  return { ...actor, credentials: { authorization: `Bearer ${secret}` } };
}

/** A valid body can end the caller's session: then the next body needs another caller. */
function forgetCallerAfter(spec: EndpointSpec, status: number, text: string): void {
  const isOut = status < 300 || /"(unauthorized|account_disabled|password_change_required)"/.test(text);
  if (isOut) callers.delete(kindOf(spec));
}

function specOf(name: EndpointName): EndpointSpec {
  return endpoints[name];
}

for (const [index, name] of bodied.entries()) {
  const spec = specOf(name);
  test(`${spec.method} ${spec.path}: no body of ${maxBodyBytes(spec)} bytes blocks other requests`, {
    timeout: 600_000,
  }, async () => {
    const sample = samples[name].request(await callerOf(spec)).body;
    // Loading and compiling at the first call don't count.
    const first = await send(name, await callerOf(spec), Buffer.from(JSON.stringify(sample ?? {})));
    forgetCallerAfter(spec, first.status, first.text);
    const fillings = fillingsOf(Math.min(maxBodyBytes(spec), limits.jsonBodyBytes));
    // Endpoints for bytes have readers of their own: a manifest's is a thread, and the registry's has a test below.
    const isBytes = spec.bytes !== undefined;
    const all = shapelessBodies(maxBodyBytes(spec));
    // They are refused regardless of the endpoint: one each, and all for each of the sizes.
    const shapeless = isFirstOfItsSize(name) ? all : all.filter((_, at) => at === index % all.length);
    for (const { why, body } of isBytes
      ? maxBodyBytes(spec) > limits.jsonBodyBytes
        ? all.slice(0, 2)
        : all
      : [...shapeless, ...misshapen(spec, sample, fillings)]) {
      await assertBrief(name, why, body);
    }
    if (isBytes) return;
    for (const { what, value } of isFirstOfItsSize(name)
      ? fillings
      : [fillings[index % fillings.length]].flatMap((one) => one ?? [])) {
      const known = JSON.stringify(samples[name].request(await callerOf(spec)).body ?? {});
      const body = `{"filler":${value},${known.slice(1)}`.replace(/,}$/, '}');
      await assertBrief(name, `${what} beside the rest`, body.slice(0, maxBodyBytes(spec)));
    }
  });
}

/** Among those with the same limit and the same kind of caller. */
function isFirstOfItsSize(name: EndpointName): boolean {
  const likeIt = (other: EndpointName) =>
    maxBodyBytes(specOf(other)) === maxBodyBytes(specOf(name)) && kindOf(specOf(other)) === kindOf(specOf(name));
  return bodied.find(likeIt) === name;
}

async function assertBrief(name: EndpointName, why: string, body: string): Promise<void> {
  const bytes = Buffer.from(body);
  // The machine has other work, too: a turn counts as too long only if it is so each time.
  let firstStatus: number | undefined;
  for (let tries = 1; ; tries += 1) {
    const actor = await callerOf(specOf(name));
    const { longest, result } = await longestTurnDuring(() => send(name, actor, bytes));
    const { status, text } = result;
    const isRefused =
      [400, 403, 404, 409, 413, 429].includes(status) ||
      /invalid_credentials|workspace_start_timeout|mcp_unreachable|search_error|upstream_error/.test(text);
    firstStatus ??= status;
    // The tenth wrong password has another status, after the same work with the body.
    if (firstStatus === 401 && status === 429) firstStatus = status;
    assert.equal(status, firstStatus, `${why}: another answer the second time shows nothing`);
    assert.ok(isRefused || status < 300, `${why}: ${status} ${text.slice(0, 300)}`);
    forgetCallerAfter(specOf(name), status, text);
    if (longest < longestTurn) return;
    const allowed = 4 * largestTextMs();
    assert.ok(longest < allowed || tries < 5, `${why}: ${longest} ms of work without a pause (${status}, ${allowed})`);
    if (longest < allowed) return;
  }
}

/** The current cost of parsing the largest body: a quarter of the longest turn on an idle machine. */
function largestTextMs(): number {
  const text = `"${fill('\\u20ac', limits.jsonBodyBytes - 2)}"`;
  const times = [1, 2, 3].map(() => {
    const before = processorMs();
    JSON.parse(text);
    return processorMs() - before;
  });
  return Math.min(...times);
}

test('a registry of the largest size does not block other requests', async () => {
  const facts = { name: 'n', context: 1, output: 1 };
  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`vendor/model-${index}`, value]));
  const longFacts = { ...facts, name: '€'.repeat(200) };
  const registries = {
    'many models': { p: { models: many(7_000, facts) } },
    'many providers': many(4_000, { baseUrl: 'https://a.example/v1', models: many(1, facts) }),
    'providers without models': many(9_500, { baseUrl: 'https://a.example/v1', models: {} }),
    'long names': { p: { models: many(7_000, longFacts) } },
    'a fault in each': { p: { models: many(29_000, 'no facts') } },
    'too many names': many(90_000, 1),
    'one long text': { p: { models: { one: { ...facts, name: '\u20ac'.repeat(800_000) } } } },
  };
  for (const [what, providers] of Object.entries(registries)) {
    const body = JSON.stringify({ source: 'a test', providers });
    assert.ok(body.length < maxBodyBytes(specOf('putModelRegistry')), `${what}: ${body.length} bytes`);
    await assertBrief('putModelRegistry', what, body);
  }
});

test('answers 413 for any body above the limit of its endpoint', { timeout: 600_000 }, async () => {
  for (const name of bodied) {
    const spec = specOf(name);
    const { status, text } = await send(name, await callerOf(spec), Buffer.alloc(maxBodyBytes(spec) + 1, ' '));
    assert.deepEqual([name, status], [name, 413], text);
  }
});

test('refuses a message above the limit of characters and states the limit', async () => {
  const user = await world.makeActor('plain user');
  for (const name of ['postChatStart', 'postTurnInput'] as const) {
    const sample: Json = samples[name].request(user).body;
    const message = (text: string) => ({
      id: `long-${name}`,
      parts: [
        { type: 'text', text: 'Look' },
        { type: 'text', text },
      ],
    });
    const long = { ...sample, message: message('x'.repeat(limits.messageTextMax + 1)) };
    const { status, text } = await send(name, user, Buffer.from(JSON.stringify(long)));
    const { error }: Json = JSON.parse(text);
    assert.deepEqual([status, error.code], [413, 'payload_too_large']);
    assert.deepEqual(error.details, [{ path: 'message.parts.1.text', message: 'At most 1000000 characters' }]);
    const fits = { ...sample, message: message('€'.repeat(limits.messageTextMax)) };
    assert.equal((await send(name, user, Buffer.from(JSON.stringify(fits)))).status, 201);
  }
});

test('accepts the largest documented body', async () => {
  const user = await world.makeActor('plain user');
  const administrator = await world.makeActor('administrator');
  const headers = Object.fromEntries(
    Array.from({ length: limits.headerCount }, (_, index) => [
      `x-${index}`.padEnd(limits.headerNameMax, 'a'),
      'é'.repeat(limits.headerValueMax),
    ]),
  );
  const provider = { name: 'Large', baseUrl: 'https://api.example.org/v1', headers };
  assert.equal((await send('postProvider', user, Buffer.from(JSON.stringify(provider)))).status, 201);
  const toolPolicies = Object.fromEntries(
    Array.from({ length: limits.mcpToolsPerServer }, (_, index) => [
      `${index}`.padEnd(limits.mcpToolNameMax, '工'),
      'ask',
    ]),
  );
  const server = { id: user.records.mcpServer, headers, toolPolicies };
  const patched = await send('patchMcpServer', user, Buffer.from(JSON.stringify(server)));
  assert.equal(patched.status, 200, patched.text.slice(0, 300));
  const svg = `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><desc>`.padEnd(
    limits.brandingImageMax - 13,
    '€',
  );
  const image = `${svg}</desc></svg>`;
  const config = { branding: { logoDataUrl: image, faviconDataUrl: image } };
  const branded = await send('postAdminConfig', administrator, Buffer.from(JSON.stringify(config)));
  assert.notEqual(branded.status, 413, branded.text.slice(0, 300));
});

async function send(name: EndpointName, actor: Actor, body: Buffer): Promise<{ status: number; text: string }> {
  const spec = specOf(name);
  const { params = {}, query = {}, headers = {} } = samples[name].request(actor);
  const path = spec.path.replace(/:(\w+)/g, (_, parameter) => params[parameter] ?? 'missing');
  const url = `${world.app.url}${path}?${new URLSearchParams(query)}`;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, {
      method: spec.method,
      agent: false,
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        ...(spec.access === 'public' ? {} : actor.credentials),
        ...headers,
      },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text: String(Buffer.concat(chunks)) }));
    });
    outgoing.end(body);
  });
}

/**
 * The most work, in milliseconds of processor time, between two turns of the event loop, during which other requests
 * wait.
 */
async function longestTurnDuring<T>(work: () => Promise<T>): Promise<{ longest: number; result: T }> {
  let longest = 0;
  let last = processorMs();
  let isRunning = true;
  const measure = (): void => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
    // Not at every turn: that would keep the processor busy while the database works.
    if (isRunning) setTimeout(measure, 1);
  };
  setImmediate(measure);
  const result = await work().finally(() => {
    isRunning = false;
  });
  measure();
  return { longest, result };
}

/** Of this thread alone: what other processes do on the machine does not count. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
