import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';

const rulesBytesMax = 64 * 1024;

/** Never looked at: others keep their history here, or what can be made again. */
const everywhere = new Set(['.git', 'node_modules', '.venv', '__pycache__']);
const inTheHome = new Set(['.workspace', '.cache', '.npm']);

/** The rules of a folder and of those that lead to it, the innermost first. */
export type Rules = readonly { folder: string; rules: Ignore }[];

/** Adds the folder's `.gitignore`, if it has one. */
export function rulesIn(home: string, folder: string, outer: Rules): Rules {
  const path = join(home, folder, '.gitignore');
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > rulesBytesMax) return outer;
    return [{ folder, rules: ignore().add(readFileSync(path, 'utf8')) }, ...outer];
  } catch {
    return outer;
  }
}

/** Whether a path is left out; `path` is relative to the home. The rules nearest to it decide. */
export function isIgnored(path: string, isDirectory: boolean, rules: Rules): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (everywhere.has(name) || inTheHome.has(path)) return true;
  for (const { folder, rules: own } of rules) {
    const below = folder === '' ? path : path.slice(folder.length + 1);
    const { ignored, unignored } = own.test(isDirectory ? `${below}/` : below);
    if (ignored) return true;
    if (unignored) return false;
  }
  return false;
}
