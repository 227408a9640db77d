import { posix } from 'node:path';
import { DocumentRefused } from '../document.ts';
import { readXml } from './xml.ts';
import type { ZipFile } from './zip.ts';

/** Of one part: no program writes as many. */
const mostRelations = 100_000;

/** Paths of the parts that an OOXML part (or '', the whole file) refers to, by id. Targets outside are omitted. */
export function relationsOf(zip: ZipFile, part: string): Map<string, { target: string; type: string }> {
  const relations = new Map<string, { target: string; type: string }>();
  const bytes = zip.read(posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`));
  if (bytes === undefined) return relations;
  let count = 0;
  readXml(bytes, {
    open(name, { Id, Target, Type = '', TargetMode }) {
      count += 1;
      if (count > mostRelations) throw new DocumentRefused('unsafe', 'The file has too many links and is not read.');
      if (name !== 'Relationship' || Id === undefined || Target === undefined || TargetMode === 'External') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(part), Target);
      relations.set(Id, { target, type: Type });
    },
  });
  return relations;
}
