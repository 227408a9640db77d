import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { endpoints } from '@homeport/contracts/endpoints';
import fc from 'fast-check';
import { until } from '../contracts/test/until.ts';
import { startMcp, type TestMcp } from './browser/mcp-server.ts';
import { makePeople, type Outside, type Person, placeIds, refresh, subjectOf } from './fuzz/people.ts';
import { rawRequests, sendBytes } from './fuzz/raw.ts';
import { type FuzzRequest, requestsOf } from './fuzz/requests.ts';
import { type Json, type Running, scratchFolder, seedOf, startProduct, startProvider } from './product.ts';

/**
 * Fuzzes the built product with requests generated from its API description, valid, nearly valid and broken, and with
 * bytes that are not HTTP. The product answers every one as documented, in the one error shape, stays up and does not
 * grow. Use FUZZ_REQUESTS=20000 for full coverage.
 */

const total = Number(process.env.FUZZ_REQUESTS ?? 3_000);
const rawShare = 0.1;
const atOnce = 12;
const mostGrowthBytes = 100 * 1024 * 1024;
const streamPatienceMs = 3_000;
const tool = { name: 'echo', description: 'Says it again', inputSchema: { type: 'object' } };

/** Operations that cannot succeed here, with the reason. */
const refusedAlways = {
  'GET /api/auth/oauth2/callback/{providerKey}':
    'needs an identity provider and its signed answer to this very browser',
  'GET /api/mcp/oauth/callback': 'needs an authorization server and its answer to this very session',
  'POST /api/mcp/resources': 'needs a trusted MCP server with resources',
  'POST /api/mcp/prompts': 'needs a trusted MCP server with prompts',
  'POST /api/mcp/connect': 'needs an MCP server with an authorization server',
  'POST /api/auth/change-password': 'would sign the people of this test out for good',
  'POST /api/auth/sign-in/social': 'needs an identity provider',
  'POST /api/chat/{chatId}/approvals': 'needs a response that waits for a word on a tool; each can be given once',
  'POST /api/chat/{chatId}/answers': 'needs a response that waits for answers; each question can be answered once',
  'POST /api/skills/from-workspace': 'needs a workspace',
  'POST /api/setup': 'done before, and done once',
  'DELETE /api/me': 'would delete the people of this test, and is not sent',
  'GET /api/chats/context': 'needs an answer, and a messageId is that of a message here',
  'GET /api/chats/changes': 'needs an answer, and a messageId is that of a message here',
  'GET /api/chats/changes/file': 'needs an answer that changed files in a workspace',
  'POST /api/chats/changes/undo': 'needs an answer, and a messageId is that of a message here',
  'POST /api/chats/changes/redo': 'needs an answer, and a messageId is that of a message here',
  'PATCH /api/chats/summaries': 'needs a summary, which a long conversation gets',
  'DELETE /api/chats/summaries': 'needs a summary, which a long conversation gets',
  // Workspaces are switched off here, so nothing runs in one and none has files.
  ...Object.fromEntries(
    Object.values(endpoints)
      .filter((spec: EndpointSpec) => spec.access === 'workspace')
      .map((spec) => [operationOf(spec), 'needs the token of a running workspace']),
  ),
  ...Object.fromEntries(
    Object.values(endpoints)
      .filter(
        ({ path, method }) =>
          /^\/api\/workspace\/(?!rules)/.test(path) &&
          !['status', 'ports', 'processes'].map((name) => `GET /api/workspace/${name}`).includes(`${method} ${path}`),
      )
      .map((spec) => [operationOf(spec), 'needs a workspace']),
  ),
};

let product: Running;
let mcp: TestMcp;
let outside: Outside;
let people: Person[];
let document: Json;
const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
const statuses = new Map<string, number>();
const succeeded = new Map<string, number>();

before(async () => {
  const dataDir = scratchFolder();
  const [provider, started] = await Promise.all([startProvider(), startMcp([tool])]);
  mcp = started;
  outside = { providerUrl: provider.url, mcpUrl: mcp.url };
  product = await startProduct(dataDir, { TRUSTED_PROXIES: '127.0.0.0/8', LOG_LEVEL: 'error' });
  people = await makePeople(product, dataDir, outside, 2);
  document = await (await fetch(`${product.url}/api/openapi.json`)).json();
});
after(() => {
  agent.destroy();
  mcp?.close();
});

test(`answers ${total} fuzzed requests as documented, without a 500`, { timeout: 900_000 }, async () => {
  const seed = seedOf('fuzz');
  const startedAt = performance.now();
  const rawCount = Math.round(total * rawShare);
  const wanted = total - rawCount;
  await inParallel(fc.sample(requestsOf(document, people.length), { seed, numRuns: Math.ceil(wanted / 2) }));
  // By now the heap has its working size.
  const warm = residentBytes();
  await inParallel(fc.sample(requestsOf(document, people.length), { seed: seed + 1, numRuns: Math.floor(wanted / 2) }));
  await eachOf(fc.sample(rawRequests(), { seed, numRuns: rawCount }), checkRaw);
  await assertHealthy();
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const counts = [...statuses].sort().map(([status, count]) => `${status}: ${count}`);
  const growth = residentBytes() - warm;
  console.log(
    `fuzz: ${total} requests in ${seconds} s; ${counts.join(', ')}; memory ${Math.round(growth / 2 ** 20)} MiB`,
  );
  // Fewer requests are not enough: half of them do not warm the heap, and some endpoints get only refused requests.
  if (total >= 20_000) {
    assert.ok(growth < mostGrowthBytes, `${Math.round(growth / 2 ** 20)} MiB more than half-way`);
    // Some are rare: a few more requests before concluding that one never answers.
    for (let more = 2; more < 5 && neverSucceeded().length > Object.keys(refusedAlways).length; more += 1) {
      await inParallel(fc.sample(requestsOf(document, people.length), { seed: seed + more, numRuns: 5_000 }));
    }
    assert.deepEqual(neverSucceeded(), Object.keys(refusedAlways).sort());
  }
  assert.equal(product.output(), '', 'something was logged as an error');
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);
});

function neverSucceeded(): string[] {
  const all = Object.values(endpoints).map((spec: EndpointSpec) => operationOf(spec));
  return all.filter((operation) => !succeeded.has(operation)).sort();
}

function operationOf(spec: EndpointSpec): string {
  return `${spec.method} ${spec.path.replace(/:(\w+)/g, '{$1}')}`;
}

function inParallel(requests: FuzzRequest[]): Promise<void> {
  return eachOf(requests, check);
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let failure: unknown;
  const worker = async (): Promise<void> => {
    while (next < items.length && failure === undefined) {
      const item = items[next];
      next += 1;
      if (next % 1_000 === 0) {
        await assertHealthy();
        // Another request can have ended this session meanwhile.
        for (const person of people) await refresh(person, outside).catch(() => person.signIn());
      }
      if (item === undefined) return;
      await work(item).catch((error: unknown) => {
        failure ??= error;
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failure !== undefined) throw failure;
}

async function assertHealthy(): Promise<void> {
  assert.equal(product.child.exitCode, null, `The product ended:\n${product.output()}`);
  // 503 means that the database was slower than the probe waits, for example on a busy machine.
  await until('the service is well', async () => {
    const response = await fetch(`${product.url}/api/health`);
    const body = JSON.stringify(await response.json());
    assert.ok([200, 503].includes(response.status), body);
    return response.status === 200 && body === '{"ok":true}';
  });
}

async function allowAll(): Promise<void> {
  const everything = { all: true, providerSettingsEnabled: true, mcpSettingsEnabled: true };
  const allow = () => people[0]?.caller.call('PATCH', '/api/admin/users', everything);
  if ((await allow())?.status !== 401) return;
  await people[0]?.signIn();
  await allow();
}

type Answered = { status: number; headers: IncomingMessage['headers']; body: Buffer; isWhole: boolean };

async function check(request: FuzzRequest): Promise<void> {
  const sender = request.caller === undefined ? undefined : people[request.caller];
  const target = placeIds(request.target, request.target, sender, people).replaceAll(
    '%40provider%40',
    encodeURIComponent(outside.providerUrl),
  );
  // Few sign out, because everything after it would be answered 401.
  const isSignOut = target.startsWith('/api/auth/sign-out') && request.headers.length === 0;
  const headers = [...request.headers];
  if (sender !== undefined && !isSignOut) headers.push(['cookie', sender.caller.cookie]);
  const answered = await send({ ...request, target, headers, body: placedBody(request, sender) });
  const where = `${request.method} ${target}\n${headers.map((pair) => pair.join(': ')).join('\n')}\n\n${
    placedBody(request, sender)?.toString().slice(0, 2_000) ?? ''
  }\n=> ${answered.status} ${answered.body.toString().slice(0, 2_000)}`;
  statuses.set(String(answered.status), (statuses.get(String(answered.status)) ?? 0) + 1);
  checkAnswer(request, answered, where);
  const body = jsonOf(answered);
  if (answered.status < 300) {
    subjectOf(request.target, sender, people)?.learn(body);
    if (request.method === 'DELETE') {
      const id = new URL(target, product.url).searchParams.get('id');
      if (id !== null) subjectOf(request.target, sender, people)?.forget(id);
    }
    if (request.operation === 'PUT /api/invitations') people[0]?.forget(parseSent(placedBody(request, sender)).token);
    // A switch for all accounts.
    if (body?.updated !== undefined) await allowAll();
    // Budgets of this request can block every person.
    if (request.operation === 'PUT /api/admin/budgets') await people[0]?.caller.call('PUT', target, { budgets: [] });
    const sent = answered.status === 201 && body?.messageId !== undefined ? placedBody(request, sender) : undefined;
    if (sent !== undefined) sender?.submitted(parseSent(sent).chatId, body.messageId);
    if (request.operation !== undefined) succeeded.set(request.operation, (succeeded.get(request.operation) ?? 0) + 1);
  }
  if (answered.status === 401 && sender !== undefined) await sender.signIn();
}

/** Parses a body that the service accepted; it can begin with a byte order mark. */
function parseSent(body: Buffer | undefined): Json {
  return JSON.parse(String(body).replace(/^\ufeff/, ''));
}

function placedBody(request: FuzzRequest, sender: Person | undefined): Buffer | undefined {
  if (request.body === undefined || !request.body.includes('@')) return request.body;
  const text = request.body
    .toString('latin1')
    .replaceAll('@provider@', outside.providerUrl)
    .replaceAll('@mcp@', outside.mcpUrl);
  return Buffer.from(placeIds(text, request.target, sender, people), 'latin1');
}

function send(request: FuzzRequest): Promise<Answered> {
  const { hostname, port } = new URL(product.url);
  const length: [string, string][] =
    request.body === undefined ? [] : [['content-length', String(request.body.length)]];
  const headers = [['host', `${hostname}:${port}`], ...request.headers, ...length].flat();
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ agent, hostname, port, method: request.method, path: request.target, headers });
    outgoing.on('error', (error) =>
      reject(new Error(`${request.method} ${request.target} ${JSON.stringify(request.headers)}: ${error}`)),
    );
    // Has no effect if a response or an error came first.
    outgoing.on('close', () => reject(new Error(`${request.method} ${request.target}: closed without an answer`)));
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      let patience: NodeJS.Timeout | undefined;
      const finish = (isWhole: boolean): void => {
        clearTimeout(patience);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks), isWhole });
      };
      // All other responses are read completely, regardless of the speed of the machine.
      if (/^text\/event-stream/.test(response.headers['content-type'] ?? '')) {
        patience = setTimeout(() => {
          finish(false);
          response.destroy();
        }, streamPatienceMs);
      }
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => finish(true));
      response.on('error', () => finish(false));
      response.on('close', () => finish(false));
    });
    outgoing.end(request.body);
  });
}

/** Response of the probe when the database is slower than its time limit, for example on a busy machine. */
const slowDatabase = '{"ok":false}';

function isSlowDatabase({ target }: FuzzRequest, { status, body }: Answered): boolean {
  const { pathname } = new URL(target, 'http://localhost');
  return pathname === '/api/health' && status === 503 && body.toString() === slowDatabase;
}

const documentedCodes = (operation: Json, status: number): string[] =>
  operation.responses[status]?.description.split(', ') ?? [];

function checkAnswer(request: FuzzRequest, answered: Answered, where: string): void {
  const { status, headers } = answered;
  assert.ok(status !== 500 && status > 0, where);
  // Only workspaces are unavailable here, because they are switched off.
  const isOff =
    /^\S+ \/api\/(?:workspace\/|skills\/from-workspace$)/.test(request.operation ?? '') &&
    jsonOf(answered)?.error?.code === 'workspace_disabled';
  const isSlow = isSlowDatabase(request, answered);
  assert.ok(status !== 503 || isOff || isSlow || request.method === 'HEAD', where);
  if (!new URL(request.target, 'http://localhost').pathname.startsWith('/api/')) return;
  assert.equal(typeof headers['x-request-id'], 'string', where);
  assert.ok(headers['cache-control'] === 'no-store' || status < 300, where);
  const operation = request.operation === undefined ? undefined : operationAt(request.operation);
  if (status < 400) {
    if (operation === undefined) assert.ok(status === 200 || status === 204, where);
    else assert.ok(String(status) in operation.responses, `undocumented status: ${where}`);
    checkSuccess(request, answered, where);
    return;
  }
  if (isSlow || request.method === 'HEAD') return;
  const { error } = jsonOf(answered) ?? {};
  assert.deepEqual(
    Object.keys(error ?? {})
      .sort()
      .filter((name) => name !== 'details'),
    ['code', 'message', 'requestId'],
    where,
  );
  assert.equal(error.requestId, headers['x-request-id'], where);
  assert.ok(typeof error.message === 'string' && error.message.length > 5 && error.message.length < 500, where);
  assert.doesNotMatch(error.message, /select |insert |postgres|\n {4}at |\.ts:|node:|\[object/i, where);
  const codes =
    operation === undefined
      ? document.components.schemas.Error.properties.error.properties.code.enum
      : documentedCodes(operation, status);
  // An odd enough path parameter makes another path.
  if (!request.operation?.includes('{')) assert.ok(codes.includes(error.code), `undocumented code: ${where}`);
}

function operationAt(operation: string): Json {
  const [method = '', path = ''] = operation.split(' ');
  return document.paths[path][method.toLowerCase()];
}

function checkSuccess(request: FuzzRequest, answered: Answered, where: string): void {
  const spec: EndpointSpec | undefined = Object.values(endpoints).find(
    (candidate) => operationOf(candidate) === request.operation,
  );
  const schema = spec === undefined || answered.status !== statusOf(spec) ? undefined : spec.response;
  if (schema === undefined || schema === 'file' || schema === 'events' || !answered.isWhole) return;
  if (schema === 'stream') {
    // Empty if the conversation has been deleted.
    const events = /^(?:(?:id: \d+\ndata: \{.*\}|: keep-alive|(?:id: \d+\n)?data: \[DONE\])\n\n)*$/;
    assert.match(answered.body.toString(), events, where);
    return;
  }
  const type = answered.headers['content-type']?.split(';')[0] ?? '';
  if (spec?.fileTypes?.includes(type)) return;
  const result = schema.safeParse(jsonOf(answered));
  assert.ok(result.success, `not what the description says: ${result.error}\n${where}`);
}

function statusOf(spec: EndpointSpec): number {
  return spec.status ?? 200;
}

function jsonOf({ headers, body }: Answered): Json {
  if (!(headers['content-type'] ?? '').startsWith('application/json') || body.length === 0) return undefined;
  return JSON.parse(body.toString());
}

/** The same as bytes: head and body. */
const slowProbes = new RegExp(`HTTP/1\\.1 503 .*\r\n(?:.+\r\n)*\r\n${slowDatabase}`, 'g');

/** No response on the connection is a server error, and those with a body have the one shape. */
async function checkRaw(bytes: Buffer): Promise<void> {
  const received = await sendBytes(product.url, bytes);
  const where = `${JSON.stringify(bytes.toString('latin1').slice(0, 3_000))}\n=> ${received.slice(0, 2_000)}`;
  const text = received.replaceAll(slowProbes, '');
  assert.doesNotMatch(text, /HTTP\/1\.1 5\d\d /, where);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0);
  statuses.set(`raw ${status}`, (statuses.get(`raw ${status}`) ?? 0) + 1);
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end);
  // Outside /api there are pages, without the error shape.
  const isPage = /^content-type: text\/(?:html|plain)/im.test(head);
  if (status < 400 || isPage) return;
  // Another response may follow it.
  const body = text.slice(end + 4).slice(0, Number(/^content-length: (\d+)$/im.exec(head)?.[1]));
  const id = /^x-request-id: (\S+)$/im.exec(head)?.[1];
  assert.ok(id !== undefined, where);
  assert.match(head, /^cache-control: no-store$/im, where);
  assert.equal(JSON.parse(body).error.requestId, id, where);
}

/** Resident memory of the product's process; 0 if the system does not say. */
function residentBytes(): number {
  try {
    return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${product.child.pid}/status`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}
