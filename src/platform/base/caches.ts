export type RecentCache<K, T> = ReturnType<typeof createRecentCache<K, T>>;

/**
 * Creates a cache that holds at least the `capacity` most recently used values, and at most twice that many.
 *
 * The cache approximates the order of use with two generations of entries. A hit in the younger generation moves no entry, which is
 * several times faster than an exact order.
 */
export function createRecentCache<K, T>(capacity: number) {
  let younger = new Map<K, T>();
  let older = new Map<K, T>();
  const put = (key: K, value: T): void => {
    if (younger.size >= capacity && !younger.has(key)) {
      older = younger;
      younger = new Map();
    }
    younger.set(key, value);
  };
  /** Returns the cached value or, if there is none, the result of `load`, which is then cached unless it is undefined. */
  const get = (key: K, load: () => T | undefined): T | undefined => {
    const young = younger.get(key);
    if (young !== undefined) return young;
    const value = older.get(key) ?? load();
    if (value !== undefined) put(key, value);
    return value;
  };
  const clear = (): void => {
    younger.clear();
    older.clear();
  };
  return { get, put, clear };
}

/** Returns a map's value for a key, after creating and storing the value if the key is new. */
export function getOrCreate<K, T>(
  map: { get(key: K): T | undefined; set(key: K, value: T): unknown },
  key: K,
  create: (key: K) => T,
): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create(key);
  map.set(key, value);
  return value;
}

/**
 * Returns a function that calls `load` once per key and then returns the same promise. Rejected promises are stored too, so that
 * one cycle does not repeat a failed request. For each cycle, create a new function.
 */
export function memoize<Q, T>(load: (request: Q) => Promise<T>, keyOf: (request: Q) => bigint) {
  const promises = new Map<bigint, Promise<T>>();
  return (request: Q): Promise<T> => getOrCreate(promises, keyOf(request), () => load(request));
}

interface ObjectSlot<K extends object, T> {
  readonly get: (object: K) => T | undefined;
  readonly set: (object: K, value: T) => void;
}

/**
 * Creates a slot: a hidden property that stores a derived value on its source object, for example the value decoded from bytes. The
 * stored value lives as long as its object. A WeakMap works too, but adding an entry takes ten times as long, about a microsecond,
 * which matters if every message adds entries.
 */
export function createObjectSlot<K extends object, T>(name: string): ObjectSlot<K, T> {
  const slot = Symbol(name);
  type Holder = K & { [slot]?: T };
  return {
    get: (object: Holder) => object[slot],
    set: (object: Holder, value) => {
      object[slot] = value;
    },
  };
}
