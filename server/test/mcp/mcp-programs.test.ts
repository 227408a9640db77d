import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat } from '../chat/chat-harness.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';

/** MCP servers that are programs in their owner's workspace: the reference server, and ones that misbehave. */

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
const everything = { transport: 'stdio', command: process.execPath, args: [join(dirname(manifest), 'dist/index.js')] };
const runtime = new ProcessRuntime();
let app: TestApp;
before(async () => {
  app = await startTestApp({ workspaceRuntime: runtime });
});
after(async () => {
  await app.stop();
  await runtime.destroy();
});

async function add(user: SignedIn, fields: object) {
  const { status, body, text } = await user.call('POST /api/mcp', { name: 'Program', ...fields });
  assert.equal(status, 201, text);
  return body.server;
}

const perl = (script: string) => ({ transport: 'stdio', command: 'perl', args: ['-e', script] });
const speak = String.raw`$| = 1; while (<STDIN>) { next unless /"id":(\d+)/; my $id = $1;
  my $result = /"initialize"/ ? '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"p","version":"VERSION"}}'
    : '{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}';
  print "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}\n"; }`;

test('the reference server is listed, trusted and called, ends with the workspace and comes back', async () => {
  const user = await app.signIn();
  const made = await add(user, { ...everything, env: { SECRET_KEY: 'precious-value' } });
  assert.equal(made.lastError, null);
  assert.ok(made.tools.length >= 10, `${made.tools.length} tools`);
  assert.deepEqual([made.url, made.command, made.hasEnv], ['', process.execPath, true]);
  const { id, fingerprint } = made;
  assert.doesNotMatch((await user.call('GET /api/mcp')).text, /precious/);
  const detail = await user.call('GET /api/mcp', undefined, { query: { id } });
  assert.deepEqual(detail.body.server.env, { SECRET_KEY: 'precious-value' });
  const { rows } = await app.database.database.pool.query('select env from mcp_servers where id = $1', [id]);
  assert.match(rows[0].env, /^v2\./);
  assert.equal((await user.call('POST /api/mcp/trust', { id, fingerprint })).body.server.trustState, 'trusted');
  assert.match(await call(user, 'get-env', {}), /precious-value/);
  assert.match(await call(user, 'echo', { message: 'hi' }), /Echo: hi/);
  await user.call('DELETE /api/workspace/status');
  assert.match(await call(user, 'echo', { message: 'again' }), /Echo: again/);
  assert.equal((await user.call('POST /api/mcp/test', { id })).body.drift.changed, false);
});

test('trust covers command, arguments, environment and version', async () => {
  const user = await app.signIn();
  const { id } = await add(user, perl(speak));
  await user.call('POST /api/mcp/trust', { id });
  const state = async (body: object) => (await user.call('PATCH /api/mcp', { id, ...body })).body.server.trustState;
  assert.equal(await state({ name: 'Renamed' }), 'trusted');
  const changes = [{ args: ['-e', `${speak} `] }, { env: { A: 'b' } }, { env: {} }];
  for (const change of changes) {
    assert.equal(await state(change), 'untrusted', JSON.stringify(change));
    assert.equal((await user.call('POST /api/mcp/trust', { id })).body.server.trustState, 'trusted');
  }
  const home = await user.call('POST /api/workspace/status');
  assert.equal(home.status, 200);
  const one = await user.call('POST /api/mcp/test', { id });
  assert.deepEqual([one.body.drift.changed, one.body.server.version], [false, 'VERSION']);
  const folder = join(await homeOf(user), 'servers');
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'speak.pl');
  await writeFile(file, speak);
  const installed = await add(user, { transport: 'stdio', command: 'perl', args: [file] });
  await user.call('POST /api/mcp/trust', { id: installed.id });
  await writeFile(file, speak.replace('VERSION', '2.0'));
  await user.call('DELETE /api/workspace/status');
  await user.call('POST /api/workspace/status');
  const updated = await user.call('POST /api/mcp/test', { id: installed.id });
  assert.deepEqual([updated.body.drift.changed, updated.body.drift.modified], [true, []], updated.text);
  assert.equal(updated.body.server.version, '2.0');
});

test('a program that announces other tools is listed again before it is offered', async () => {
  const user = await app.signIn();
  const changing = String.raw`$| = 1; my $more = ''; while (<STDIN>) { next unless /"id":(\d+)/; my $id = $1;
    my $result = /"initialize"/ ? '{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"p","version":"1"}}'
      : /"tools\/call"/ ? '{"content":[]}' : '{"tools":[{"name":"echo","inputSchema":{"type":"object"}}' . $more . ']}';
    print "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}\n";
    next unless /"tools\/call"/;
    $more = ',{"name":"more","inputSchema":{"type":"object"}}';
    print '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' . "\n"; }`;
  const { id, fingerprint } = await add(user, perl(changing));
  await user.call('POST /api/mcp/trust', { id, fingerprint });
  await call(user, 'echo', {});
  const { findMcpTools } = await import('../../src/mcp/turn-tools.ts');
  await until(async () => {
    const codes: string[] = [];
    const request = { ownerId: user.id, chatId: await createChat(user), serverIds: null };
    const tools = await findMcpTools(app.service.deps, request, ({ code }) => codes.push(code));
    return tools.length === 0 && codes.join() === 'mcp_drifted';
  });
});

for (const [name, program, expected] of [
  ['does not exist', { transport: 'stdio', command: 'no-such-program-here' }, /exit code 127/],
  [
    'exits with a message that contains a secret',
    perl('print STDERR "bad key $ENV{KEY}"; exit 3'),
    /exit code 3\): bad key …/,
  ],
  ['prints only invalid messages', perl('print "hello\\n" x 3; exit 0'), /exit code 0/],
  ['floods messages', perl('$| = 1; print "{}\\n" while 1'), /too many messages/],
  ['writes an endless line', perl('$| = 1; my $x = "{" . "x" x 1e6; while (1) { print $x }'), /too large/],
] as const) {
  test(`a program that ${name} leaves an error and no process`, async () => {
    const user = await app.signIn();
    const server = await add(user, { ...program, env: { KEY: 'precious-value' } });
    assert.match(server.lastError, expected);
    assert.doesNotMatch(server.lastError, /precious/);
    await until(async () => (await processes(user)) === 0);
  });
}

test('requires the fields of a program, and a workspace', async () => {
  const user = await app.signIn();
  for (const [body, path] of [
    [{ transport: 'stdio' }, 'command'],
    [{ transport: 'http' }, 'url'],
    [{ transport: 'stdio', command: 'x', env: { 'not a name': 'x' } }, 'env'],
  ] as const) {
    const { status, body: answer } = await user.call('POST /api/mcp', { name: 'P', ...body });
    assert.equal(status, 400);
    assert.ok(answer.error.details[0].path.startsWith(path), JSON.stringify(answer));
  }
  const without = await startTestApp();
  try {
    const other = await without.signIn();
    const made = await other.call('POST /api/mcp', { name: 'P', ...everything });
    assert.match(made.body.server.lastError, /runs in the workspace/);
  } finally {
    await without.stop();
  }
});

async function call(user: SignedIn, name: string, input: Record<string, unknown>): Promise<string> {
  const { findMcpTools } = await import('../../src/mcp/turn-tools.ts');
  const request = { ownerId: user.id, chatId: await createChat(user), serverIds: null };
  const notices: unknown[] = [];
  const tools = await findMcpTools(app.service.deps, request, (notice) => notices.push(notice));
  const tool = tools.find((candidate) => candidate.name.endsWith(`__${name}`));
  assert.ok(tool, JSON.stringify(notices));
  return JSON.stringify(await tool.call(input, new AbortController().signal));
}

async function processes(user: SignedIn): Promise<number> {
  const hold = await app.service.deps.workspaces.hold(user.id, 'exec');
  const health = await hold.daemon.health();
  await hold.release();
  return health.active.processes;
}

function homeOf(user: SignedIn): Promise<string> {
  return runtime.homeOf(user.id);
}
