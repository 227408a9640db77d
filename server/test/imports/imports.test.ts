import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { type Json, startTestApp, type TestApp } from '../app.ts';
import {
  bring,
  chatbotUiExport,
  chatGptArchive,
  chatGptConversation,
  claudeArchive,
  conversationsOf,
  libreChatExport,
  openWebUiExport,
  png,
  settled,
  zipOf,
} from './import-makers.ts';

/**
 * Importing from other programs (contract.md section 11): imported content, reasons for the skipped, repeats and undo.
 */

let app: TestApp;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'imports-'));
  app = await startTestApp({ config: { dataDir: folder } });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

const shape = ({ messages }: Json): string[] =>
  messages.map(({ role, parts, modelId }: Json) =>
    [
      role,
      ...parts.map(({ type, text, toolName, output, filename }: Json) =>
        [type, text ?? toolName, output ?? filename].filter(Boolean).join(':'),
      ),
      modelId,
    ]
      .filter(Boolean)
      .join(' | '),
  );

test('ChatGPT: a trial run changes nothing; then every branch, thought, tool, link and picture is imported with its time', async () => {
  const who = await app.signIn();
  const tried = await bring(who, await chatGptArchive(), '?dryRun=1&filename=export.zip');
  assert.equal(tried.import.state, 'ready');
  assert.equal(tried.import.source, 'chatgpt');
  assert.equal(tried.import.filename, 'export.zip');
  const { conversations, messages, files, projects, leftOut } = tried.import.counts;
  assert.deepEqual(
    { conversations, messages, files, projects, leftOut, new: tried.import.counts.new },
    { conversations: 3, messages: 10, files: 2, projects: 1, leftOut: 1, new: 2 },
  );
  assert.equal(tried.import.instructions, 'I sail.\n\nBe brief.');
  assert.match(JSON.stringify(tried.import.problems), /its messages are missing/);
  assert.match(JSON.stringify(tried.import.problems), /conversations-002\.json is not in this archive/);
  assert.deepEqual(await conversationsOf(who), []);

  await who.call('POST /api/imports/start', { id: tried.import.id });
  const done = await settled(who, tried.import.id);
  assert.equal(done.import.state, 'done');
  assert.equal(done.import.counts.imported, 2);
  const [tides, untitled] = await conversationsOf(who);
  assert.equal(untitled.chat.title, 'Untitled conversation');
  assert.equal(untitled.chat.archived, true);
  assert.notEqual(untitled.chat.projectId, null);
  assert.deepEqual(shape(tides), [
    'user | text:Why are there tides? | file:moon.png',
    'assistant | reasoning:**Gravity**\n\nThink of the moon. | dynamic-tool:python:12 | text:The moon pulls. ([NOAA](https://oceanservice.noaa.gov/tides)) Twice a day, Kiel too. | gpt-4o',
    'user | text:And in the Baltic?',
    'assistant | text:Hardly any. | gpt-4o',
    'assistant | text:Small ones. | gpt-4o',
  ]);
  assert.equal(tides.chat.createdAt, '2026-05-01T10:00:00.000Z');
  assert.equal(tides.chat.updatedAt, '2026-05-01T10:30:00.000Z');
  assert.deepEqual(
    tides.messages.map((each: Json) => each.createdAt.slice(11, 23)),
    ['10:01:00.000', '10:02:00.000', '10:05:00.000', '10:05:00.001', '10:07:00.000'],
  );
  assert.equal(tides.activeMessageId, tides.messages[3].id);
  const picture = tides.messages[0].parts[1];
  const bytes = await who.fetch(
    `/api/artifacts/download?chatId=${tides.chat.id}&id=${picture.url.slice('artifact://'.length)}`,
  );
  assert.deepEqual(Buffer.from(await bytes.arrayBuffer()), png);
});

test('a second import adds only new conversations, and keeps those changed here', async () => {
  const who = await app.signIn();
  await bring(who, await chatGptArchive());
  const [first] = await conversationsOf(who);
  await who.call('PATCH /api/chats', { id: first.chat.id, title: 'Mine' });
  const again = await bring(who, await chatGptArchive());
  assert.equal(again.import.counts.imported, 0);
  assert.equal(again.import.counts.same, 2);
  const more = structuredClone(chatGptConversation);
  Object.assign(more.mapping, {
    u3: {
      id: 'u3',
      parent: 'a2',
      children: [],
      message: {
        author: { role: 'user' },
        content: { content_type: 'text', parts: ['Thanks'] },
        create_time: 1_780_000_000,
      },
    },
  });
  const later = await bring(who, JSON.stringify([{ ...more, current_node: 'u3' }]));
  assert.deepEqual([later.import.counts.more, later.import.counts.imported, later.import.counts.messages], [1, 1, 1]);
  const changed = (await conversationsOf(who)).find((each) => each.chat.title === 'Mine');
  assert.equal(changed.messages.length, 6);
  assert.equal(changed.activeMessageId, changed.messages[5].id);

  const undone = await who.call('DELETE /api/imports', undefined, { query: { id: later.import.id } });
  assert.equal(undone.body.import.state, 'undone');
  const back = (await conversationsOf(who)).find((each) => each.chat.title === 'Mine');
  assert.equal(back.messages.length, 5);
});

test('an import is undone completely, except conversations continued here, and can be made again', async () => {
  const who = await app.signIn();
  const { import: made } = await bring(who, await chatGptArchive());
  const [continued] = await conversationsOf(who);
  await who.call('POST /api/chat/start', {
    chatId: continued.chat.id,
    message: { id: `own-${continued.chat.id}`, parts: [{ type: 'text', text: 'Go on' }] },
  });
  const { body } = await who.call('DELETE /api/imports', undefined, { query: { id: made.id } });
  assert.deepEqual([body.ok, body.import.state], [true, 'undone']);
  assert.match(body.import.problems[0].message, /continued here or deleted before: 1 conversation\.$/);
  assert.equal((await conversationsOf(who)).length, 1);
  const { body: list } = await who.call('GET /api/projects');
  assert.deepEqual(list.projects, []);
  assert.equal((await bring(who, await chatGptArchive())).import.counts.imported, 1);
});

test('recognizes Claude, LibreChat, chatbot-ui and Open WebUI', async () => {
  const who = await app.signIn();
  const sources = [];
  for (const archive of [await claudeArchive(), openWebUiExport, libreChatExport, chatbotUiExport]) {
    const { import: made } = await bring(who, archive);
    sources.push([made.source, made.state, made.counts.imported]);
  }
  assert.deepEqual(
    sources,
    ['claude', 'open-webui', 'librechat', 'chatbot-ui'].map((each) => [each, 'done', 1]),
  );
  const all = Object.fromEntries((await conversationsOf(who)).map((each) => [each.chat.title, each]));
  assert.deepEqual(shape(all.Bread), [
    'user | text:A recipe? | file:old.pdf.txt | text:[photo.jpg: this file was not in the imported archive]',
    'assistant | reasoning:Sourdough. | dynamic-tool:web_search:Found it | text:Mix and wait.',
  ]);
  assert.deepEqual(shape(all['Two models']), [
    'user | text:Hi | file:picture.png',
    'assistant | reasoning:Greet & ask | text:Hello | llama3',
    'assistant | reasoning:Hm | dynamic-tool:clock:10:02 | text:Good day | Mistral',
  ]);
  assert.deepEqual([all['Two models'].chat.archived, all['Two models'].chat.instructions], [true, 'Be kind.']);
  assert.deepEqual(shape(all.Nested), [
    'user | text:Ping',
    'assistant | reasoning:Easy | dynamic-tool:echo:pong | text:Pong | gpt-4',
    'assistant | text:Pong! | gpt-4',
  ]);
  assert.deepEqual(all.Plan.chat.parameters, { temperature: 0.5 });
  const { body } = await who.call('GET /api/projects');
  assert.deepEqual(body.projects.map(({ name, instructions }: Json) => [name, instructions]).sort(), [
    ['Bakery', 'Answer as a baker.'],
    ['Work', null],
  ]);
  assert.equal(all.Plan.chat.projectId, body.projects.find(({ name }: Json) => name === 'Work').id);
});

test('a webui.db imports the conversations and folders of the user with the same email address only', async () => {
  const who = await app.signIn();
  const path = join(folder, 'webui.db');
  const database = new DatabaseSync(path);
  database.exec(`create table user (id text, email text); create table folder (id text, user_id text, name text);
    create table chat (id text, user_id text, title text, chat text, created_at int, updated_at int, archived int, folder_id text)`);
  const insert = database.prepare('insert into chat values (?, ?, ?, ?, 1777629600, 1777629700, 0, ?)');
  const [{ chat }] = JSON.parse(openWebUiExport);
  database.prepare('insert into user values (?, ?), (?, ?)').run('me', who.email, 'other', 'other@example.org');
  database.prepare('insert into folder values (?, ?, ?)').run('f', 'me', 'Ideas');
  insert.run('c1', 'me', 'My own', JSON.stringify(chat), 'f');
  insert.run('c2', 'other', 'Not mine', JSON.stringify(chat), null);
  insert.run('c3', 'me', 'Broken', '{"history":', null);
  database.close();
  const { import: made } = await bring(who, await readFile(path));
  assert.deepEqual(
    [made.state, made.source, made.counts.imported, made.counts.leftOut],
    ['done', 'open-webui', 1, 1],
    JSON.stringify(made),
  );
  const [own] = await conversationsOf(who);
  assert.equal(own.chat.title, 'My own');
  assert.notEqual(own.chat.projectId, null);
  const stranger = await app.signIn();
  const refused = await bring(stranger, await readFile(path));
  assert.equal(refused.import.state, 'failed');
  assert.match(refused.import.problems[0].message, /none of them has your address/);
});

test('refuses unrecognized archives with a reason, and shows an import to its owner only', async () => {
  const who = await app.signIn();
  for (const [archive, message] of [
    ['not an export', /neither a zip archive nor a JSON file/],
    ['{"a":1}', /no export that Homeport knows/],
    [await zipOf({ 'a.txt': 'x' }), /no export that Homeport knows/],
    [(await chatGptArchive()).subarray(0, 900), /damaged or was cut short/],
  ] as const) {
    const { import: made } = await bring(who, archive);
    assert.equal(made.state, 'failed');
    assert.match(made.problems[0].message, message);
  }
  const empty = await who.fetch('/api/imports', { method: 'POST', body: '' });
  assert.equal(empty.status, 400);
  const { import: mine } = await bring(who, chatbotUiExport, '?dryRun=1');
  const other = await app.signIn();
  const query = { id: mine.id };
  assert.equal((await other.call('GET /api/imports', undefined, { query })).status, 404);
  assert.equal((await other.call('POST /api/imports/start', query)).status, 404);
  assert.equal((await other.call('DELETE /api/imports', undefined, { query })).status, 404);
  const cancelled = await who.call('DELETE /api/imports', undefined, { query });
  assert.equal(cancelled.body.import.state, 'cancelled');
  const late = await who.call('POST /api/imports/start', query);
  assert.deepEqual([late.status, late.body.error.code], [409, 'import_ended']);
});

for (const [what, fault] of [
  ['a lost race of two transactions', { message: 'could not serialize access', code: '40001' }],
  ['a connection that ends', { message: 'Connection terminated unexpectedly' }],
] as const) {
  test(`an import continues soon after ${what}, with the whole archive and nothing twice`, async () => {
    let [faults, outageUntil] = [0, 0];
    let isGivenBack = false;
    const logged: string[] = [];
    const faulty = await startTestApp({
      config: { dataDir: folder },
      log: (line) => logged.push(line),
      trace: async (statement, work) => {
        if (faults === 0 && statement.startsWith('update "import_entries"')) {
          faults += 1;
          outageUntil = performance.now() + 1_500;
          throw Object.assign(new Error(fault.message), fault);
        }
        // Releasing the import fails at that moment, too.
        if (performance.now() < outageUntil && /update imports\b/.test(statement))
          throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        isGivenBack ||= /update imports set claim = null, claimed_until = now\(\) \+/.test(statement);
        return work();
      },
    });
    try {
      const who = await faulty.signIn();
      const { import: made } = await bring(who, await chatGptArchive());
      assert.equal(faults, 1);
      assert.ok(isGivenBack, 'instead of waiting until the lease has run out');
      assert.deepEqual([made.state, made.counts.imported, made.counts.leftOut], ['done', 2, 1], JSON.stringify(made));
      assert.equal((await conversationsOf(who)).length, 2);
      assert.match(logged.join(), /an import was interrupted; trying again/);
    } finally {
      await faulty.stop();
    }
  });
}

test('a store that refuses writes for a moment does not lose a file', async () => {
  const faulty = await startTestApp({ config: { dataDir: folder } });
  try {
    const { artifactStore } = faulty.service.deps;
    const put = artifactStore.put.bind(artifactStore);
    let puts = 0;
    artifactStore.put = async (bytes) => {
      puts += 1;
      // The first one is the archive itself.
      if (puts === 2) throw new Error('the bucket is away');
      return put(bytes);
    };
    const who = await faulty.signIn();
    const { import: made, entries } = await bring(who, await chatGptArchive());
    assert.deepEqual([made.state, made.counts.imported, made.counts.files], ['done', 2, 2], JSON.stringify(entries));
    assert.ok(puts >= 4, `${puts} files were stored`);
  } finally {
    await faulty.stop();
  }
});
