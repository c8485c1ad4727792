/** A bounded map from heights to values that were read lately. */
export interface RecentCache<T> {
  /** The kept value, or what `load` finds (kept when it finds one). */
  readonly get: (height: bigint, load: () => T | undefined) => T | undefined;
  readonly put: (height: bigint, value: T) => void;
}

/** Creates a cache of at most `capacity` values; the one not used for longest goes first. */
export function createRecentCache<T>(capacity: number): RecentCache<T> {
  const values = new Map<bigint, T>();
  const put = (height: bigint, value: T): void => {
    values.delete(height);
    values.set(height, value);
    if (values.size <= capacity) return;
    for (const oldest of values.keys()) {
      values.delete(oldest);
      break;
    }
  };
  const get = (height: bigint, load: () => T | undefined): T | undefined => {
    const value = values.get(height) ?? load();
    if (value !== undefined) put(height, value);
    return value;
  };
  return { get, put };
}
