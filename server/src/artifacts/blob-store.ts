/** Blob accepted by a store. `key` names it and is never used twice; sha256 in lower-case hex, size in bytes. */
export type StoredBlob = { key: string; sha256: string; size: number };

/** Gets bytes that are valid until its promise resolves and overwritten afterwards. */
export type TakeBytes = (bytes: Uint8Array) => Promise<void>;

/** The name of a store's mark, and the most that is read of it. */
export const markName = 'installation';
export const markMaxBytes = 200;

/** Storage for the bytes of artifacts (setting ARTIFACT_STORE). Blobs never change; they appear and disappear whole. */
export type BlobStore = {
  /** Makes the store ready for writing, or throws what is wrong with it. */
  prepare(): Promise<void>;
  /**
   * Stores all of `bytes`, whose chunks belong to the store from then on; they are safe on disk when this resolves. Any
   * error, including one from `bytes`, leaves nothing behind. Throws `storage_full` if there is no space.
   */
  put(bytes: AsyncIterable<Uint8Array>): Promise<StoredBlob>;
  /**
   * Passes on the bytes from `start` to `end`, both included. Throws if the blob is missing, and what `take` throws.
   */
  read(key: string, range: { start: number; end: number }, take: TakeBytes): Promise<void>;
  /** Removes blobs; missing ones are not an error. */
  remove(keys: readonly string[]): Promise<void>;
  /** Keys that have been in the store for `ageMs` or longer, in batches. */
  listOlder(ageMs: number): AsyncIterable<string[]>;
  /** Removes what interrupted uploads left, if nothing was written to it for `ageMs`. */
  removeUnfinished(ageMs: number): Promise<void>;
  /** The name of the installation that owns the store, stored by `writeMark` beside the blobs; it is in no list. */
  readMark(): Promise<string | undefined>;
  writeMark(name: string): Promise<void>;
  close(): void;
};
