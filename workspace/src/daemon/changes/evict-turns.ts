import type { Blobs } from './blobs.ts';
import { contentsOf, type Records } from './records.ts';

/**
 * Frees room for a file of so many bytes: what nothing names goes first, then the oldest turns go. `inHome` are the
 * contents that the last look saw. No turn is given up for a file that has no room even without it.
 */
export async function evictTurns(
  bytes: number,
  { blobs, records }: { blobs: Blobs; records: Records },
  inHome: Iterable<string>,
): Promise<void> {
  const named = new Set([...inHome, ...blobs.unnamed(), ...records.written().flatMap(contentsOf)]);
  let left = blobs.bytesBeside(bytes) - blobs.bytesOf(named);
  const isPossible = left >= 0;
  let isOver = false;
  for await (const record of records.newestFirst()) {
    if (records.isWrittenTo(record.id)) continue;
    const more = new Set(contentsOf(record).filter((content) => !named.has(content)));
    const size = blobs.bytesOf(more);
    isOver ||= isPossible && size > left;
    if (isOver) {
      records.remove(record.id);
      continue;
    }
    left -= size;
    for (const content of more) named.add(content);
  }
  blobs.sweep(named);
}
