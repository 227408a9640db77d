/**
 * Finds positions in a manifest's text: turns the paths of the server's faults (`users.0.email`) into line numbers,
 * from 1.
 */

/** The line of `path`, or of its nearest existing parent. */
export function lineOfPath(text: string, path: string): number | undefined {
  if (path === '') return undefined;
  const segments = path.split('.');
  return isJson(text) ? jsonLine(text, segments) : yamlLine(text, segments);
}

/** The line that a parser's message mentions. */
export function lineInMessage(message: string): number | undefined {
  const line = /\bline (\d+)/i.exec(message)?.[1];
  return line === undefined ? undefined : Number(line);
}

export function isJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

/** The line on which the text stops being valid JSON; undefined if all of it is valid. */
export function brokenJsonLine(text: string): number | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return lineAt(text, brokenAt(text));
  }
}

const scalar =
  /"(?:[^"\\\r\n]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const space = /[ \t\r\n]*/y;

/** Not all browsers name the position in their message, so it is searched for with a stack of open brackets. */
function brokenAt(text: string): number {
  const open: string[] = [];
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const isNext = (sign: string) => {
    take(space);
    if (text[at] !== sign) return false;
    at += 1;
    return true;
  };
  const key = () => {
    take(space);
    return text[at] === '"' && take(scalar) !== undefined && isNext(':');
  };
  for (;;) {
    take(space);
    const opening = text[at];
    if (opening === '{' || opening === '[') {
      at += 1;
      const closing = opening === '{' ? '}' : ']';
      if (!isNext(closing)) {
        open.push(closing);
        if (closing === '}' && !key()) return at;
        continue;
      }
    } else if (take(scalar) === undefined) return at;
    while (open.length > 0 && isNext(open.at(-1) ?? '')) open.pop();
    take(space);
    if (open.length === 0 || !isNext(',')) return at;
    if (open.at(-1) === '}' && !key()) return at;
  }
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** Walks valid JSON down to the value and returns the line of its key, or of the item. */
function jsonLine(text: string, segments: readonly string[]): number {
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  let best = 0;
  let token = tokens.exec(text);
  const next = () => {
    token = tokens.exec(text);
  };
  const skip = () => {
    let depth = 0;
    do {
      if (token?.[0] === '{' || token?.[0] === '[') depth += 1;
      if (token?.[0] === '}' || token?.[0] === ']') depth -= 1;
      next();
    } while (token && depth > 0);
  };
  for (const segment of segments) {
    const opening = token?.[0];
    if (opening !== '{' && opening !== '[') break;
    next();
    let index = 0;
    let isFound = false;
    while (token && token[0] !== '}' && token[0] !== ']') {
      const at = token.index;
      const key = opening === '{' ? unquote(token[0]) : String(index);
      if (opening === '{') {
        next();
        next();
      }
      if (key === segment) {
        best = at;
        isFound = true;
        break;
      }
      skip();
      if (token?.[0] === ',') next();
      index += 1;
    }
    if (!isFound) break;
  }
  return lineAt(text, best);
}

type YamlEntry = { line: number; indent: number; text: string };

/** Follows keys and dashes by their indentation; something written on one line (`{…}`) is that line. */
function yamlLine(text: string, segments: readonly string[]): number | undefined {
  let block = yamlEntries(text);
  let best: number | undefined;
  for (const segment of segments) {
    const indent = block[0]?.indent ?? 0;
    const starts = block.flatMap((entry, index) => (entry.indent === indent ? [index] : []));
    const isList = block[starts[0] ?? 0]?.text === '-';
    const items = isList ? starts.filter((index) => block[index]?.text === '-') : starts;
    const from = isList ? items[Number(segment)] : items.find((index) => keyOf(block[index]?.text) === segment);
    const found = from === undefined ? undefined : block[from];
    if (from === undefined || !found) break;
    best = found.line;
    block = childrenOf(block, from, found, isList);
  }
  return best;
}

function childrenOf(block: readonly YamlEntry[], from: number, parent: YamlEntry, isItem: boolean): YamlEntry[] {
  const rest = block.slice(from + 1);
  // YAML allows a key's items below it without indentation.
  const isInside = (entry: YamlEntry) =>
    entry.indent > parent.indent || (!isItem && entry.indent === parent.indent && entry.text === '-');
  const end = rest.findIndex((entry) => !isInside(entry));
  return end < 0 ? rest : rest.slice(0, end);
}

/** The lines with content; a dash and what follows it are two entries. */
function yamlEntries(text: string): YamlEntry[] {
  return text.split('\n').flatMap((content, index) => {
    const entries: YamlEntry[] = [];
    let indent = content.length - content.trimStart().length;
    let rest = content.trim();
    if (rest === '' || rest.startsWith('#') || rest === '---') return [];
    while (/^-(\s|$)/.test(rest)) {
      entries.push({ line: index + 1, indent, text: '-' });
      const after = rest.slice(1);
      indent += 1 + (after.length - after.trimStart().length);
      rest = after.trim();
    }
    if (rest !== '') entries.push({ line: index + 1, indent, text: rest });
    return entries;
  });
}

function keyOf(text: string | undefined): string | undefined {
  const key = /^("(?:[^"\\]|\\.)*"\s*|'[^']*'\s*|[^:#]+):(?:\s|$)/.exec(text ?? '')?.[1]?.trimEnd();
  if (key === undefined || key === '') return undefined;
  return key.startsWith('"') ? unquote(key) : key.replace(/^'|'$/g, '');
}

function unquote(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
