import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listStatements, searchStatements } from '../../src/artifacts/artifact-list.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, paths } from './artifact-makers.ts';

/** Searching and listing among many files. */

let app: TestApp;
let user: SignedIn;
let chatId: string;
const count = 6_000;
const nameOf = (n: number) =>
  `folder ${String(n % 40).padStart(2, '0')}/Report_${n}${n % 1000 === 7 ? ' Größe 100%' : ''}.txt`;
const inOrder = Array.from({ length: count }, (_, n) => nameOf(n)).sort((a, b) =>
  Buffer.compare(Buffer.from(a), Buffer.from(b)),
);

before(async () => {
  app = await startTestApp();
  user = await app.signIn();
  chatId = await createChat(user);
  const neighbour = await createChat(user);
  // The pool's connections have a statement timeout.
  const client = await app.database.database.openClient();
  const sha256 = 'a'.repeat(64);
  // In one transaction: the sweep can delete a blob without a reference at any moment.
  await client.query('begin');
  await client.query(`insert into blobs (sha256, key, size) values ($1, 'none', 1)`, [sha256]);
  for (const id of [chatId, neighbour]) {
    await client.query(
      `insert into artifacts (id, chat_id, path, search, media_type, size, sha256)
       select gen_random_uuid(), $1, path, lower(path collate "default"), 'text/plain', 1, $2 from unnest($3::text[]) path`,
      [id, sha256, inOrder],
    );
  }
  await client.query('commit');
  await client.query('vacuum analyze artifacts');
  await client.end();
});
after(() => app.stop());

async function all(query: Record<string, string>): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page = { chatId, limit: '500', ...query, ...(cursor === null ? {} : { cursor }) };
    const { body } = await user.call('GET /api/artifacts', undefined, { query: page });
    found.push(...body.artifacts.map((artifact: { path: string }) => artifact.path));
    cursor = body.nextCursor;
  } while (cursor !== null);
  return found;
}

test('finds files by literal text in any case, in order and in pages', async () => {
  for (const q of [
    'größe',
    'GRÖSSE',
    'report_7.',
    'report_7',
    '100%',
    '_',
    '%',
    'r',
    '07',
    'er 07/rep',
    'missing',
    '\\',
    'e 1',
  ]) {
    const expected = inOrder.filter((path) => path.toLowerCase().includes(q.toLowerCase()));
    const found = await all({ q });
    assert.equal(found.length, expected.length, q);
    assert.deepEqual(found, expected, q);
  }
});

test('searches within the given folder only', async () => {
  const expected = inOrder.filter((path) => path.startsWith('folder 07/') && path.includes('77'));
  assert.deepEqual(await all({ q: '77', prefix: 'folder 07' }), expected);
  assert.deepEqual(await paths(user, { chatId, q: '77', prefix: 'folder' }), []);
});

test('lists and searches read index ranges, never the whole table', async () => {
  const { pool } = app.database.database;
  const plan = async (text: string, values: unknown[]) =>
    JSON.stringify((await pool.query(`explain (format json) ${text}`, values)).rows);
  const key = `chat:${chatId}`;
  const page = [key, 'folder 20/', 101];
  for (const [text, values] of [
    [listStatements.all.text, page],
    [listStatements.below.text, [...page, 'folder 200']],
    [searchStatements.window(''), [...page, '%port%']],
    [searchStatements.window('$5'), [...page, '%port%', 'folder 200']],
  ] as const) {
    const explained = await plan(text, [...values]);
    assert.match(explained, /artifacts_namespace_path_key/, text);
    assert.doesNotMatch(explained, /Seq Scan|"Sort"/, text);
  }
  const rare = await plan(searchStatements.index(''), [key, '', 101, '%größe%']);
  assert.match(rare, /artifacts_search/);
  assert.doesNotMatch(rare, /Seq Scan/);
});
