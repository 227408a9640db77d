import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Namespace } from '../../src/artifacts/namespaces.ts';
import { searchText } from '../../src/conversations/search-text.ts';
import { extractorVersion } from '../../src/documents/document.ts';
import { searchDocuments } from '../../src/documents/document-search.ts';
import { createTestDatabase, seed, type TestDatabase } from '../database.ts';
import { gainOf, makeRankingCorpus } from './ranking-corpus.ts';

/** How well the search ranks, on 1,400 documents and a third of the 225 questions. */

const asked = 75;

const namespace = { key: 'project:library' } as Namespace;
const corpus = makeRankingCorpus();
const extra = [
  'Invoice INV-2024-001 is due.',
  'Invoice INV-2024-0011 and INV-2024-002 with 001 remarks. '.repeat(20),
  'Release 2.3.1 mends the export.',
  'Releases 2.3.10 and 12.3.1: 2 of 3 tests, 1 failure. '.repeat(20),
  'The method getUserById returns one person.',
  'User by id: the user has an id, by which the user is found. '.repeat(20),
];
let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
  const texts = [...corpus.documents.map(({ text }) => text), ...extra];
  const sha = "encode(sha256(convert_to('doc ' || n, 'UTF8')), 'hex')";
  const each = `from generate_series(0, ${texts.length - 1}) as n`;
  const client = database.database;
  await seed(client, "insert into projects (id, name) values ('library', 'Library')");
  await seed(client, `insert into blobs (sha256, key, size) select ${sha}, 'k' || n, 1 ${each}`);
  await seed(
    client,
    `insert into artifacts (id, project_id, path, search, media_type, size, sha256)
     select 'a' || n, 'library', n || '.txt', n || '.txt', 'text/plain', 1, ${sha} ${each}`,
  );
  await seed(
    client,
    `insert into documents (sha256, version, state, kind, pages, tokens) select ${sha}, $1, 'ready', 'text', 1, 1 ${each}`,
    [extractorVersion],
  );
  await seed(
    client,
    `insert into document_chunks (sha256, version, page, piece, label, text, words)
     select ${sha}, $1, 1, 0, 'part 1', text, to_tsvector('simple', words)
     from unnest($2::text[], $3::text[]) with ordinality as given (text, words, place) cross join lateral (select place - 1 as n) at`,
    [extractorVersion, texts, texts.map(searchText)],
  );
  await seed(client, 'analyze documents, document_chunks');
  return async () => database.drop();
});

const find = async (query: string): Promise<number[]> => {
  const found = await searchDocuments(database.database.kysely, [namespace], query, 8);
  return found.map(({ file }) => Number(file.replace('.txt', '')));
};

test('ranks the documents that answer a question before those that share its words', async () => {
  let gain = 0;
  for (const { text, relevant } of corpus.questions.slice(0, asked)) gain += gainOf(await find(text), relevant);
  const average = gain / asked;
  assert.ok(average >= 0.36, `nDCG@8 is ${average.toFixed(3)}`);
});

const exact: [query: string, place: number][] = [
  ['What about invoice INV-2024-001?', 0],
  ['which release is 2.3.1', 2],
  ['getUserById', 4],
];
for (const [query, place] of exact) {
  test(`finds the exact number or name of "${query}" first`, async () => {
    assert.equal((await find(query))[0], corpus.documents.length + place);
  });
}
