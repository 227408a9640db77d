const formulaStarts = new Set('=+-@|%\uff1d\uff0b\uff0d\uff20\uff5c\uff05\u2212');
/** Programs for tables read these as the end of a cell or row, depending on their language. */
const separators = new Set(';\t\r\n');
const invisible = /^[\s\p{Cc}\p{Cf}\p{Z}]$/u;

/**
 * A cell of a CSV file (RFC 4180). Programs for tables run texts that begin like a formula, so an apostrophe marks these
 * as text, also behind a semicolon, a tab or a line break. Numbers stay numbers.
 */
export function csvCell(value: string | number | null | undefined): string {
  if (typeof value !== 'string') return value === null || value === undefined ? '' : String(value);
  const text = withoutFormulas(value);
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function withoutFormulas(value: string): string {
  let text = /^[\t\r\n]/.test(value) ? "'" : '';
  let copied = 0;
  let start: number | undefined = 0;
  let at = 0;
  for (const character of value) {
    if (start !== undefined && formulaStarts.has(character)) {
      // The first cell is already marked if it begins with the separator.
      const mark = start === 0 && text !== '' ? '' : "'";
      text += value.slice(copied, start) + mark;
      copied = start;
      start = undefined;
    } else if (separators.has(character)) start = at + 1;
    else if (start !== undefined && !invisible.test(character)) start = undefined;
    at += character.length;
  }
  return text + value.slice(copied);
}
