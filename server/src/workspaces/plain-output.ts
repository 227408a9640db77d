/** A program's output as a terminal would show it in the end, as plain text. */

// Colors, titles, cursor movements and device control strings of programs that take a pipe for a terminal.
const escapes =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins them.
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[ -/]+[0-~]|[0-~])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins it.
const erasesLine = /\u001b\[[0-2]?[JK]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a bell makes no text.
const silent = /[\u0000\u0007\u000e\u000f]/g;
/** A line that carriage returns rewrite keeps this many characters. */
const rewrittenMax = 2_000;

/** The text without escape sequences; carriage returns and backspaces move within their line. */
export function plainOutput(text: string): string {
  if (!/[\r\b]/.test(text)) return withoutEscapes(text);
  return text.split('\n').map(plainLine).join('\n');
}

/** One line. The text after a carriage return replaces as many characters from the start of the line. */
function plainLine(line: string): string {
  if (!/[\r\b]/.test(line)) return withoutEscapes(line);
  let shown = '';
  for (const piece of line.split('\r')) {
    const text = applyBackspaces(withoutEscapes(piece));
    const kept = erasesLine.test(piece) ? '' : shown.slice(text.length);
    shown = (text + kept).slice(0, rewrittenMax);
  }
  return shown.toWellFormed();
}

function applyBackspaces(text: string): string {
  if (!text.includes('\b')) return text;
  const cells: string[] = [];
  let at = 0;
  for (const character of text) {
    if (character === '\b') at = Math.max(0, at - 1);
    else cells[at++] = character;
  }
  return cells.join('');
}

function withoutEscapes(text: string): string {
  return text.replace(escapes, '').replace(silent, '');
}
