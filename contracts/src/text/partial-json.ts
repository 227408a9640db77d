const literals = ['true', 'false', 'null'];
const numberPattern = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/;
const tokenPattern = /[-+.\w]+/y;

/**
 * Parses JSON text that is possibly truncated: closes open strings and containers. Returns undefined without a value.
 */
export function parsePartialJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return parseClosed(closeJson(text));
  }
}

function parseClosed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function closeJson(text: string): string {
  const closers: string[] = [];
  const close = (end: number, extra = ''): string => text.slice(0, end) + extra + closers.toReversed().join('');
  let whole = 0;
  let expectsKey = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']');
      expectsKey = char === '{';
      whole = at + 1;
    } else if (char === '}' || char === ']') {
      closers.pop();
      whole = at + 1;
    } else if (char === ',') {
      expectsKey = closers.at(-1) === '}';
    } else if (char === ':') {
      expectsKey = false;
    } else if (char === '"') {
      const { end, isClosed } = readString(text, at);
      if (!isClosed) return expectsKey ? close(whole) : close(end, '"');
      if (!expectsKey) whole = end + 1;
      at = end;
    } else if (!isSpace(char)) {
      tokenPattern.lastIndex = at;
      const token = tokenPattern.exec(text)?.[0] ?? '';
      if (token === '') return close(whole);
      if (at + token.length === text.length) return closeToken(close, token, at, whole);
      at += token.length - 1;
      whole = at + 1;
    }
  }
  return close(whole);
}

function closeToken(close: (end: number, extra?: string) => string, token: string, at: number, whole: number): string {
  const literal = literals.find((word) => word.startsWith(token));
  if (literal !== undefined) return close(at, literal);
  const number = numberPattern.exec(token)?.[0];
  return number === undefined ? close(whole) : close(at, number);
}

/** `end` is the position of the closing quote or, without one, after the last complete character. */
function readString(text: string, start: number): { end: number; isClosed: boolean } {
  let at = start + 1;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') return { end: at, isClosed: true };
    const length = char !== '\\' ? 1 : text[at + 1] === 'u' ? 6 : 2;
    if (at + length > text.length) break;
    at += length;
  }
  return { end: at, isClosed: false };
}

function isSpace(char: string | undefined): boolean {
  return char === ' ' || char === '\n' || char === '\r' || char === '\t';
}
