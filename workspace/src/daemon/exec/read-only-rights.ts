import { type Machine, ownCalls } from './read-only-calls.ts';
import { readOnlyFilter } from './read-only-filter.ts';

/**
 * Arguments of the supervisor for read-only commands: system call numbers and the filter in hex. Undefined on other
 * machine types.
 */
export function readOnlyRights(machine: string = process.arch): string | undefined {
  if (!isMachine(machine)) return undefined;
  const { openat, setsid } = ownCalls[machine];
  return `${openat},${setsid},${readOnlyFilter(machine).toString('hex')}`;
}

function isMachine(name: string): name is Machine {
  return name in ownCalls;
}
