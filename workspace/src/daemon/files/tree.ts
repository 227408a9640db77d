import { setImmediate } from 'node:timers/promises';
import { clock } from '../../clock.ts';
import { close, look, statOf } from './descriptors.ts';
import { errnoOf } from './fault.ts';
import { namesIn } from './read.ts';
import type { Found, Home } from './walk.ts';

const depthMax = 64;

/** How far a walk may go; it sets `isCut` when it went no further. */
export type Bounds = { entriesLeft: number; until: number; isCut: boolean };
/** Something in a tree, held until the next is asked for. `names` lead to it from the walk's root. */
export type Visited = Found & { names: readonly string[] };

/**
 * Everything below a held folder, each folder before what is in it, in no order besides. Links are met, never followed; other
 * file systems are left out.
 */
export async function* walkTree(
  home: Home,
  root: number,
  bounds: Bounds,
  signal: AbortSignal,
  names: readonly string[] = [],
): AsyncGenerator<Visited> {
  for await (const { name } of namesIn(root, signal)) {
    if (bounds.entriesLeft <= 0 || clock.elapsed() > bounds.until) bounds.isCut = true;
    if (bounds.isCut) return;
    bounds.entriesLeft -= 1;
    if (bounds.entriesLeft % 256 === 0) await setImmediate();
    const descriptor = lookOrMiss(root, name);
    if (descriptor === undefined) continue;
    try {
      const stats = statOf(descriptor);
      if (stats.dev !== home.device) continue;
      const below = [...names, name];
      yield { descriptor, stats, names: below };
      if (!stats.isDirectory()) continue;
      if (below.length >= depthMax) bounds.isCut = true;
      else yield* walkFolder(home, descriptor, bounds, signal, below);
    } finally {
      close(descriptor);
    }
  }
}

/** A folder that may not be read, or went away, has nothing in it. */
async function* walkFolder(
  ...[home, root, bounds, signal, names]: Parameters<typeof walkTree>
): AsyncGenerator<Visited> {
  try {
    yield* walkTree(home, root, bounds, signal, names);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'ENOENT'].includes(errnoOf(error))) throw error;
  }
}

function lookOrMiss(folder: number, name: string): number | undefined {
  try {
    return look(folder, name);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(errnoOf(error))) return undefined;
    throw error;
  }
}
