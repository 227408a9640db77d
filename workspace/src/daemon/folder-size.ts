import { execFile } from 'node:child_process';
import { clock } from '../clock.ts';

const freshMs = 60_000;
let bytes = 0;
let measuredAt = Number.NEGATIVE_INFINITY;
let isMeasuring = false;

/**
 * The bytes a folder takes on disk as measured last, 0 before the first measure; begins another one when that is older than a minute.
 * `du` runs at low priority and is given up after 30 s, so that a home of millions of files costs nobody a wait.
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
    // Unreadable folders make du fail, yet it says what it could count.
    const [, kibibytes] = /^(\d+)\s/.exec(stdout) ?? [];
    if (kibibytes !== undefined) bytes = Number(kibibytes) * 1024;
  });
}
