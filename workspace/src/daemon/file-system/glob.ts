import { DaemonError } from '../daemon-error.ts';

const lengthMax = 512;
const alternativesMax = 64;

/**
 * Whether a path below some folder matches a pattern: `*` and `?` within a name, `**` across folders, `[a-z]`,
 * `{one,other}`. A pattern without a slash is compared with the name alone. Linear in both for any pattern. Throws
 * `invalid_request`.
 */
export function compileGlob(pattern: string): (names: readonly string[]) => boolean {
  if (pattern.length > lengthMax) throw fault(`longer than ${lengthMax} characters`);
  const alternatives = expandBraces(pattern).map((text) => {
    const parts = text.split('/').filter((part) => part !== '' && part !== '.');
    return text.includes('/') ? parts : ['**', ...parts];
  });
  return (names) => alternatives.some((parts) => fitsPath(parts, names));
}

/** The same for one pattern without braces, as its parts between slashes. */
export function fitsPath(parts: readonly string[], names: readonly string[]): boolean {
  return fits(parts, names, '**', fitsName);
}

/** The classic algorithm with one backtracking point; `star` matches any number of items. */
function fits<P, T>(
  parts: readonly P[],
  items: readonly T[],
  star: P,
  fitsOne: (part: P, item: T) => boolean,
): boolean {
  let part = 0;
  let item = 0;
  let returnPart = -1;
  let returnItem = 0;
  while (item < items.length) {
    const current = parts[part];
    if (part < parts.length && current === star) {
      returnPart = part;
      returnItem = item;
      part += 1;
    } else if (part < parts.length && fitsOne(current as P, items[item] as T)) {
      part += 1;
      item += 1;
    } else if (returnPart >= 0) {
      returnItem += 1;
      part = returnPart + 1;
      item = returnItem;
    } else return false;
  }
  while (part < parts.length && parts[part] === star) part += 1;
  return part === parts.length;
}

const compiled = new Map<string, string[]>();

function fitsName(pattern: string, name: string): boolean {
  let tokens = compiled.get(pattern);
  if (tokens === undefined) {
    tokens = [...pattern.matchAll(/\[(?:[!^]?\]?[^\]]*)\]|\\.|./gsu)].map(([token]) => token);
    if (compiled.size > 1000) compiled.clear();
    compiled.set(pattern, tokens);
  }
  return fits(tokens, [...name], '*', fitsCharacter);
}

function fitsCharacter(token: string, character: string): boolean {
  if (token === '?') return true;
  if (token.length > 2 && token.startsWith('[')) return fitsClass(token.slice(1, -1), character);
  return (token.length > 1 && token.startsWith('\\') ? token.slice(1) : token) === character;
}

function fitsClass(inside: string, character: string): boolean {
  const isNegated = /^[!^]/.test(inside);
  const members = [...(isNegated ? inside.slice(1) : inside)];
  let isIn = false;
  for (let index = 0; index < members.length; index += 1) {
    const low = members[index] ?? '';
    const high = members[index + 1] === '-' ? members[index + 2] : undefined;
    if (high === undefined) isIn ||= character === low;
    else {
      isIn ||= low <= character && character <= high;
      index += 2;
    }
  }
  return isIn !== isNegated;
}

/** `a{b,c}` as `ab` and `ac`; unclosed braces stand for themselves. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const todo = [pattern];
  while (true) {
    const next = todo.pop();
    if (next === undefined) return done;
    const [found] = [...next.matchAll(/\{([^{}]*)\}/g)].filter(([, inside]) => inside?.includes(','));
    if (found === undefined) done.push(next);
    else {
      const [whole, inside = ''] = found;
      const after = next.slice(found.index + whole.length);
      todo.push(...inside.split(',').map((one) => next.slice(0, found.index) + one + after));
    }
    if (done.length + todo.length > alternativesMax) throw fault(`more than ${alternativesMax} alternatives in braces`);
  }
}

function fault(what: string): DaemonError {
  return new DaemonError('invalid_request', `glob: ${what}`);
}
