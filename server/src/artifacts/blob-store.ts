/** What a store has taken in. `key` names it and is never given twice; sha256 in lower-case hex, size in bytes. */
export type StoredBlob = { key: string; sha256: string; size: number };

/** Gets bytes that are the taker's until its promise resolves, and are overwritten then. */
export type TakeBytes = (bytes: Uint8Array) => Promise<void>;

/** The name that a store keeps its mark under, and the most that is read of one. */
export const markName = 'installation';
export const markMaxBytes = 200;

/** Where the bytes of artifacts are (setting ARTIFACT_STORE). What is in it never changes; it comes and goes whole. */
export type BlobStore = {
  /** Makes the store ready to be written to, or throws what is wrong with it. */
  prepare(): Promise<void>;
  /**
   * Takes in all of `bytes`, whose chunks are the store's from then on; safe on disk when this resolves. Whatever throws, `bytes` included, leaves nothing behind.
   * Throws `storage_full` when there is no room.
   */
  put(bytes: AsyncIterable<Uint8Array>): Promise<StoredBlob>;
  /** Hands over the bytes from `start` to `end`, both included. Throws when the blob is missing, and what `take` throws. */
  read(key: string, range: { start: number; end: number }, take: TakeBytes): Promise<void>;
  /** Removes blobs; those that are not there are no error. */
  remove(keys: readonly string[]): Promise<void>;
  /** Keys that have been in the store for `ageMs` or longer, in batches. */
  listOlder(ageMs: number): AsyncIterable<string[]>;
  /** Removes what interrupted uploads have left, if nothing was written to it for `ageMs`. */
  removeUnfinished(ageMs: number): Promise<void>;
  /** The name of the installation that the store belongs to, as `writeMark` left it beside the blobs; no list has it. */
  readMark(): Promise<string | undefined>;
  writeMark(name: string): Promise<void>;
  close(): void;
};
