/** One entry of a store. Neither array may be changed by the receiver. */
export type Entry = readonly [key: Uint8Array, value: Uint8Array];

/**
 * An ordered map of bytes. Keys are at least one byte; values may be empty but not absent.
 * Views handed to modules charge gas as the SDK's gaskv does.
 */
export interface KVStore {
  readonly get: (key: Uint8Array) => Uint8Array | undefined;
  readonly has: (key: Uint8Array) => boolean;
  readonly set: (key: Uint8Array, value: Uint8Array) => void;
  readonly delete: (key: Uint8Array) => void;
  /** Entries with start <= key < end in ascending order; an absent bound is open. Writes during iteration are not seen. */
  readonly iterate: (start?: Uint8Array, end?: Uint8Array) => IterableIterator<Entry>;
  /** The same range in descending order. */
  readonly iterateReverse: (start?: Uint8Array, end?: Uint8Array) => IterableIterator<Entry>;
}
