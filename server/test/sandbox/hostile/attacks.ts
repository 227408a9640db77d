import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { seededBelow } from '../../../../contracts/test/seeded-random.ts';
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

/**
 * Writes `count` files into the folder: cycles through the formats and the ways of attacking them; the first of each
 * format is the largest.
 */
export async function makeAttacks(folder: string, count: number, seed: number): Promise<Attack[]> {
  await mkdir(folder, { recursive: true });
  const kinds: AttackKind[] = [...hostileDocuments, ...(await hostileImports()), ...hostileSettings];
  const random = seededBelow(seed);
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
