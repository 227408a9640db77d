import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostileDocuments } from './hostile-documents.ts';
import { hostileImports } from './hostile-imports.ts';
import { hostileSettings } from './hostile-settings.ts';

/** Files made to crash, fill or block any parser. */

export type Attack = {
  name: string;
  /** Its path. */
  path: string;
  /** The upload that takes it. */
  to: 'files' | 'imports' | 'manifest' | 'skills' | 'registry';
};
/** `size` scales it, from a few to millions; `random` returns whole numbers below its argument. */
export type AttackMaker = (size: number, random: (below: number) => number) => Buffer;
export type AttackKind = { format: string; to: Attack['to']; makers: Record<string, AttackMaker> };

/** mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/**
 * Writes `count` files into the folder: cycles through the formats and the ways of attacking them; the first of each
 * format is the largest.
 */
export async function makeAttacks(folder: string, count: number, seed: number): Promise<Attack[]> {
  await mkdir(folder, { recursive: true });
  const kinds: AttackKind[] = [...hostileDocuments, ...(await hostileImports()), ...hostileSettings];
  const random = randomOf(seed);
  const attacks: Attack[] = [];
  for (let index = 0; index < count; index += 1) {
    const kind = kinds[index % kinds.length] ?? fail();
    const round = Math.floor(index / kinds.length);
    const makers = Object.entries(kind.makers);
    const [way, make] = makers[round % makers.length] ?? fail();
    const size = round === 0 ? 1_000_000 : 10 ** random(6);
    const name = `${index}-${way}.${kind.format}`;
    const path = join(folder, name);
    await writeFile(path, make(size, random));
    attacks.push({ name, path, to: kind.to });
  }
  return attacks;
}

function fail(): never {
  throw new Error('there is no such attack');
}
