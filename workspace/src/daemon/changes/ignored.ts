import { join } from 'node:path';
import { fitsPath } from '../file-system/glob.ts';
import { readStart } from '../file-system/read-start.ts';

/** Of a longer file only this much counts. */
const rulesBytesMax = 64 * 1024;
const rulesMax = 2_000;
const ruleCharsMax = 512;

/** Folders that are never scanned: version history, and files that tools can regenerate. */
const everywhere = new Set(['.git', 'node_modules', '.venv', '__pycache__']);
const inTheHome = new Set(['.workspace', '.cache', '.npm']);

/** One line of a `.gitignore`. `fits` takes the names of a path below its folder. */
type Rule = { isBack: boolean; isForFolders: boolean; fits: (names: readonly string[]) => boolean };
/** The rules of a folder and of those that lead to it, the innermost first; in each, the last line first. */
export type Rules = readonly { folder: string; rules: readonly Rule[] }[];

/** Adds the folder's `.gitignore`, if it has one. */
export function rulesIn(home: string, folder: string, outer: Rules): Rules {
  try {
    const text = readStart(join(home, folder, '.gitignore'), rulesBytesMax).toString('utf8');
    return [{ folder, rules: parseRules(text) }, ...outer];
  } catch {
    return outer;
  }
}

/** Whether a path is left out; `path` is relative to the home. The rules nearest to it decide. */
export function isIgnored(path: string, isDirectory: boolean, rules: Rules): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (everywhere.has(name) || inTheHome.has(path)) return true;
  for (const { folder, rules: own } of rules) {
    const names = (folder === '' ? path : path.slice(folder.length + 1)).split('/');
    const rule = own.find(({ isForFolders, fits }) => (isDirectory || !isForFolders) && fits(names));
    if (rule !== undefined) return !rule.isBack;
  }
  return false;
}

/** As gitignore(5) has it, in a time that is linear for any pattern: repositories come from strangers. */
export function parseRules(text: string): readonly Rule[] {
  const lines = text.split(/\r?\n/, rulesMax);
  return lines.flatMap((line) => (line.length > ruleCharsMax ? [] : parseRule(line))).reverse();
}

function parseRule(line: string): Rule[] {
  if (line.startsWith('#')) return [];
  let pattern = line;
  while (pattern.endsWith(' ') && !pattern.endsWith('\\ ')) pattern = pattern.slice(0, -1);
  const isBack = pattern.startsWith('!');
  if (isBack) pattern = pattern.slice(1);
  const isForFolders = pattern.endsWith('/');
  const parts = pattern.split('/').filter((part) => part !== '');
  if (parts.length === 0) return [];
  const isAnywhere = !(isForFolders ? pattern.slice(0, -1) : pattern).includes('/');
  return [{ isBack, isForFolders, fits: isAnywhere ? fitsName(parts[0] ?? '') : fitsNames(parts) }];
}

function fitsNames(parts: readonly string[]): Rule['fits'] {
  // A pattern that ends with `**` matches the content of the folder.
  const whole = parts.at(-1) === '**' ? [...parts, '*'] : parts;
  return (names) => fitsPath(whole, names);
}

/** Most patterns are a name, or an ending. */
function fitsName(pattern: string): Rule['fits'] {
  const last = (names: readonly string[]): string => names.at(-1) ?? '';
  if (!/[*?[\\]/.test(pattern)) return (names) => last(names) === pattern;
  const ending = pattern.slice(1);
  if (pattern.startsWith('*') && !/[*?[\\]/.test(ending)) return (names) => last(names).endsWith(ending);
  return (names) => fitsPath([pattern], [last(names)]);
}
