import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identifiersOf, placeOf } from './document-ranking.ts';

test('recognizes numbers, names and clauses of a question as they are typed', () => {
  const questions: [string, string[]][] = [
    ['What does clause 4.2(a) say?', ['4.2(a)']],
    ['Art. 6 (1)(f) and § 12a(2)', ['6(1)(f)', '12a(2)']],
    ['INV-2024-001 (paid)', ['inv-2024-001']],
    ['Does getUserById(id) throw?', ['getuserbyid']],
    ['the year 2024 (which was wet)', ['2024']],
  ];
  for (const [question, texts] of questions) {
    assert.deepEqual(
      identifiersOf(question).map(({ text }) => text),
      texts,
    );
  }
});

test('finds an identifier only where it is not a part of a longer one', () => {
  assert.equal(placeOf('see 14.2(a), then 4.2(a)(i)', '4.2(a)'), 18);
  assert.equal(placeOf('see 14.2(a)', '4.2(a)'), -1);
});
