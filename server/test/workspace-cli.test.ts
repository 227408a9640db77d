import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build } from 'esbuild';
import { type Json, type SignedIn, startTestApp, type TestApp } from './app.ts';
import { createChat, makeProject, paths, put } from './artifact-makers.ts';
import { until } from './chat-harness.ts';
import { answer, makeChat, say } from './conversation-makers.ts';
import { ProcessRuntime } from './fakes/process-runtime.ts';
import { enterWorkspace } from './workspace-caller.ts';

/** The `homeport` command as a process of its own, against the whole service, and against services that are broken. */

const source = join(import.meta.dirname, '../../workspace/src/cli/main.ts');
/** Built as it ships: from its sources each start would take five times as long. */
let program: string;
const runtime = new ProcessRuntime();
let app: TestApp;
let user: SignedIn;
let folder: string;
let tokenFile: string;
let socket: Server;
const servers: Server[] = [];
before(async () => {
  app = await startTestApp({ workspaceRuntime: runtime, config: { artifactMaxUploadBytes: 160 * 1024 * 1024 } });
  user = await app.signIn();
  folder = await mkdtemp(join(tmpdir(), 'homeport-cli-'));
  ({ tokenFile } = await enterWorkspace(app, runtime, user));
  program = join(folder, 'cli.cjs');
  await build({
    entryPoints: [source],
    outfile: program,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
  });
  socket = createServer((incoming, outgoing) => app.service.server.emit('request', incoming, outgoing));
  await new Promise<void>((resolve) => socket.listen(join(folder, 'control.sock'), resolve));
});
after(async () => {
  for (const server of [socket, ...servers]) {
    server.closeAllConnections();
    server.close();
  }
  await runtime.destroy();
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

type Run = { code: number | null; out: string; bytes: Buffer; error: string };
type Options = { env?: Record<string, string | undefined>; input?: string | Buffer; cwd?: string };

function start(args: readonly string[], { env = {}, cwd = folder }: Options = {}): ChildProcess {
  const environment = { PATH: process.env.PATH, HOMEPORT_URL: app.url, HOMEPORT_TOKEN_FILE: tokenFile, ...env };
  return spawn(process.execPath, [program, ...args], { env: environment, cwd, stdio: 'pipe' });
}

async function finish(child: ChildProcess): Promise<Run> {
  const out: Buffer[] = [];
  let error = '';
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => {
    error += chunk;
  });
  const [code] = await once(child, 'close');
  const bytes = Buffer.concat(out);
  return { code, bytes, out: bytes.toString(), error };
}

function run(args: readonly string[], options: Options = {}): Promise<Run> {
  const child = start(args, options);
  child.stdin?.on('error', () => undefined).end(options.input ?? '');
  return finish(child);
}

/** Fails when the command does. */
async function done(args: readonly string[], options: Options = {}): Promise<Run> {
  const result = await run(args, options);
  assert.equal(result.code, 0, `${args.join(' ')}: ${result.error}`);
  assert.equal(result.error, '');
  return result;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

const newFolder = () => mkdtemp(join(folder, 'work-'));

test('help needs no workspace, and every command has its page', async () => {
  const env = { HOMEPORT_URL: undefined, HOMEPORT_TOKEN_FILE: undefined };
  const { out } = await done(['help'], { env });
  const names = [...out.matchAll(/^ {2}homeport ((?:conversations|artifacts \w+))/gm)].map(([, name = '']) => name);
  assert.deepEqual(names, [
    'conversations',
    ...['ls', 'stat', 'get', 'put', 'mv', 'rm'].map((verb) => `artifacts ${verb}`),
  ]);
  for (const name of names) {
    const page = await done(['help', ...name.split(' ')], { env });
    assert.match(page.out, new RegExp(`\\n  homeport ${name} `));
    assert.match(page.out, /--json/);
  }
  assert.equal(
    (await done(['artifacts', 'put', '--help'], { env })).out,
    (await done(['help', 'artifacts', 'put'], { env })).out,
  );
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../workspace/package.json'), 'utf8'));
  assert.equal((await done(['--version'], { env })).out, `homeport ${version}\n`);
});

test('what is typed wrongly is 2, says why on stderr, and nothing on stdout', async () => {
  const wrong: [args: string[], reason: RegExp][] = [
    [[], /Say what to do/],
    [['artefacts'], /no command `artefacts`/],
    [['artifacts', 'list'], /no command `artifacts list`/],
    [['artifacts', 'ls', '--colour', '--chat', 'x'], /--colour/],
    [['artifacts', 'ls'], /of which conversation or project/],
    [['artifacts', 'ls', '--chat', 'a', '--project', 'b'], /not both/],
    [['artifacts', 'ls', '--chat', '../a'], /no id/],
    [['artifacts', 'stat', '--chat', 'x'], /Something is missing/],
    [['artifacts', 'put', '-', '--chat', 'x'], /Say the path/],
    [['artifacts', 'put', 'f', '--chat', 'x', '--on-conflict', 'ask'], /rename, replace, fail/],
    [['artifacts', 'rm', '--chat', 'x'], /Say what to delete/],
    [['artifacts', 'rm', '--prefix', 'x', '--chat', 'x'], /needs a yes/],
    [['conversations', 'x', '--turn', '0'], /a number from 1/],
    [['conversations', 'x', '--turn', '1', '--full'], /not both/],
    [['conversations', 'current'], /HOMEPORT_SCOPE names no conversation/],
    [['help', 'everything'], /no command `everything`/],
  ];
  await Promise.all(
    wrong.map(async ([args, reason]) => {
      const { code, out, error } = await run(args);
      assert.deepEqual([code, out], [2, ''], args.join(' '));
      assert.match(error, reason);
      assert.match(error, /^homeport: [^\n]+\n(?:[^\n]+\n)?$/, 'one line, and one of what to do');
    }),
  );
  const { code, error } = await run(['artifacts', 'ls', '--json'], { env: { HOMEPORT_SCOPE: 'nonsense' } });
  assert.deepEqual([code, JSON.parse(error).error.exitCode], [2, 2]);
});

for (const door of ['TCP', 'a unix socket']) {
  test(`artifacts go up, are listed, looked at, moved, come down and go, over ${door}`, async () => {
    const chatId = await createChat(user);
    const cwd = await newFolder();
    const env = {
      HOMEPORT_SCOPE: `chat:${chatId}`,
      ...(door === 'TCP' ? {} : { HOMEPORT_URL: `unix:${join(folder, 'control.sock')}` }),
    };
    const bytes = randomBytes(300_000);
    await writeFile(join(cwd, 'räw.bin'), bytes);
    const up = JSON.parse((await done(['artifacts', 'put', 'räw.bin', 'data/', '--json'], { env, cwd })).out);
    assert.deepEqual([up.path, up.size], ['data/räw.bin', bytes.length]);
    assert.equal(up.sha256, createHash('sha256').update(bytes).digest('hex'));
    assert.match(
      (await done(['artifacts', 'put', '-', 'note.txt'], { env, input: 'hello' })).out,
      /^Saved as note\.txt \(5 B, id /,
    );
    assert.match(
      (await done(['artifacts', 'put', '-', './note.txt'], { env, input: 'again' })).out,
      /^Saved as note \(2\)\.txt/,
    );
    await done(['artifacts', 'put', '-', 'note.txt', '--on-conflict', 'replace', '--type', 'text/markdown'], {
      env,
      input: 'new',
    });
    const { out } = await done(['artifacts', 'ls'], { env });
    assert.match(
      out,
      /^ +SIZE {2}CREATED {11}PATH\n300 kB {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}data\/räw\.bin\n {3}5 B .* note \(2\)\.txt\n {3}3 B .* note\.txt\n$/,
    );
    const listed = JSON.parse((await done(['artifacts', 'ls', 'data/', '--json'], { env })).out);
    assert.deepEqual(listed, { artifacts: [up], nextCursor: null });
    assert.match((await done(['artifacts', 'ls', '-q', 'NOTE', '-l'], { env })).out, /text\/markdown +note\.txt\n$/);
    assert.match(
      (await done(['artifacts', 'stat', 'note.txt'], { env })).out,
      /^Path: {5}note\.txt\n.*\nIn: {7}chat /s,
    );
    assert.deepEqual((await done(['artifacts', 'get', up.id, '-'], { env })).bytes, bytes);
    assert.equal(
      (await done(['artifacts', 'get', up.id], { env, cwd: await newFolder() })).out,
      'Saved räw.bin (300 kB)\n',
    );
    await done(['artifacts', 'mv', up.id, 'moved/'], { env });
    await done(['artifacts', 'mv', 'moved', 'there'], { env });
    assert.deepEqual(await paths(user, { chatId }), ['note (2).txt', 'note.txt', 'there/räw.bin']);
    assert.equal((await done(['artifacts', 'rm', 'note.txt', 'note (2).txt'], { env })).out, 'Deleted 2 files.\n');
    assert.equal(
      (await done(['artifacts', 'rm', '--prefix', 'there/', '--yes', '--json'], { env })).out,
      '{"ok":true,"deleted":1}\n',
    );
    assert.deepEqual(await paths(user, { chatId }), []);
  });
}

test('a download has the name it is given, overwrites what is named and nothing else, and follows links', async () => {
  const chatId = await createChat(user);
  const uuidPath = randomUUID();
  await put(user, { chatId }, 'a.txt', 'content');
  await put(user, { chatId }, uuidPath, 'a path like an id');
  const cwd = await newFolder();
  const env = { HOMEPORT_SCOPE: `chat:${chatId}` };
  const at = (name: string) => readFileSync(join(cwd, name), 'utf8');
  await writeFile(join(cwd, 'a.txt'), 'mine');
  const taken = await run(['artifacts', 'get', 'a.txt'], { env, cwd });
  assert.deepEqual([taken.code, at('a.txt')], [6, 'mine']);
  assert.match(taken.error, /a\.txt is there already\nAdd --force/);
  await done(['artifacts', 'get', 'a.txt', '--force'], { env, cwd });
  await mkdir(join(cwd, 'sub'));
  await done(['artifacts', 'get', 'a.txt', '-o', 'sub'], { env, cwd });
  await done(['artifacts', 'get', 'a.txt', 'sub/b.txt'], { env, cwd });
  await writeFile(join(cwd, 'real'), 'old');
  await symlink('real', join(cwd, 'link'));
  await done(['artifacts', 'get', 'a.txt', '-o', 'link'], { env, cwd });
  assert.deepEqual(['a.txt', 'sub/a.txt', 'sub/b.txt', 'real', 'link'].map(at), Array(5).fill('content'));
  await done(['artifacts', 'get', 'a.txt', '-o', '/dev/null'], { env, cwd });
  assert.equal((await done(['artifacts', 'get', `./${uuidPath}`, '-'], { env })).out, 'a path like an id');
  assert.equal((await run(['artifacts', 'get', uuidPath, '-'], { env })).code, 3);
  const nowhere = await run(['artifacts', 'get', 'a.txt', '-o', 'none/a.txt'], { env, cwd });
  assert.deepEqual(
    [nowhere.code, nowhere.error],
    [1, 'homeport: Cannot write none/a.txt: there is no such file or folder\n'],
  );
  assert.deepEqual(readdirSync(cwd).sort(), ['a.txt', 'link', 'real', 'sub']);
});

test('exit codes say what went wrong: not there, not allowed, not reachable, in the way, no room', async () => {
  const chatId = await createChat(user);
  const other = await app.signIn();
  const theirs = await createChat(other);
  const projectId = await makeProject(app.database.database.pool, [other.id]);
  await put(user, { chatId }, 'a.txt');
  const chat = ['--chat', chatId];
  const gone = join(folder, 'gone-token');
  await writeFile(gone, `wst_${'A'.repeat(43)}\n`);
  const big = join(folder, 'big');
  await writeFile(big, '');
  await import('node:fs/promises').then(({ truncate }) => truncate(big, 161 * 1024 * 1024));
  const cases: [args: string[], code: number, error: RegExp, env?: Record<string, string | undefined>][] = [
    [['artifacts', 'stat', 'none', ...chat], 3, /Artifact not found/],
    [['artifacts', 'ls', '--chat', theirs], 3, /Conversation not found/],
    [['artifacts', 'ls', '--project', projectId], 3, /Project not found/],
    [['conversations', theirs], 3, /Conversation not found/],
    [['conversations', chatId, '--turn', '7'], 3, /0 turns/],
    [['artifacts', 'rm', '--prefix', 'none', '-y', ...chat], 3, /nothing below none/],
    [['artifacts', 'ls', ...chat], 4, /restarts/, { HOMEPORT_TOKEN_FILE: gone }],
    [
      ['artifacts', 'ls', ...chat],
      4,
      /Cannot read the workspace's token/,
      { HOMEPORT_TOKEN_FILE: join(folder, 'none') },
    ],
    [['artifacts', 'ls', ...chat], 4, /HOMEPORT_TOKEN_FILE is not set/, { HOMEPORT_TOKEN_FILE: undefined }],
    [['artifacts', 'ls', ...chat], 5, /HOMEPORT_URL is not set/, { HOMEPORT_URL: undefined }],
    [['artifacts', 'ls', ...chat], 5, /Cannot reach .*nothing answers there/, { HOMEPORT_URL: 'http://127.0.0.1:1' }],
    [
      ['artifacts', 'ls', ...chat],
      5,
      /Cannot reach .*no such file/,
      { HOMEPORT_URL: `unix:${join(folder, 'none.sock')}` },
    ],
    [['artifacts', 'ls', ...chat], 2, /HOMEPORT_URL is neither/, { HOMEPORT_URL: 'ftp://example.org' }],
    [['artifacts', 'put', tokenFile, 'a.txt', '--on-conflict', 'fail', ...chat], 6, /--on-conflict/],
    [['artifacts', 'mv', 'a.txt', '../a.txt', ...chat], 2, /Leads out of its namespace/],
    [['artifacts', 'put', join(folder, 'none'), ...chat], 1, /Cannot read .*no such file/],
    [['artifacts', 'put', folder, ...chat], 2, /is a folder/],
    [['artifacts', 'put', big, ...chat], 7, /larger than/],
  ];
  for (const [args, code, error, env] of cases) {
    const result = await run(args, env === undefined ? {} : { env });
    assert.deepEqual([result.code, result.out], [code, ''], `${args.join(' ')}: ${result.error}`);
    assert.match(result.error, error);
  }
  const { error } = await run(['artifacts', 'stat', 'none', ...chat, '--json']);
  const told: Json = JSON.parse(error);
  assert.deepEqual([told.error.code, told.error.exitCode], ['not_found', 3]);
});

test('conversations are listed and read, as Markdown and as JSON', async () => {
  const db = app.database.database;
  const speaker = await app.signIn();
  const env = { HOMEPORT_TOKEN_FILE: (await enterWorkspace(app, runtime, speaker)).tokenFile };
  const nothing = await run(['conversations'], { env });
  assert.deepEqual([nothing.code, nothing.out, nothing.error], [0, '', 'There are no conversations yet.\n']);
  const chatId = await makeChat(db, speaker.id, 'Über \u001b[31mred');
  const first = await say(db, { chatId, parentId: null, text: 'One?' });
  const reply = await answer(db, { chatId, parentId: first, text: 'Yes.' });
  await say(db, { chatId, parentId: reply, text: 'Two?' });
  const { out } = await done(['conversations'], { env });
  assert.match(out, new RegExp(`^UPDATED {11}ID {36}TITLE\\n\\d{4}-.* {2}${chatId} {2}Über \\ufffd\\[31mred\\n$`));
  const listed = JSON.parse((await done(['conversations', 'list', '--json'], { env })).out);
  assert.deepEqual([listed.chats[0].id, listed.nextCursor], [chatId, null]);
  assert.match((await done(['conversations', chatId], { env })).out, /\n1\. .*: One\?\n2\. .*: Two\?\n$/);
  assert.match(
    (await done(['conversations', chatId, '--turn', '1'], { env })).out,
    /## Assistant \(turn 1\), .*\n\nYes\.\n$/,
  );
  const current = { ...env, HOMEPORT_SCOPE: `chat:${chatId}` };
  assert.match((await done(['conversations', 'current', '--full'], { env: current })).out, /You \(turn 2\)/);
  const full = JSON.parse((await done(['conversations', chatId, '--full', '--json'], { env })).out);
  assert.equal(full.messages.length, 3);
  for (let index = 0; index < 5; index += 1) await makeChat(db, speaker.id, `Chat ${index}`);
  const some = await run(['conversations', '--limit', '4'], { env });
  assert.deepEqual(
    [some.out.trimEnd().split('\n').length, some.error],
    [5, 'There are more: --limit <number> or --all shows them.\n'],
  );
});

test('a list of many pages comes whole, in JSON too', async () => {
  const chatId = await createChat(user);
  await app.database.database.pool.query(
    `with blob as (insert into blobs (sha256, size, key) values (repeat('a', 64), 1, 'none') on conflict do nothing)
     insert into artifacts (id, chat_id, path, search, media_type, size, sha256, created_by)
     select 'list-' || i, $1, 'f' || lpad(i::text, 5, '0'), 'f', 'text/plain', 1, repeat('a', 64), $2 from generate_series(1, 1203) i`,
    [chatId, user.id],
  );
  const env = { HOMEPORT_SCOPE: `chat:${chatId}` };
  const { artifacts, nextCursor } = JSON.parse((await done(['artifacts', 'ls', '--json'], { env })).out);
  assert.deepEqual(
    [artifacts.length, new Set(artifacts.map((one: Json) => one.path)).size, nextCursor],
    [1203, 1203, null],
  );
  assert.equal((await done(['artifacts', 'ls'], { env })).out.trimEnd().split('\n').length, 1204);
  const some = await run(['artifacts', 'ls', '--limit', '501'], { env });
  assert.equal(some.out.trimEnd().split('\n').length, 502);
});

/** Bytes of the largest memory that a process has had. */
function peakMemory(child: ChildProcess): number {
  const status = existsSync(`/proc/${child.pid}/status`) ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : '';
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

test('150 MB go through stdin and stdout without being held', { skip: process.platform !== 'linux' }, async () => {
  const chatId = await createChat(user);
  const env = { HOMEPORT_SCOPE: `chat:${chatId}` };
  const chunk = randomBytes(1024 * 1024);
  const size = 150 * chunk.length;
  const up = start(['artifacts', 'put', '-', 'big.bin', '--json'], { env });
  const uploaded = finish(up);
  let [first, last] = [0, 0];
  for (let sent = 0; sent < size; sent += chunk.length) {
    if (up.stdin?.write(chunk) === false) await once(up.stdin, 'drain');
    last = peakMemory(up) || last;
    first ||= last;
  }
  up.stdin?.end();
  const { code, out, error } = await uploaded;
  assert.deepEqual([code, error], [0, '']);
  assert.equal(JSON.parse(out).size, size);
  assert.ok(last - first < 75e6, `upload: ${first} to ${last}`);

  const down = start(['artifacts', 'get', 'big.bin', '-'], { env });
  const ended = once(down, 'close');
  const hash = createHash('sha256');
  let received = 0;
  [first, last] = [0, 0];
  for await (const bytes of down.stdout ?? []) {
    hash.update(bytes);
    received += bytes.length;
    last = peakMemory(down) || last;
    first ||= last;
  }
  assert.deepEqual([await ended, received], [[0, null], size]);
  assert.equal(hash.digest('hex'), JSON.parse(out).sha256);
  assert.ok(last - first < 75e6, `download: ${first} to ${last}`);
});

test('a reader that goes away ends a download quietly', async () => {
  const chatId = await createChat(user);
  await put(user, { chatId }, 'long', 'x'.repeat(20_000_000));
  const child = start(['artifacts', 'get', 'long', '-', '--chat', chatId]);
  child.stdout?.once('data', () => child.stdout?.destroy());
  let error = '';
  child.stderr?.on('data', (chunk) => {
    error += chunk;
  });
  assert.deepEqual(await once(child, 'close'), [141, null]);
  assert.equal(error, '');
});

test('half a download is a failure and leaves nothing', async () => {
  const cwd = await newFolder();
  const text = 'x'.repeat(100_000);
  const tag = `"${createHash('sha256').update(text).digest('hex')}"`;
  const breaking: [string, RequestListener][] = [
    [
      'cut within its length',
      (_incoming, outgoing) => {
        outgoing.writeHead(200, { 'content-length': text.length, etag: tag });
        outgoing.write(text.slice(1), () => outgoing.destroy());
      },
    ],
    [
      'cut between chunks',
      (_incoming, outgoing) => {
        outgoing.writeHead(200, { etag: tag });
        outgoing.write(text.slice(1), () => outgoing.destroy());
      },
    ],
    ['ended early', (_incoming, outgoing) => outgoing.writeHead(200, { etag: tag }).end(text.slice(1))],
    ['other bytes', (_incoming, outgoing) => outgoing.writeHead(200, { etag: tag }).end(text.replace('x', 'y'))],
  ];
  for (const [name, listener] of breaking) {
    const env = { HOMEPORT_URL: await serve(listener), HOMEPORT_SCOPE: 'chat:x' };
    await writeFile(join(cwd, 'kept'), 'as it was');
    for (const file of ['new', 'kept']) {
      const { code, out, error } = await run(['artifacts', 'get', 'a', '-o', file], { env, cwd });
      assert.deepEqual([code, out], [5, ''], `${name}: ${error}`);
    }
    assert.deepEqual([readdirSync(cwd), readFileSync(join(cwd, 'kept'), 'utf8')], [['kept'], 'as it was'], name);
    assert.equal((await run(['artifacts', 'get', 'a', '-'], { env, cwd })).code, 5, name);
  }
});

test('Ctrl-C leaves no half file', async () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const url = await serve((_incoming, outgoing) => {
      outgoing.writeHead(200, { 'content-length': 1_000_000 });
      outgoing.write('x'.repeat(500_000));
    });
    const cwd = await newFolder();
    const child = start(['artifacts', 'get', 'a', '-o', 'a'], {
      env: { HOMEPORT_URL: url, HOMEPORT_SCOPE: 'chat:x' },
      cwd,
    });
    const ended = finish(child);
    await until(async () => readdirSync(cwd).length === 1);
    assert.match(readdirSync(cwd)[0] ?? '', /^\.a\.[0-9a-f]+\.part$/);
    child.kill(signal);
    assert.deepEqual([(await ended).code, readdirSync(cwd)], [code, []]);
  }
  const chatId = await createChat(user);
  const up = start(['artifacts', 'put', '-', 'a', '--chat', chatId]);
  const ended = finish(up);
  up.stdin?.on('error', () => undefined).write('x'.repeat(200_000));
  const incoming = join(app.service.deps.config.artifactStore ?? '', 'incoming');
  await until(async () => existsSync(incoming) && readdirSync(incoming).length > 0);
  up.kill('SIGINT');
  assert.equal((await ended).code, 130);
  await until(async () => readdirSync(incoming).length === 0);
  assert.deepEqual(await paths(user, { chatId }), []);
});

test('a service that is none is no riddle', async () => {
  const odd: [string, number, RequestListener][] = [
    ['a page', 1, (_incoming, outgoing) => outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['another shape', 1, (_incoming, outgoing) => outgoing.end('{"artifacts":[{"id":1}]}')],
    ['null', 1, (_incoming, outgoing) => outgoing.end('null')],
    ['a redirect', 1, (_incoming, outgoing) => outgoing.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['an error page', 1, (_incoming, outgoing) => outgoing.writeHead(500).end('<h1>nginx</h1>')],
    ['a gateway', 5, (_incoming, outgoing) => outgoing.writeHead(502).end('<h1>nginx</h1>')],
    [
      'an endless error',
      3,
      (_incoming, outgoing) => {
        outgoing.writeHead(404);
        const more = (): unknown => outgoing.write('x'.repeat(65_536), () => outgoing.destroyed || more());
        more();
      },
    ],
    ['a hang-up', 5, (incoming) => incoming.socket.destroy()],
  ];
  for (const [name, code, listener] of odd) {
    const env = { HOMEPORT_URL: await serve(listener), HOMEPORT_SCOPE: 'chat:x' };
    const result = await run(['artifacts', 'ls'], { env });
    assert.deepEqual([result.code, result.out], [code, ''], `${name}: ${result.error}`);
    assert.match(result.error, /^homeport: The (?:control plane|connection)/, name);
    assert.doesNotMatch(result.error, /nginx|html|at .*\.ts/, name);
  }
});

test('a refusal is told while the upload is still on its way', async () => {
  const child = start(['artifacts', 'put', '-', 'a', '--chat', randomUUID()]);
  const ended = finish(child);
  child.stdin?.on('error', () => undefined);
  const chunk = Buffer.alloc(65_536);
  const feeding = setInterval(() => child.stdin?.write(chunk), 5);
  const { code, error } = await ended;
  clearInterval(feeding);
  assert.deepEqual([code, /Conversation not found/.test(error)], [3, true], error);
});

test('the token is in no argument and no answer', async () => {
  let seen: string | undefined;
  const url = await serve((incoming, outgoing) => {
    seen = incoming.headers.authorization;
    outgoing.writeHead(401, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify({ error: { code: 'unauthorized', message: `No: ${'\u001b'}[2J` } }));
  });
  const { code, error } = await run(['conversations'], { env: { HOMEPORT_URL: url } });
  const token = readFileSync(tokenFile, 'utf8').trim();
  assert.deepEqual([code, seen], [4, `Bearer ${token}`]);
  assert.ok(!error.includes(token) && !error.includes('\u001b'));
});
