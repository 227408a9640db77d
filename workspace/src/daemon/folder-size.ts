import { execFile } from 'node:child_process';
import { clock } from '../clock.ts';

const freshMs = 60_000;
let bytes = 0;
let measuredAt = Number.NEGATIVE_INFINITY;
let isMeasuring = false;

/**
 * A folder's size on disk as last measured, 0 before the first time; starts a new measurement if that is older than a
 * minute. `du` runs at low priority and is stopped after 30 s, so that nobody waits for a home with millions of files.
 */
export function measureFolder(path: string): number {
  if (!isMeasuring && clock.elapsed() - measuredAt > freshMs) measure(path);
  return bytes;
}

function measure(path: string): void {
  isMeasuring = true;
  const options = { timeout: 30_000, maxBuffer: 64 * 1024 };
  execFile('nice', ['-n', '19', 'du', '-sxk', '--', path], options, (_error, stdout) => {
    isMeasuring = false;
    measuredAt = clock.elapsed();
    // Unreadable folders make du fail, but it still reports what it could count.
    const [, kibibytes] = /^(\d+)\s/.exec(stdout) ?? [];
    if (kibibytes !== undefined) bytes = Number(kibibytes) * 1024;
  });
}
