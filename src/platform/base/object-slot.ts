/** A value kept on an object. */
export interface ObjectSlot<K extends object, T> {
  readonly get: (object: K) => T | undefined;
  readonly set: (object: K, value: T) => void;
}

/**
 * Creates a slot: a hidden property that keeps a derived value on the object that it was derived from, such as the decoded form
 * of bytes. Both live equally long. A WeakMap does the same, but adding an entry takes about a microsecond, ten times as long.
 * Use it where every message adds entries.
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
