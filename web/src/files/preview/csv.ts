/**
 * Rows of a CSV or TSV text (RFC 4180); the delimiter is the most frequent candidate in the first line. At most `most`
 * rows.
 */
export function parseTable(text: string, most: number): { rows: string[][]; isCut: boolean } {
  const delimiter = delimiterOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const source = text.startsWith('\ufeff') ? text.slice(1) : text;
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at];
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (source[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === delimiter) {
      row.push(cell);
      cell = '';
    } else if (character === '\n' || character === '\r') {
      if (character === '\r' && source[at + 1] === '\n') at += 1;
      rows.push([...row, cell]);
      row = [];
      cell = '';
      if (rows.length === most) return { rows, isCut: at + 1 < source.length };
    } else cell += character;
  }
  if (cell !== '' || row.length > 0) rows.push([...row, cell]);
  return { rows, isCut: false };
}

function delimiterOf(text: string): string {
  const line = text.slice(0, 10_000).split('\n', 1)[0] ?? '';
  const counted = [',', ';', '\t'].map((each) => ({ each, count: line.split(each).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).each;
}
