import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Namespace } from '../../src/artifacts/namespaces.ts';
import { extractorVersion } from '../../src/documents/document.ts';
import { searchDocuments } from '../../src/documents/document-search.ts';
import { createTestDatabase, seed, type TestDatabase } from '../database.ts';

/**
 * Search over more pages than a common word is looked up in. `npm run bench -- document-search` does it at full size.
 */

const documents = 120;
const pagesEach = 20;
const namespace = { key: 'project:library' } as Namespace;

/** Every page has the usual words; a few pages have facts, and others have nearly the same. */
const facts: [document: number, page: number, text: string][] = [
  [17, 4, 'The deposit for green garages in Altenburg is 480 a month.'],
  [17, 5, 'The warranty for green garages in Altenburg ends in May.'],
  [40, 9, 'The deposit for blue garages in Altenburg is 510 a month.'],
  [40, 10, 'The deposit for green cellars in Neustadt is 90 a month.'],
  [99, 20, 'The inspector of the lighthouses came from Brunsbek.'],
  [70, 2, 'The keeper of the lighthouse is called Ada.'],
  [12, 1, 'The inspector of the harbour is ill.'],
  [63, 13, 'Die Kündigungsfrist der Werkstätten beträgt sechs Wochen.'],
];
const questions: [text: string, document: number, page: number][] = [
  ['What is the deposit for a green garage in Altenburg?', 17, 4],
  ['the warranties of the green garage at Altenburg', 17, 5],
  ['Which inspectors did the lighthouse of Brunsbek have?', 99, 20],
  ["Who are the lighthouses' keepers?", 70, 2],
  ['Wie lang ist die Kündigungsfristen einer Werkstatt?', 63, 13],
];

test('a question finds its page among thousands, with other forms of its words', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  await fill(database);
  const { kysely } = database.database;
  const find = async (query: string) =>
    (await searchDocuments(kysely, [namespace], query, 5)).map(({ file, page }) => `${file} ${page}`);
  // Before the table is analyzed, the planner has no statistics of its words.
  for (const known of [false, true]) {
    if (known) await seed(database.database, 'analyze documents, document_chunks');
    for (const [text, document, page] of questions) {
      assert.equal((await find(text))[0], `doc${document}.pdf ${page}`, `${text} (${known})`);
    }
    assert.equal((await find('the and of')).length, 5, 'a question of usual words alone finds some pages');
    assert.deepEqual(await find('zyzzyva'), []);
  }
});

async function fill({ database }: TestDatabase): Promise<void> {
  const sha = "encode(sha256(convert_to('doc ' || n, 'UTF8')), 'hex')";
  const each = `from generate_series(0, ${documents - 1}) as n`;
  await seed(database, "insert into projects (id, name) values ('library', 'Library')");
  await seed(database, `insert into blobs (sha256, key, size) select ${sha}, 'k' || n, 1 ${each}`);
  await seed(
    database,
    `insert into artifacts (id, project_id, path, search, media_type, size, sha256)
     select 'a' || n, 'library', 'doc' || n || '.pdf', 'doc' || n || '.pdf', 'application/pdf', 1, ${sha} ${each}`,
  );
  await seed(
    database,
    `insert into documents (sha256, version, state, kind, pages, tokens)
     select ${sha}, $1, 'ready', 'pdf', ${pagesEach}, 1 ${each}`,
    [extractorVersion],
  );
  await seed(
    database,
    `insert into document_chunks (sha256, version, page, piece, label, text, words)
     select ${sha}, $1, page, 0, 'page ' || page, text, to_tsvector('simple', lower(text))
     from (select n, page, 'The and of in a month for what is page ' || n * 31 || ' ' || page || ' ' || coalesce(fact, '') as text
       ${each} cross join generate_series(1, ${pagesEach}) as page
       left join unnest($2::int[], $3::int[], $4::text[]) as f (document, at, fact) on f.document = n and f.at = page) pages`,
    [
      extractorVersion,
      facts.map(([document]) => document),
      facts.map(([, page]) => page),
      facts.map(([, , text]) => text),
    ],
  );
}
