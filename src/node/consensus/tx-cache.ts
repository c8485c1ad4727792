/** Remembers the transactions that came lately, so that the same bytes are not checked twice. */
export interface TxCache {
  /** Remembers a hash; false when it was known. */
  readonly add: (hash: string) => boolean;
  readonly remove: (hash: string) => void;
}

/** Creates a cache of at most `capacity` hashes; the oldest goes first. */
export function createTxCache(capacity: number): TxCache {
  const hashes = new Set<string>();
  return {
    add: (hash) => {
      if (hashes.delete(hash)) {
        hashes.add(hash);
        return false;
      }
      hashes.add(hash);
      if (hashes.size > capacity) {
        for (const oldest of hashes) {
          hashes.delete(oldest);
          break;
        }
      }
      return true;
    },
    remove: (hash) => void hashes.delete(hash),
  };
}
