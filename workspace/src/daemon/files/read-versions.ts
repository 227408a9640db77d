import type { BigIntStats } from 'node:fs';
import type { HomePath } from '../file-system/home-path.ts';

const versionsMax = 2_000;

/** The version of each file that a reader, such as a conversation, has read last. Forgotten when the daemon ends. */
export class ReadVersions {
  readonly #versions = new Map<string, string>();

  remember(reader: string | undefined, path: HomePath, stats: BigIntStats): void {
    if (reader === undefined) return;
    const key = keyOf(reader, path);
    this.#versions.delete(key);
    this.#versions.set(key, versionOf(stats));
    const [oldest] = this.#versions.keys();
    if (this.#versions.size > versionsMax && oldest !== undefined) this.#versions.delete(oldest);
  }

  /** True also for a file that the reader has not read. */
  isCurrent(reader: string | undefined, path: HomePath, stats: BigIntStats): boolean {
    const known = reader === undefined ? undefined : this.#versions.get(keyOf(reader, path));
    return known === undefined || known === versionOf(stats);
  }
}

function keyOf(reader: string, { segments }: HomePath): string {
  return `${reader}\0${segments.join('/')}`;
}

function versionOf({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino} ${mtimeNs} ${size}`;
}
