import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { ownProcesses } from './own-processes.ts';
import { toolPath } from './tool-path.ts';

const run = promisify(execFile);
const roundsMax = 5;
const roundMs = 20_000;

/**
 * Switches writing to files off or on for all processes, through the limit on the size of files: this needs no
 * privilege, and deleting still works. Later processes inherit the limit from the daemon.
 */
export async function setWriting(isAllowed: boolean): Promise<void> {
  const soft = isAllowed ? usualLimit : '0';
  const done = new Set<string>();
  for (let round = 0; round < roundsMax; round += 1) {
    const pids = ownProcesses().filter((pid) => !done.has(pid));
    if (pids.length === 0) return;
    for (const pid of pids) done.add(pid);
    const each = 'for pid; do prlimit --pid "$pid" --fsize="$0": 2>/dev/null; done; exit 0';
    const options = { timeout: roundMs, env: { PATH: toolPath } };
    await run('sh', ['-c', each, soft, String(process.pid), ...pids], options).catch(() => undefined);
  }
}

/** As the daemon was started. */
const usualLimit = readLimit();

function readLimit(): string {
  try {
    return /^Max file size\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 'unlimited';
  } catch {
    return 'unlimited';
  }
}
