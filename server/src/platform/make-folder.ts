import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder with its parents, or throws. Node's own `recursive` loops forever if the system says that an
 * existing parent does not exist, as in /proc.
 */
export function makeFolder(folder: string, mode: number): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (!existsSync(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
