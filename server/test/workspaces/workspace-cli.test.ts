import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, makeProject, paths, put } from '../artifacts/artifact-makers.ts';
import { type CommandLine, makeCommandLine } from '../command-line.ts';
import { answer, makeChat, say } from '../conversations/conversation-makers.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';
import { enterWorkspace } from './workspace-caller.ts';

/** The `homeport` command against the whole service. */

let app: TestApp;
let user: SignedIn;
let tool: CommandLine;
const runtime = new ProcessRuntime();
before(async () => {
  app = await startTestApp({ workspaceRuntime: runtime, config: { artifactMaxUploadBytes: 160 * 1024 * 1024 } });
  user = await app.signIn();
  tool = await makeCommandLine(app, runtime, user);
});
after(async () => {
  await tool.stop();
  await runtime.destroy();
  await app.stop();
});

test('help needs no workspace, and every command has its page', async () => {
  const env = { HOMEPORT_URL: undefined, HOMEPORT_TOKEN_FILE: undefined };
  const { out } = await tool.done(['help'], { env });
  const names = [...out.matchAll(/^ {2}homeport ((?:conversations|artifacts \w+))/gm)].map(([, name = '']) => name);
  assert.deepEqual(names, [
    'conversations',
    ...['ls', 'stat', 'get', 'put', 'mv', 'rm'].map((verb) => `artifacts ${verb}`),
  ]);
  for (const name of names) {
    const page = await tool.done(['help', ...name.split(' ')], { env });
    assert.match(page.out, new RegExp(`\\n  homeport ${name} `));
    assert.match(page.out, /--json/);
  }
  assert.equal(
    (await tool.done(['artifacts', 'put', '--help'], { env })).out,
    (await tool.done(['help', 'artifacts', 'put'], { env })).out,
  );
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../workspace/package.json'), 'utf8'));
  assert.equal((await tool.done(['--version'], { env })).out, `homeport ${version}\n`);
});

test('invalid usage exits with 2, a reason on stderr, and nothing on stdout', async () => {
  const wrong: [args: string[], reason: RegExp][] = [
    [[], /Missing command/],
    [['artefacts'], /no command `artefacts`/],
    [['artifacts', 'list'], /no command `artifacts list`/],
    [['artifacts', 'ls', '--colour', '--chat', 'x'], /--colour/],
    [['artifacts', 'ls'], /Missing conversation or project/],
    [['artifacts', 'ls', '--chat', 'a', '--project', 'b'], /not both/],
    [['artifacts', 'ls', '--chat', '../a'], /not a valid id/],
    [['artifacts', 'stat', '--chat', 'x'], /Missing argument/],
    [['artifacts', 'put', '-', '--chat', 'x'], /Missing path/],
    [['artifacts', 'put', 'f', '--chat', 'x', '--on-conflict', 'ask'], /rename, replace, fail/],
    [['artifacts', 'rm', '--chat', 'x'], /Name what to delete/],
    [['artifacts', 'rm', '--prefix', 'x', '--chat', 'x'], /needs confirmation/],
    [['conversations', 'x', '--turn', '0'], /a number from 1/],
    [['conversations', 'x', '--turn', '1', '--full'], /not both/],
    [['conversations', 'current'], /HOMEPORT_SCOPE does not name a conversation/],
    [['help', 'everything'], /no command `everything`/],
  ];
  await Promise.all(
    wrong.map(async ([args, reason]) => {
      const { code, out, error } = await tool.run(args);
      assert.deepEqual([code, out], [2, ''], args.join(' '));
      assert.match(error, reason);
      assert.match(error, /^homeport: [^\n]+\n(?:[^\n]+\n)?$/, 'one line, and one of what to do');
    }),
  );
  const { code, error } = await tool.run(['artifacts', 'ls', '--json'], { env: { HOMEPORT_SCOPE: 'nonsense' } });
  assert.deepEqual([code, JSON.parse(error).error.exitCode], [2, 2]);
});

for (const door of ['TCP', 'a unix socket']) {
  test(`artifacts are uploaded, listed, read, moved, downloaded and deleted, over ${door}`, async () => {
    const chatId = await createChat(user);
    const cwd = await tool.newFolder();
    const env = {
      HOMEPORT_SCOPE: `chat:${chatId}`,
      ...(door === 'TCP' ? {} : { HOMEPORT_URL: tool.socketUrl }),
    };
    const bytes = randomBytes(300_000);
    await writeFile(join(cwd, 'räw.bin'), bytes);
    const up = JSON.parse((await tool.done(['artifacts', 'put', 'räw.bin', 'data/', '--json'], { env, cwd })).out);
    assert.deepEqual([up.path, up.size], ['data/räw.bin', bytes.length]);
    assert.equal(up.sha256, createHash('sha256').update(bytes).digest('hex'));
    assert.match(
      (await tool.done(['artifacts', 'put', '-', 'note.txt'], { env, input: 'hello' })).out,
      /^Saved as note\.txt \(5 B, id /,
    );
    assert.match(
      (await tool.done(['artifacts', 'put', '-', './note.txt'], { env, input: 'again' })).out,
      /^Saved as note \(2\)\.txt/,
    );
    await tool.done(['artifacts', 'put', '-', 'note.txt', '--on-conflict', 'replace', '--type', 'text/markdown'], {
      env,
      input: 'new',
    });
    const { out } = await tool.done(['artifacts', 'ls'], { env });
    assert.match(
      out,
      /^ +SIZE {2}CREATED {11}PATH\n300 kB {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}data\/räw\.bin\n {3}5 B .* note \(2\)\.txt\n {3}3 B .* note\.txt\n$/,
    );
    const listed = JSON.parse((await tool.done(['artifacts', 'ls', 'data/', '--json'], { env })).out);
    assert.deepEqual(listed, { artifacts: [up], nextCursor: null });
    assert.match(
      (await tool.done(['artifacts', 'ls', '-q', 'NOTE', '-l'], { env })).out,
      /text\/markdown +note\.txt\n$/,
    );
    assert.match(
      (await tool.done(['artifacts', 'stat', 'note.txt'], { env })).out,
      /^Path: {5}note\.txt\n.*\nIn: {7}chat /s,
    );
    assert.deepEqual((await tool.done(['artifacts', 'get', up.id, '-'], { env })).bytes, bytes);
    assert.equal(
      (await tool.done(['artifacts', 'get', up.id], { env, cwd: await tool.newFolder() })).out,
      'Saved räw.bin (300 kB)\n',
    );
    await tool.done(['artifacts', 'mv', up.id, 'moved/'], { env });
    await tool.done(['artifacts', 'mv', 'moved', 'there'], { env });
    assert.deepEqual(await paths(user, { chatId }), ['note (2).txt', 'note.txt', 'there/räw.bin']);
    assert.equal((await tool.done(['artifacts', 'rm', 'note.txt', 'note (2).txt'], { env })).out, 'Deleted 2 files.\n');
    assert.equal(
      (await tool.done(['artifacts', 'rm', '--prefix', 'there/', '--yes', '--json'], { env })).out,
      '{"ok":true,"deleted":1}\n',
    );
    assert.deepEqual(await paths(user, { chatId }), []);
  });
}

test('a download has the given name, overwrites only the named file, and follows links', async () => {
  const chatId = await createChat(user);
  const uuidPath = randomUUID();
  await put(user, { chatId }, 'a.txt', 'content');
  await put(user, { chatId }, uuidPath, 'a path like an id');
  const cwd = await tool.newFolder();
  const env = { HOMEPORT_SCOPE: `chat:${chatId}` };
  const at = (name: string) => readFileSync(join(cwd, name), 'utf8');
  await writeFile(join(cwd, 'a.txt'), 'mine');
  const taken = await tool.run(['artifacts', 'get', 'a.txt'], { env, cwd });
  assert.deepEqual([taken.code, at('a.txt')], [6, 'mine']);
  assert.match(taken.error, /a\.txt is there already\nAdd --force/);
  await tool.done(['artifacts', 'get', 'a.txt', '--force'], { env, cwd });
  await mkdir(join(cwd, 'sub'));
  await tool.done(['artifacts', 'get', 'a.txt', '-o', 'sub'], { env, cwd });
  await tool.done(['artifacts', 'get', 'a.txt', 'sub/b.txt'], { env, cwd });
  await writeFile(join(cwd, 'real'), 'old');
  await symlink('real', join(cwd, 'link'));
  await tool.done(['artifacts', 'get', 'a.txt', '-o', 'link'], { env, cwd });
  assert.deepEqual(['a.txt', 'sub/a.txt', 'sub/b.txt', 'real', 'link'].map(at), Array(5).fill('content'));
  await tool.done(['artifacts', 'get', 'a.txt', '-o', '/dev/null'], { env, cwd });
  assert.equal((await tool.done(['artifacts', 'get', `./${uuidPath}`, '-'], { env })).out, 'a path like an id');
  assert.equal((await tool.run(['artifacts', 'get', uuidPath, '-'], { env })).code, 3);
  const nowhere = await tool.run(['artifacts', 'get', 'a.txt', '-o', 'none/a.txt'], { env, cwd });
  assert.deepEqual(
    [nowhere.code, nowhere.error],
    [1, 'homeport: Cannot write none/a.txt: there is no such file or folder\n'],
  );
  assert.deepEqual(readdirSync(cwd).sort(), ['a.txt', 'link', 'real', 'sub']);
});

test('exit codes distinguish missing, forbidden, unreachable, existing and full', async () => {
  const chatId = await createChat(user);
  const other = await app.signIn();
  const theirs = await createChat(other);
  const projectId = await makeProject(app.database.database.pool, [other.id]);
  await put(user, { chatId }, 'a.txt');
  const chat = ['--chat', chatId];
  const gone = join(tool.folder, 'gone-token');
  await writeFile(gone, `wst_${'A'.repeat(43)}\n`);
  const big = join(tool.folder, 'big');
  await writeFile(big, '');
  await truncate(big, 161 * 1024 * 1024);
  const cases: [args: string[], code: number, error: RegExp, env?: Record<string, string | undefined>][] = [
    [['artifacts', 'stat', 'none', ...chat], 3, /Artifact not found/],
    [['artifacts', 'ls', '--chat', theirs], 3, /Conversation not found/],
    [['artifacts', 'ls', '--project', projectId], 3, /Project not found/],
    [['conversations', theirs], 3, /Conversation not found/],
    [['conversations', chatId, '--turn', '7'], 3, /0 turns/],
    [['artifacts', 'rm', '--prefix', 'none', '-y', ...chat], 3, /nothing in none/],
    [['artifacts', 'ls', ...chat], 4, /restarts/, { HOMEPORT_TOKEN_FILE: gone }],
    [
      ['artifacts', 'ls', ...chat],
      4,
      /Cannot read the workspace's token/,
      { HOMEPORT_TOKEN_FILE: join(tool.folder, 'none') },
    ],
    [['artifacts', 'ls', ...chat], 4, /HOMEPORT_TOKEN_FILE is not set/, { HOMEPORT_TOKEN_FILE: undefined }],
    [['artifacts', 'ls', ...chat], 5, /HOMEPORT_URL is not set/, { HOMEPORT_URL: undefined }],
    [
      ['artifacts', 'ls', ...chat],
      5,
      /Cannot reach .*nothing is listening there/,
      { HOMEPORT_URL: 'http://127.0.0.1:1' },
    ],
    [
      ['artifacts', 'ls', ...chat],
      5,
      /Cannot reach .*no such file/,
      { HOMEPORT_URL: `unix:${join(tool.folder, 'none.sock')}` },
    ],
    [['artifacts', 'ls', ...chat], 2, /HOMEPORT_URL is neither/, { HOMEPORT_URL: 'ftp://example.org' }],
    [['artifacts', 'put', tool.tokenFile, 'a.txt', '--on-conflict', 'fail', ...chat], 6, /--on-conflict/],
    [['artifacts', 'mv', 'a.txt', '../a.txt', ...chat], 2, /Leads outside its namespace/],
    [['artifacts', 'put', join(tool.folder, 'none'), ...chat], 1, /Cannot read .*no such file/],
    [['artifacts', 'put', tool.folder, ...chat], 2, /is a folder/],
    [['artifacts', 'put', big, ...chat], 7, /larger than/],
  ];
  for (const [args, code, error, env] of cases) {
    const result = await tool.run(args, env === undefined ? {} : { env });
    assert.deepEqual([result.code, result.out], [code, ''], `${args.join(' ')}: ${result.error}`);
    assert.match(result.error, error);
  }
  const { error } = await tool.run(['artifacts', 'stat', 'none', ...chat, '--json']);
  const failure: Json = JSON.parse(error);
  assert.deepEqual([failure.error.code, failure.error.exitCode], ['not_found', 3]);
});

test('lists and reads conversations, as Markdown and as JSON', async () => {
  const db = app.database.database;
  const speaker = await app.signIn();
  const env = { HOMEPORT_TOKEN_FILE: (await enterWorkspace(app, runtime, speaker)).tokenFile };
  const nothing = await tool.run(['conversations'], { env });
  assert.deepEqual([nothing.code, nothing.out, nothing.error], [0, '', 'There are no conversations yet.\n']);
  const chatId = await makeChat(db, speaker.id, 'Über \u001b[31mred');
  const first = await say(db, { chatId, parentId: null, text: 'One?' });
  const reply = await answer(db, { chatId, parentId: first, text: 'Yes.' });
  await say(db, { chatId, parentId: reply, text: 'Two?' });
  const { out } = await tool.done(['conversations'], { env });
  assert.match(out, new RegExp(`^UPDATED {11}ID {36}TITLE\\n\\d{4}-.* {2}${chatId} {2}Über \\ufffd\\[31mred\\n$`));
  const listed = JSON.parse((await tool.done(['conversations', 'list', '--json'], { env })).out);
  assert.deepEqual([listed.chats[0].id, listed.nextCursor], [chatId, null]);
  assert.match((await tool.done(['conversations', chatId], { env })).out, /\n1\. .*: One\?\n2\. .*: Two\?\n$/);
  assert.match(
    (await tool.done(['conversations', chatId, '--turn', '1'], { env })).out,
    /## Assistant \(turn 1\), .*\n\nYes\.\n$/,
  );
  const current = { ...env, HOMEPORT_SCOPE: `chat:${chatId}` };
  assert.match((await tool.done(['conversations', 'current', '--full'], { env: current })).out, /You \(turn 2\)/);
  const full = JSON.parse((await tool.done(['conversations', chatId, '--full', '--json'], { env })).out);
  assert.equal(full.messages.length, 3);
  for (let index = 0; index < 5; index += 1) await makeChat(db, speaker.id, `Chat ${index}`);
  const some = await tool.run(['conversations', '--limit', '4'], { env });
  assert.deepEqual(
    [some.out.trimEnd().split('\n').length, some.error],
    [5, 'There are more. Use --limit <number> or --all to see them.\n'],
  );
});

test('prints a list of many pages completely, in JSON too', async () => {
  const chatId = await createChat(user);
  await app.database.database.pool.query(
    `with blob as (insert into blobs (sha256, size, key) values (repeat('a', 64), 1, 'none') on conflict do nothing)
     insert into artifacts (id, chat_id, path, search, media_type, size, sha256, created_by)
     select 'list-' || i, $1, 'f' || lpad(i::text, 5, '0'), 'f', 'text/plain', 1, repeat('a', 64), $2 from generate_series(1, 1203) i`,
    [chatId, user.id],
  );
  const env = { HOMEPORT_SCOPE: `chat:${chatId}` };
  const { artifacts, nextCursor } = JSON.parse((await tool.done(['artifacts', 'ls', '--json'], { env })).out);
  assert.deepEqual(
    [artifacts.length, new Set(artifacts.map((one: Json) => one.path)).size, nextCursor],
    [1203, 1203, null],
  );
  assert.equal((await tool.done(['artifacts', 'ls'], { env })).out.trimEnd().split('\n').length, 1204);
  const some = await tool.run(['artifacts', 'ls', '--limit', '501'], { env });
  assert.equal(some.out.trimEnd().split('\n').length, 502);
});

const hasTerminals = spawnSync('script', ['--version']).status === 0;

test('in a terminal, deletes a folder after a yes, and fits tables', { skip: !hasTerminals }, async () => {
  const chatId = await createChat(user);
  const env = { HOMEPORT_SCOPE: `chat:${chatId}` };
  await put(user, { chatId }, `folder/${'日本'.repeat(20)}.txt`);
  const listed = await tool.inTerminal(['artifacts', 'ls'], { env });
  assert.match(listed.out, /\d{4}-\d\d-\d\d \d\d:\d\d {2}folder\/(?:日本)+日?…\r\n$/);
  const args = ['artifacts', 'rm', '--prefix', 'folder'];
  const kept = await tool.inTerminal(args, { env, answer: 'n' });
  assert.deepEqual([kept.code, /Delete everything in folder\?/.test(kept.out)], [1, true], kept.out);
  assert.match(kept.out, /Nothing was deleted/);
  const deleted = await tool.inTerminal(args, { env, answer: 'y' });
  assert.deepEqual([deleted.code, /Deleted 1 file\./.test(deleted.out)], [0, true], deleted.out);
  assert.deepEqual(await paths(user, { chatId }), []);
  const chat = await makeChat(app.database.database, user.id, 'Control');
  await say(app.database.database, { chatId: chat, parentId: null, text: 'a\u001b[2Jb' });
  const shown = await tool.inTerminal(['conversations', chat, '--full'], {});
  assert.match(shown.out, /a\ufffd\[2Jb/);
});
