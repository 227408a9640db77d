import { setImmediate } from 'node:timers/promises';
import { clock } from '../../clock.ts';
import { errnoOf } from '../file-system/system-errors.ts';
import { close, look, statOf } from './descriptors.ts';
import { type Name, shownName } from './names.ts';
import { namesIn } from './read.ts';
import type { Found, Home } from './walk.ts';

const depthMax = 64;

/** How far a walk may go; it sets `isCut` if it stopped early. */
export type Bounds = { entriesLeft: number; until: number; isCut: boolean };
/** Something in a tree, held until the next one is requested. `names` lead to it from the walk's root. */
export type Visited = Found & { names: readonly string[] };

/**
 * Everything below an open folder, each folder before its content, otherwise in no order. Links are listed but not
 * followed; other file systems are left out.
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
      const below = [...names, shownName(name)];
      yield { descriptor, stats, names: below };
      if (!stats.isDirectory()) continue;
      if (below.length >= depthMax) bounds.isCut = true;
      else yield* walkFolder(home, descriptor, bounds, signal, below);
    } finally {
      close(descriptor);
    }
  }
}

/** A folder that is unreadable or gone counts as empty. */
async function* walkFolder(
  ...[home, root, bounds, signal, names]: Parameters<typeof walkTree>
): AsyncGenerator<Visited> {
  try {
    yield* walkTree(home, root, bounds, signal, names);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'ENOENT'].includes(errnoOf(error))) throw error;
  }
}

function lookOrMiss(folder: number, name: Name): number | undefined {
  try {
    return look(folder, name);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(errnoOf(error))) return undefined;
    throw error;
  }
}
