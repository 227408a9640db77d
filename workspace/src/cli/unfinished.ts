import { rmSync } from 'node:fs';

/** Files that are only partly written; they are removed however this process ends. */
const files = new Set<string>();

export function beginFile(file: string): void {
  files.add(file);
}

/** It has its final name now, or is gone. */
export function endFile(file: string): void {
  files.delete(file);
}

export function removeUnfinished(): void {
  for (const file of files) rmSync(file, { force: true });
  files.clear();
}
