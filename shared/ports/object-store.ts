/**
 * Immutable objects by key: snapshots, shuffle data, staged output. S3 on AWS, a folder on a laptop.
 * Keys are `/`-separated; each part matches `[A-Za-z0-9._%=-]+` and is neither `.` nor `..`.
 */
export interface ObjectStore {
  /**
   * Creates an object; never overwrites: throws `LossError` `object-exists` if the key is taken. All or nothing: a reader sees the whole
   * object or none. `durable` objects survive a power failure once this resolves; others need only live as long as the attempt. The chunks are the
   * caller's again once it resolves; if it fails, they may still be read.
   */
  put(key: string, chunks: readonly Uint8Array[], options: { durable: boolean }): Promise<void>;
  /**
   * The object, or the bytes `[start, end)` of it; undefined if there is none. A range past the end gives what is there.
   *
   * @param into memory that a store may use for them: what it gives is then a part of this; others take no notice of it
   */
  get(key: string, range?: { start: number; end: number }, into?: Uint8Array): Promise<Uint8Array | undefined>;
  /** Keys that begin with the prefix, in any order. May miss an object that is being written. */
  list(prefix: string): AsyncIterable<string>;
  /** Deletes; a key that is not there is fine. */
  delete(keys: readonly string[]): Promise<void>;
}
