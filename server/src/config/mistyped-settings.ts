import { settingTable } from './settings-table.ts';

type Environment = Readonly<Record<string, string | undefined>>;

// Variables of systems and other programs that look like one of our settings but are not meant as one.
const notOurs = new Set(['EDITOR', 'HOME', 'HOSTNAME', 'HOSTTYPE', 'http_proxy', 'https_proxy', 'no_proxy']);
/** Shorter names are too close to too many others. */
const longNameFrom = 8;
const mostSteps = 2;

/**
 * Variables that nothing reads and that are within two letters of a setting (one letter for short names), with its
 * name.
 */
export function findMistyped(environment: Environment): { setting: string; meant: string }[] {
  const names = Object.values(settingTable).map(({ name }) => name);
  const known = new Set([...names, ...names.map((name) => `${name}_FILE`)]);
  return Object.keys(environment)
    .filter((name) => !known.has(name) && !notOurs.has(name))
    .flatMap((name) => {
      const meant = nearest(name, known);
      return meant === undefined ? [] : [{ setting: name, meant }];
    });
}

function nearest(name: string, known: ReadonlySet<string>): string | undefined {
  const upper = name.toUpperCase();
  let found: string | undefined;
  let fewest = mostSteps + 1;
  for (const candidate of known) {
    const steps = distance(upper, candidate);
    if (steps >= fewest || (steps > 1 && candidate.length < longNameFrom)) continue;
    found = candidate;
    fewest = steps;
  }
  return found;
}

/** Edit distance, with swaps of adjacent letters; beyond the limit the exact number is not computed. */
function distance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > mostSteps) return mostSteps + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const steps = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + same,
        swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      current.push(steps);
      least = Math.min(least, steps);
    }
    // No later row can be closer than the last two.
    if (least > mostSteps && Math.min(...last) > mostSteps) return mostSteps + 1;
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
