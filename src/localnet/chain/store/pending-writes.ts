/** A key as latin-1 text, which can serve as a map key. These texts sort in the same order as the bytes. */
export type KeyText = string;

export interface Pending {
  readonly text: KeyText;
  readonly key: Uint8Array;
  /** Undefined if the key is deleted. */
  readonly value: Uint8Array | undefined;
}

/**
 * Writes in key order, divided into parts. A change copies one part and the list of parts, so open iterations share nearly
 * everything, however many there are and whatever was written between them.
 */
export type Sorted = readonly (readonly Pending[])[];

const PART_LENGTH = 128;

export function sortedFrom(writes: readonly Pending[]): Sorted {
  const parts: (readonly Pending[])[] = [];
  for (let at = 0; at < writes.length; at += PART_LENGTH) parts.push(writes.slice(at, at + PART_LENGTH));
  return parts;
}

/** Returns the writes with one added, or with the existing write for its key replaced. */
export function replaced(sorted: Sorted, pending: Pending): Sorted {
  const { part, index } = placeOf(sorted, pending.text);
  const old = sorted[part] ?? [];
  const removed = old[index]?.text === pending.text ? 1 : 0;
  const changed = old.toSpliced(index, removed, pending);
  const half = changed.length >> 1;
  const parts = changed.length > 2 * PART_LENGTH ? [changed.slice(0, half), changed.slice(half)] : [changed];
  return sorted.toSpliced(part, 1, ...parts);
}

interface Place {
  readonly part: number;
  readonly index: number;
}

/** Returns the position of the first write at or above `text`, in the last part that starts at or below it. */
function placeOf(sorted: Sorted, text: KeyText): Place {
  const part = Math.max(0, lowerBound(sorted, (writes) => (writes[0]?.text ?? "") <= text) - 1);
  return { part, index: lowerBound(sorted[part] ?? [], (write) => write.text < text) };
}

/** Returns the index of the first item that is not below the bound. Items below it come first. */
function lowerBound<T>(items: readonly T[], isBelow: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && isBelow(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the next write in a range on each call, and undefined after the last one. */
export type PendingRange = () => Pending | undefined;

/** Returns the writes from `start` up to (excluding) `end`, in ascending (1) or descending order; undefined if there are none. */
export function pendingBetween(
  sorted: Sorted,
  { start, end }: { readonly start: KeyText | undefined; readonly end: KeyText | undefined },
  direction: 1 | -1,
): PendingRange | undefined {
  const from = start === undefined ? { part: 0, index: 0 } : placeOf(sorted, start);
  const to = end === undefined ? { part: sorted.length, index: 0 } : placeOf(sorted, end);
  const range = direction === 1 ? ascending(sorted, from, to) : descending(sorted, from, to);
  const first = range();
  if (first === undefined) return undefined;
  let isFirst = true;
  return () => {
    if (!isFirst) return range();
    isFirst = false;
    return first;
  };
}

function ascending(sorted: Sorted, from: Place, to: Place): PendingRange {
  let { part, index } = from;
  return () => {
    if (index >= (sorted[part]?.length ?? 0)) {
      part += 1;
      index = 0;
    }
    const isPast = part > to.part || (part === to.part && index >= to.index);
    return isPast ? undefined : sorted[part]?.[index++];
  };
}

function descending(sorted: Sorted, from: Place, to: Place): PendingRange {
  let { part, index } = to;
  return () => {
    if (index === 0) {
      part -= 1;
      index = sorted[part]?.length ?? 0;
    }
    const isPast = part < from.part || (part === from.part && index <= from.index);
    return isPast ? undefined : sorted[part]?.[--index];
  };
}
