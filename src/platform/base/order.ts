/** Compares two values for an ascending sort and returns -1, 0 or 1. Strings are compared by UTF-16 code units. */
export function ascending<T extends bigint | number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** List length up to which insertion sort is faster than `Array.prototype.sort`, which allocates a work area. */
const SHORT_LIST = 16;

/** Returns the strings in ascending order, and may modify the given array. */
export function sortTexts(texts: string[]): string[] {
  if (texts.length > SHORT_LIST) return texts.toSorted(ascending);
  for (let next = 1; next < texts.length; next++) {
    const text = texts[next] ?? "";
    let at = next;
    for (let before = texts[at - 1]; at > 0 && before !== undefined && before > text; before = texts[at - 1])
      texts[at--] = before;
    texts[at] = text;
  }
  return texts;
}
