import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../contracts/test/until.ts';
import { chatDetail, createChat, submission, textOf } from './faults/conversation.ts';
import { installPackages } from './packages.ts';
import {
  addModels,
  type Caller,
  type Event,
  type Json,
  readEvents,
  scratchFolder,
  setUp,
  startProduct,
  startProvider,
} from './product.ts';

/** Three MCP servers that others wrote, as programs in the real sandbox of a workspace, used by a model. */

const probe = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-user', '--unshare-pid', 'true']);
const skip = probe.status === 0 || process.env.REQUIRE_SANDBOX === '1' ? false : 'no sandbox can be made here';
const node = '/opt/homeport/bin/node';
const scope = '@modelcontextprotocol';

test('runs MCP servers from npm in the sandbox, restarts killed ones, and ends them with the workspace', {
  timeout: 180_000,
  skip,
}, async () => {
  const dataDir = scratchFolder();
  const [product, provider] = await Promise.all([startProduct(dataDir, { WORKSPACE_MODE: 'local' }), startProvider()]);
  const user = await setUp(product.url);
  await addModels(user, provider.url, ['order']);
  await user.must('POST', '/api/workspace/status');
  const { id: userId } = (await user.must('GET', '/api/me')).user;
  const home = join(dataDir, 'workspaces', userId, 'home');
  // A name of its own: other tests run programs as well.
  const folder = `servers-${randomBytes(6).toString('hex')}`;
  const kinds = ['everything', 'filesystem', 'memory'] as const;
  installPackages(
    join(home, folder),
    kinds.map((kind) => `${scope}/server-${kind}`),
  );
  const fileOf = (kind: string) => join(folder, 'node_modules', scope, `server-${kind}`, 'dist/index.js');
  const running = () => kinds.filter((kind) => pidsOf(fileOf(kind)).length > 0);
  const secret = `precious-${randomBytes(9).toString('hex')}`;
  const add = async (kind: (typeof kinds)[number], args: string[], env: Record<string, string>) => {
    const program = { transport: 'stdio', command: node, args: [join('/home/user', fileOf(kind)), ...args], env };
    const { server } = await user.must('POST', '/api/mcp', { name: kind, ...program });
    assert.equal(server.lastError, null, kind);
    const { id, fingerprint } = server;
    const trusted = (await user.must('POST', '/api/mcp/trust', { id, fingerprint })).server;
    assert.equal(trusted.trustState, 'trusted');
    // Tools that say they have effects start as "ask".
    const toolPolicies = Object.fromEntries(trusted.tools.map(({ name }: Json) => [name, 'allow']));
    return (await user.must('PATCH', '/api/mcp', { id, toolPolicies })).server;
  };
  const servers = [
    await add('everything', [], { A_KEY: secret }),
    await add('filesystem', ['/home/user'], {}),
    // The environment variable moves the storage of the memory server into the home.
    await add('memory', [], { MEMORY_FILE_PATH: '/home/user/memory.jsonl' }),
  ];
  assert.ok(
    servers.every(({ tools, version }) => tools.length >= 8 && version !== ''),
    JSON.stringify(servers),
  );

  const orders = [
    'mcp__everything__echo {"message":"hello"}',
    'mcp__filesystem__write_file {"path":"/home/user/note.txt","content":"by a server"}',
    'mcp__filesystem__read_text_file {"path":"/etc/passwd"}',
    'mcp__memory__create_entities {"entities":[{"name":"Ada","entityType":"person","observations":["writes"]}]}',
    'mcp__memory__search_nodes {"query":"Ada"}',
  ].join('\n');
  const heard = await ask(user, orders);
  for (const part of [/Echo: hello/, /Successfully wrote/, /Access denied|outside allowed/, /writes/])
    assert.match(heard, part);
  assert.equal(readFileSync(join(home, 'note.txt'), 'utf8'), 'by a server');
  assert.match(readFileSync(join(home, 'memory.jsonl'), 'utf8'), /Ada/);
  assert.deepEqual(running(), kinds);

  // Killed between turns, then with the workspace: the next turn starts it again.
  for (const pid of pidsOf(fileOf('memory'))) process.kill(pid, 'SIGKILL');
  await until(async () => !running().includes('memory'));
  assert.match(await ask(user, 'mcp__memory__search_nodes {"query":"Ada"}'), /writes/);
  await user.must('DELETE', '/api/workspace/status');
  await until(async () => running().length === 0);
  assert.match(await ask(user, 'mcp__everything__echo {"message":"again"}'), /Echo: again/);
  await until(async () => running().length === 3);

  // A stopped call ends its own program only.
  const chatId = await createChat(user);
  const long = 'mcp__everything__trigger-long-running-operation {"duration":600,"steps":6000}';
  let isStopped = false;
  await ask(user, long, chatId, async ({ frame }) => {
    if (frame.type !== 'tool-output-available' || isStopped) return;
    isStopped = true;
    await user.must('POST', `/api/chat/${chatId}/stop`, {});
  });
  await until(async () => !running().includes('everything'));
  assert.deepEqual(running(), ['filesystem', 'memory']);

  // Another version of a program is not the one that was trusted.
  const source = join(home, fileOf('memory'));
  writeFileSync(source, readFileSync(source, 'utf8').replace(/version: "[^"]+"/, 'version: "666.0.0"'));
  for (const pid of pidsOf(fileOf('memory'))) process.kill(pid, 'SIGKILL');
  await until(async () => !running().includes('memory'));
  assert.doesNotMatch(await ask(user, 'mcp__memory__search_nodes {"query":"Ada"}'), /writes/);
  const listed = (await user.must('GET', '/api/mcp')).servers;
  assert.deepEqual(
    listed.map(({ name, trustState }: Json) => [name, trustState]),
    [
      ['everything', 'trusted'],
      ['filesystem', 'trusted'],
      ['memory', 'drifted'],
    ],
  );

  // None of our files contains the values passed to a program.
  assert.deepEqual(filesWith(dataDir, secret, home), []);
  for (const { id } of servers) await user.must('DELETE', `/api/mcp?id=${id}`);
  await until(async () => running().length === 0);
});

/** Requests calls of the tools; returns the results that the model received. */
async function ask(
  user: Caller,
  orders: string,
  given?: string,
  onEvent: (event: Event) => Promise<void> = async () => undefined,
): Promise<string> {
  const chatId = given ?? (await createChat(user));
  const id = `m-${randomBytes(6).toString('hex')}`;
  const { messageId } = await user.must('POST', '/api/chat/start', submission(chatId, id, orders));
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ chatId, messageId });
  const waits: Promise<void>[] = [];
  await readEvents(await user.fetch('/api/chat', { method: 'POST', headers, body }), (event) => {
    waits.push(onEvent(event));
    return false;
  });
  await Promise.all(waits);
  const [, answer] = (await chatDetail(user, chatId)).messages;
  return textOf(answer);
}

/** The processes of this machine with these words in their command line, without their supervisors. */
function pidsOf(words: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const [command, first] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return command === node && first?.endsWith(words);
      } catch {
        return false;
      }
    });
}

function filesWith(folder: string, words: string, except: string): string[] {
  const found = spawnSync('grep', ['-rlaF', '--', words, folder], { encoding: 'utf8' });
  return found.stdout.split('\n').filter((path) => path !== '' && !path.startsWith(except));
}
