/** A page of a document as it is shown: paragraphs, and tables where cells are separated by tabs. */
export type TextBlock = { kind: 'table'; rows: string[][] } | { kind: 'lines'; text: string };

/** Two lines with the same separator make a table; a single one is possibly just indented. */
const fewestRows = 2;

export function textBlocks(text: string): TextBlock[] {
  const blocks: TextBlock[] = [];
  let lines: string[] = [];
  let rows: string[] = [];
  const endLines = () => {
    const joined = trimOf(lines.join('\n'), '\n');
    if (joined !== '') blocks.push({ kind: 'lines', text: joined });
    lines = [];
  };
  const endRows = () => {
    if (rows.length < fewestRows) lines.push(...rows);
    else {
      endLines();
      blocks.push({ kind: 'table', rows: rows.map((row) => row.split('\t')) });
    }
    rows = [];
  };
  for (const line of text.split('\n')) {
    if (line.trimStart().includes('\t')) {
      rows.push(line);
      continue;
    }
    endRows();
    lines.push(line);
  }
  endRows();
  endLines();
  return blocks;
}

import { trimOf } from '@homeport/contracts/text/trim-characters';
