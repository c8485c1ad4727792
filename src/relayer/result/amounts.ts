/** An object whose fields are amounts, for example fee and gas. */
type Amounts<T> = { readonly [Name in keyof T]: bigint | number };

/** Adds the amounts that have the same name in `a` and `b`. */
export function addAmounts<T extends Amounts<T>>(a: T, b: T): T;
export function addAmounts(a: Record<string, bigint | number>, b: Record<string, bigint | number>) {
  const sum = ([name, value]: [string, bigint | number]) => {
    const other = b[name] ?? 0;
    return [name, typeof value === "bigint" ? value + BigInt(other) : value + Number(other)] as const;
  };
  return Object.fromEntries(Object.entries(a).map(sum));
}

/** Sums the amounts of items with the same key. */
export function sumsBy<Item, Key, T extends Amounts<T>>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
  amountsOf: (item: Item) => T,
): Map<Key, T> {
  const sums = new Map<Key, T>();
  for (const item of items) {
    const sum = sums.get(keyOf(item));
    sums.set(keyOf(item), sum === undefined ? amountsOf(item) : addAmounts(sum, amountsOf(item)));
  }
  return sums;
}
