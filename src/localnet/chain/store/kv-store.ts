/** One entry in a store. The receiver must not modify the arrays. */
export type Entry = readonly [key: Uint8Array, value: Uint8Array];

/** An ordered map from bytes to bytes. Keys have at least one byte; values may be empty. A `Context`'s stores consume gas. */
export interface KVStore {
  /** Returns undefined for an absent key. The receiver must not modify the array. */
  readonly get: (key: Uint8Array) => Uint8Array | undefined;
  readonly has: (key: Uint8Array) => boolean;
  /** Stores both arrays without copying them, also in the layers below, so the caller must not modify them after the call. */
  readonly set: (key: Uint8Array, value: Uint8Array) => void;
  /** Like `set`, stores the key's array without copying it. */
  readonly delete: (key: Uint8Array) => void;
  /**
   * Iterates over the entries with start <= key < end in ascending order. An absent bound is unbounded. The iteration does not
   * see writes made after the call.
   */
  readonly iterate: (start?: Uint8Array, end?: Uint8Array) => IterableIterator<Entry>;
  /** Iterates over the same range in descending order. */
  readonly iterateReverse: (start?: Uint8Array, end?: Uint8Array) => IterableIterator<Entry>;
}
