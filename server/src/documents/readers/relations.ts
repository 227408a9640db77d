import { posix } from 'node:path';
import { readXml } from './xml.ts';
import type { ZipFile } from './zip.ts';

/** Where the parts that an OOXML part refers to are, by id. What lies outside the file is left out. */
export function relationsOf(zip: ZipFile, part: string): Map<string, { target: string; type: string }> {
  const relations = new Map<string, { target: string; type: string }>();
  const bytes = zip.read(`${posix.dirname(part)}/_rels/${posix.basename(part)}.rels`);
  if (bytes === undefined) return relations;
  readXml(bytes, {
    open(name, { Id, Target, Type = '', TargetMode }) {
      if (name !== 'Relationship' || Id === undefined || Target === undefined || TargetMode === 'External') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(part), Target);
      relations.set(Id, { target, type: Type });
    },
  });
  return relations;
}
