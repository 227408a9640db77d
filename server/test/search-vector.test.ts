import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { searchText, searchVectorText } from '../src/conversations/search-text.ts';
import { createEmptyDatabase, type TestDatabase } from './database.ts';

/** The words of a message are indexed as PostgreSQL itself would, whose parser also reads what people look for. */

let place: TestDatabase;
before(async () => {
  place = await createEmptyDatabase();
});
after(() => place.drop());

async function assertSame(text: string): Promise<void> {
  const words = searchText(text);
  const vector = searchVectorText(words);
  assert.ok(vector !== undefined, words.slice(0, 200));
  const { rows } = await place.database.pool.query<{ own: string; theirs: string }>(
    `select $1::tsvector::text as own, to_tsvector('simple', $2)::text as theirs`,
    [vector, words],
  );
  assert.equal(rows[0]?.own, rows[0]?.theirs, JSON.stringify(text.slice(0, 200)));
}

const texts: Record<string, string> = {
  nothing: '',
  'one word again and again': 'tea '.repeat(400),
  'more words than there are positions': 'a b c d e f g h i j '.repeat(2_500),
  'words that are too long': `${'a'.repeat(2_046)} ${'b'.repeat(2_047)} ${'é'.repeat(1_023)} ${'é'.repeat(1_024)} end`,
  numbers: '1 007 3.14 -5 1e5 2e 12e-5 0x1f 1st x86 64bit 1_000',
  code: "foo_bar->baz(qux) http://a.example/c?d=e#f a@b.example C++ 'quoted' \\back\\slash",
  'several languages': 'Größe façade Ελληνικά ΣΊΣΥΦΟΣ ısı Łódź часы їжак 👍🏽 §5',
};
for (const [name, text] of Object.entries(texts)) test(`the vector of ${name}`, () => assertSame(text));

test('the vector of every letter of Latin, Greek and Cyrillic, alone and beside others', async () => {
  let count = 0;
  for (let code = 1; code <= 0x52f; code++) {
    const letter = searchText(String.fromCodePoint(code));
    if (letter === '' || searchVectorText(letter) === undefined) continue;
    count += 1;
    await assertSame(`${letter} a${letter}1${letter}b 2${letter} ${letter}3`);
  }
  assert.ok(count > 800, `${count} letters`);
});

test('where the database decides what a word is, it makes the vector', () => {
  for (const text of ['हिन्दी', 'مُحَمَّد', '日本語', 'ภาษาไทย', '٣٤', 'a\u0333', '𝄞a 𞤀'])
    assert.equal(searchVectorText(searchText(text)), undefined, text);
});
