/**
 * Prints how much of the words of a corpus the document readers find, for each kind of file.
 *
 *   node scripts/document-recall.mjs [folder ...]
 *
 * Without a folder it reads the corpus of the tests. In another folder, the text of `name.pdf` is `name.pdf.txt`, taken
 * from the source of the file or from an independent reader.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

const corpus = join(import.meta.dirname, '../server/test/document-corpus');
/** The share of its words from which a file counts as read. */
const enough = 0.95;

/**
 * The share of the expected words that the text has, each as often as it is expected; in scripts without spaces each
 * character is a word. Marks that the readers add lower nothing.
 *
 * @param {string} expected
 * @param {string} actual
 */
export function wordRecall(expected, actual) {
  const left = new Map();
  for (const word of wordsOf(actual)) left.set(word, (left.get(word) ?? 0) + 1);
  let found = 0;
  const words = wordsOf(expected);
  for (const word of words) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    found += 1;
    left.set(word, count - 1);
  }
  return words.length === 0 ? 1 : found / words.length;
}

const alone = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** @param {string} text */
function wordsOf(text) {
  const plain = text.normalize('NFKC').replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '');
  const words = [];
  let word = '';
  for (const character of plain.toLowerCase()) {
    const isAlone = alone.test(character);
    if (!isAlone && /[\p{L}\p{M}\p{N}]/u.test(character)) {
      word += character;
      continue;
    }
    if (word !== '') words.push(word);
    word = '';
    if (isAlone) words.push(character);
  }
  if (word !== '') words.push(word);
  return words;
}

/**
 * The files of a folder that have a text.
 *
 * @param {string} folder
 */
async function pairsIn(folder) {
  if (folder === corpus) {
    /** @type {{ file: string; text: string }[]} */
    const entries = JSON.parse(await readFile(join(folder, 'corpus.json'), 'utf8'));
    return entries.map(({ file, text }) => ({ file: join(folder, 'files', file), text: join(folder, 'texts', text) }));
  }
  const names = new Set(await readdir(folder));
  return [...names]
    .filter((name) => names.has(`${name}.txt`))
    .map((name) => ({ file: join(folder, name), text: join(folder, `${name}.txt`) }));
}

/** @param {readonly string[]} folders */
async function main(folders) {
  const { extractDocument } = await import('../server/src/documents/extract.ts');
  const { documentBounds } = await import('../server/src/documents/document.ts');
  /** @type {Map<string, { share: number; file: string }[]>} */
  const kinds = new Map();
  for (const folder of folders) {
    for (const { file, text } of await pairsIn(folder)) {
      const shares = kinds.get(extname(file)) ?? [];
      kinds.set(extname(file), shares);
      const read = await extractDocument(await readFile(file), documentBounds).catch(() => undefined);
      const words = read?.pages.map((page) => page.text).join('\n') ?? '';
      shares.push({ file, share: wordRecall(await readFile(text, 'utf8'), words) });
    }
  }
  console.log(`kind      files  at ${enough} or better          lowest`);
  for (const [kind, shares] of [...kinds].sort()) {
    const good = shares.filter(({ share }) => share >= enough).length;
    const lowest = shares.reduce((low, one) => (one.share < low.share ? one : low));
    const share = `${((good / shares.length) * 100).toFixed(1)} %`;
    const least = lowest.share < 1 ? `${lowest.share.toFixed(3)} ${lowest.file}` : '1';
    console.log(
      `${kind.padEnd(9)} ${String(shares.length).padStart(5)}  ${String(good).padStart(5)} ${share.padStart(8)}  ${' '.repeat(8)}${least}`,
    );
  }
}

if (process.argv[1] === import.meta.filename) {
  const folders = process.argv.slice(2);
  await main(folders.length === 0 ? [corpus] : folders);
}
