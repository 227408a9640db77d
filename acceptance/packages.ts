import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packages for a workspace, as `npm install` would put them there. */

const packages = join(import.meta.dirname, '../node_modules');

export function installPackages(folder: string, names: readonly string[]): void {
  const found = new Set<string>();
  for (const name of names) addWithDependencies(name, found);
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  for (const name of found) cpSync(join(packages, name), join(folder, 'node_modules', name), { recursive: true });
}

function addWithDependencies(name: string, found: Set<string>): void {
  const file = join(packages, name, 'package.json');
  if (found.has(name) || !existsSync(file)) return;
  found.add(name);
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(file, 'utf8'));
  for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) addWithDependencies(each, found);
}
