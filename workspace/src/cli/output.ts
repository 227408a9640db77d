/** Text for people and for pipes. */

/** Writes to stdout, waiting until it is read. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Text written by others, on one line, without anything that a terminal would obey. */
export function printable(text: string): string {
  return text.replace(/[\t\n\r]+/g, ' ').replace(unsafe, '\ufffd');
}

/** The same for text with many lines. */
export function printableLines(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(unsafeInLines, '\ufffd');
}

const unsafe = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;
const unsafeInLines = /[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu;

export type Column = { title: string; align?: 'right' };

/** Rows below their titles; on a terminal the last column is cut at the edge, elsewhere nothing is. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], hasTitles: boolean): string {
  const lines = hasTitles ? [columns.map(({ title }) => title), ...rows] : rows;
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))));
  const maxWidth = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
  const last = columns.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0);
  return lines
    .map((line) => {
      const cells = columns.slice(0, last).map(({ align }, index) => {
        const cell = line[index] ?? '';
        const padding = ' '.repeat((widths[index] ?? 0) - widthOf(cell));
        return align === 'right' ? padding + cell : cell + padding;
      });
      return `${[...cells, cut(line[last] ?? '', Math.max(10, maxWidth - before))].join('  ')}\n`;
    })
    .join('');
}

function cut(text: string, maxWidth: number): string {
  if (widthOf(text) <= maxWidth) return text;
  let width = 0;
  let shown = '';
  for (const character of text) {
    width += widthOf(character);
    if (width > maxWidth - 1) break;
    shown += character;
  }
  return `${shown}…`;
}

/** Terminal columns: combining marks take none, East Asian characters and pictures two. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{M}|\p{Cf}/u.test(character)) continue;
    width += wide.test(character) ? 2 : 1;
  }
  return width;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

/** `1.2 kB`: three figures at most. */
export function humanSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** `2026-11-22 10:07`, in UTC like everything else in a workspace. */
export function humanTime(timestamp: string): string {
  return timestamp.slice(0, 16).replace('T', ' ');
}
