import { rmSync } from 'node:fs';

/** Files of which only a part is there yet; however this process ends, they go. */
const files = new Set<string>();

export function beginFile(file: string): void {
  files.add(file);
}

/** It has its own name now, or is gone. */
export function endFile(file: string): void {
  files.delete(file);
}

export function removeUnfinished(): void {
  for (const file of files) rmSync(file, { force: true });
  files.clear();
}
