import { readFileSync } from 'node:fs';

/** Current memory and CPU time of a process; undefined if the system does not report them or the process has ended. */
export function readUsage(pid: number): { memoryBytes: number; cpuMs: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const memory = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    // The name of the program before it may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    if (memory === undefined || !Number.isFinite(ticks)) return undefined;
    // Linux counts in hundredths of a second on all machines.
    return { memoryBytes: Number(memory) * 1024, cpuMs: ticks * 10 };
  } catch {
    return undefined;
  }
}
