import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { documentBounds, type IndexedDocument } from '../../src/documents/document.ts';
import { extractDocument } from '../../src/documents/extract.ts';
import { extractInSandbox } from '../../src/documents/extractor.ts';
import { indexed } from '../../src/documents/pieces.ts';
import { likeness } from '../document-corpus/likeness.ts';
import { openTestSandbox } from '../sandbox/parsing.ts';

/** Files made by real programs (document-corpus/make.py), compared with their source texts. */

type Entry = { file: string; program: string; text: string; least?: number; why?: string };

const folder = join(import.meta.dirname, '../document-corpus');
const corpus: Entry[] = JSON.parse(await readFile(join(folder, 'corpus.json'), 'utf8'));
const enough = 0.99;
const sandbox = openTestSandbox();
after(() => sandbox.close());

const textOf = ({ pages }: IndexedDocument) =>
  pages.map(({ pieces }) => pieces.map(({ text }) => text).join('')).join('\n');

async function read({ file }: Entry): Promise<IndexedDocument> {
  return indexed(await extractDocument(await readFile(join(folder, 'files', file)), documentBounds));
}

test('extracts at least 99 % of the characters of every file, in their order', async () => {
  assert.ok(corpus.length >= 60, `${corpus.length} files`);
  const known = corpus.filter(({ least }) => least !== undefined);
  assert.ok(known.length <= corpus.length / 50, 'what is read less well stays an exception');
  const short: string[] = [];
  for (const entry of corpus) {
    const expected = await readFile(join(folder, 'texts', entry.text), 'utf8');
    const share = likeness(expected, textOf(await read(entry)));
    if (share < (entry.least ?? enough)) short.push(`${entry.file}: ${(share * 100).toFixed(2)} %`);
  }
  assert.deepEqual(short, []);
});

test('the process that reads documents returns the same for every kind', async () => {
  const firsts = new Map<string, { entry: Entry; document: IndexedDocument }>();
  for (const entry of corpus) {
    const extension = entry.file.slice(entry.file.lastIndexOf('.'));
    if (!firsts.has(extension)) firsts.set(extension, { entry, document: await read(entry) });
  }
  assert.equal(firsts.size, 13);
  for (const { entry, document } of firsts.values()) {
    const bytes = await readFile(join(folder, 'files', entry.file));
    assert.deepEqual(await extractInSandbox(sandbox, bytes, AbortSignal.timeout(300_000)), { document }, entry.file);
  }
});

test('the measure counts missing, added and misplaced characters', () => {
  const text = 'a text of forty characters, no more of it';
  assert.equal(likeness(text, text), 1);
  assert.equal(likeness('ab cd', 'ab  cd\n'), 1);
  assert.equal(likeness('# Ab\n- c', 'Ab\nc'), 1);
  assert.equal(likeness('abcd', 'abc'), 3 / 4);
  assert.equal(likeness('abc', 'abcd'), 3 / 4);
  assert.equal(likeness('abcd', 'abxd'), 3 / 4);
  assert.ok(likeness('one two three', 'three one two') < 0.7);
  assert.ok(likeness(text, 'something else') < 0.5);
  assert.equal(likeness(text, ''), 0);
});
