import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { seededBelow } from '../../../contracts/test/seeded-random.ts';
import { openArchive } from '../../src/imports/archive.ts';
import { nameFiles } from '../../src/imports/file-types.ts';
import { type PreparedItem, prepare } from '../../src/imports/prepare.ts';
import { readArchive } from '../../src/imports/readers/read-archive.ts';
import { ImportRefused } from '../../src/imports/readers/read-conversation.ts';
import { type Json, startTestApp, type TestApp } from '../app.ts';
import {
  bring,
  chatbotUiExport,
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
 * Damaged and hostile archives: no crash, no partial conversation, always an answer. IMPORT_FUZZ=200 tries more of
 * them.
 */

const rounds = Number(process.env.IMPORT_FUZZ ?? 40);
const seed = Number(process.env.IMPORT_FUZZ_SEED ?? 20_261_122);

let app: TestApp;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'imports-fuzz-'));
  app = await startTestApp({ config: { dataDir: folder } });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

/** JSON.stringify does not nest that deep, so it is put into the text. */
const deep = '@deep@';
const textOf = (value: Json): string =>
  JSON.stringify(value).replaceAll(`"${deep}"`, '['.repeat(5000) + ']'.repeat(5000));
const odd: readonly unknown[] = [
  ...[
    null,
    true,
    -1,
    1e308,
    Number.MAX_SAFE_INTEGER,
    '',
    'x'.repeat(50_000),
    '\ud800',
    'a\u0000b',
    [],
    {},
    [null],
    deep,
  ],
  ...['client-created-root', 'u1', 'a1', '../../etc/passwd', { content_type: 'text' }, 'data:image/png;base64,AAAA'],
];

/** Puts an unexpected value in one or several places, or makes a cycle of parents. */
function spoil(value: Json, random: (below: number) => number): Json {
  const copy = structuredClone(value);
  for (let count = 1 + random(4); count > 0; count -= 1) {
    let at: Json = copy;
    for (let depth = random(9); depth > 0; depth -= 1) {
      const keys = Object.keys(at);
      const next = at[keys[random(keys.length || 1)] ?? ''];
      if (typeof next !== 'object' || next === null) break;
      at = next;
    }
    const keys = Object.keys(at);
    const key = keys[random(keys.length || 1)];
    if (key === undefined) continue;
    if (random(4) === 0) delete at[key];
    else at[key] = odd[random(odd.length)];
  }
  return copy;
}

const samples: Json[] = [
  [chatGptConversation],
  ...[openWebUiExport, libreChatExport, chatbotUiExport].map((text) => JSON.parse(text)),
];

async function hostileArchive(random: (below: number) => number): Promise<Buffer> {
  const text = textOf(spoil(samples[random(samples.length)], random));
  const kind = random(5);
  const bytes =
    kind < 2
      ? Buffer.from(text)
      : await zipOf({ 'conversations.json': text, 'file_aaaaaaaa11.dat': png, [`d${random(9)}/x.json`]: '[1,{}]' });
  if (kind === 0 || kind === 3) return bytes.subarray(0, random(bytes.length));
  if (kind === 4) for (let count = random(20); count > 0; count -= 1) bytes[random(bytes.length)] = random(256);
  return bytes;
}

function assertWhole(item: PreparedItem): void {
  if (item.kind !== 'conversation') return;
  const seen = new Set<string>();
  for (const message of item.messages) {
    assert.ok(message.parentId === null || seen.has(message.parentId), 'a parent comes first');
    assert.ok(!seen.has(message.id), 'an id comes once');
    seen.add(message.id);
    assert.ok(!message.parts.includes('\\u0000') && message.parts.isWellFormed());
    assert.ok(Array.isArray(JSON.parse(message.parts)));
  }
  assert.ok(item.chat.activeMessageId === null || seen.has(item.chat.activeMessageId));
  assert.ok(item.chat.title.length > 0 && [...item.chat.title].length <= 200);
}

test(`reads or refuses ${rounds} damaged archives with a reason (seed ${seed})`, async () => {
  const random = seededBelow(seed);
  const path = join(folder, 'archive');
  let [whole, refused] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    await writeFile(path, await hostileArchive(random));
    try {
      const archive = await openArchive(path);
      try {
        for await (const item of readArchive(archive, 'me@example.org')) {
          assertWhole(prepare(await nameFiles(item, archive), 'me'));
          whole += 1;
        }
      } finally {
        archive.close();
      }
    } catch (error) {
      assert.ok(error instanceof ImportRefused, `round ${round}: ${error instanceof Error ? error.stack : error}`);
      assert.match(error.message, /^[A-Z].*[.”]$/);
      refused += 1;
    }
  }
  assert.ok(whole > 0 && refused > 0, `${whole} items, ${refused} refused`);
});

test('imported conversations are complete, and the others have a reason', async () => {
  const random = seededBelow(seed + 1);
  const who = await app.signIn();
  for (let round = 0; round < 4; round += 1) {
    const list = Array.from({ length: 8 }, (_, n) =>
      spoil({ ...chatGptConversation, conversation_id: `c${round}-${n}` }, random),
    );
    const { import: made, entries } = await bring(who, textOf(list));
    assert.equal(made.state, 'done', JSON.stringify(made.problems));
    const { new: fresh, same, more, leftOut, conversations } = made.counts;
    assert.equal(fresh + same + more + leftOut, conversations);
    for (const { outcome, reason } of entries) if (outcome === 'left_out') assert.ok(reason.length > 0);
  }
  for (const { messages } of await conversationsOf(who)) {
    const ids = new Set(messages.map(({ id }: Json) => id));
    assert.ok(messages.length > 0);
    assert.ok(messages.every(({ parentId }: Json) => parentId === null || ids.has(parentId)));
  }
});

test('refuses decompression bombs before they are unpacked', async () => {
  const path = join(folder, 'bomb');
  const refusal = async (archive: Buffer): Promise<string> => {
    await writeFile(path, archive);
    return openArchive(path).then(
      () => 'opened',
      (error: Error) => error.message,
    );
  };
  const zeros = Buffer.alloc(90 * 1024 * 1024);
  const bomb = await zipOf({ 'a.json': zeros, 'b.json': zeros, 'c.json': zeros, 'd.json': zeros });
  assert.match(await refusal(bomb), /far more than its size/);
  const nested = await zipOf({ 'inner.zip': await claudeArchive() });
  await writeFile(path, nested);
  const archive = await openArchive(path);
  await assert.rejects(async () => {
    for await (const _ of readArchive(archive, 'me@example.org'));
  }, /no export that Homeport knows/);
  archive.close();
});

test('an import continues where a crash left it, and imports nothing twice', async () => {
  const who = await app.signIn();
  const list = Array.from({ length: 6 }, (_, n) => ({
    ...chatGptConversation,
    conversation_id: `r-${n}`,
    title: `Resumed ${n}`,
  }));
  const { import: tried } = await bring(who, JSON.stringify(list), '?dryRun=1');
  // As after a crash: two conversations are imported, the others are not, and the process with the claim is gone.
  await bring(who, JSON.stringify(list.slice(0, 2)));
  const { pool } = app.database.database;
  await pool.query('update import_entries set is_done = true where import_id = $1 and position < 2', [tried.id]);
  await pool.query(
    `update imports set state = 'importing', is_wanted = true, claim = 'gone', claimed_until = now() - interval '1 s' where id = $1`,
    [tried.id],
  );
  app.service.deps.imports.look();
  const { import: done } = await settled(who, tried.id);
  assert.deepEqual([done.state, done.counts.imported], ['done', 6]);
  const titles = (await conversationsOf(who)).map(({ chat, messages }) => `${chat.title} ${messages.length}`);
  assert.deepEqual(
    titles,
    [0, 1, 2, 3, 4, 5].map((n) => `Resumed ${n} 5`),
  );
});
