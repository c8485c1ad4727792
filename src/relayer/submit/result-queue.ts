import { isNewer } from "../../cosmos/comet/ibc-height.ts";
import type { ProvenResult } from "./proven-result.ts";

/** A result on its way, with what the submitter notes about it. */
export interface Entry {
  readonly result: ProvenResult;
  /** Monotonic time at which it was offered, ms. */
  readonly sinceMs: number;
  /** Simulations that it took part in. */
  simulations: number;
  /** queued: in the queue; planned: in a transaction that is not broadcast; flight: broadcast; done: settled. */
  place: "queued" | "planned" | "flight" | "done";
}

/**
 * Results that wait for a transaction, bounded by their bytes. At most one result of a KV query waits: a newer one takes
 * the place of an older one. The results of a TX query keep the order of the remote chain.
 */
export interface ResultQueue {
  /**
   * Adds an entry. Returns the entry that has to go: the older one of the same KV query, the new one itself when it is not
   * newer, or undefined.
   */
  readonly add: (entry: Entry) => Entry | undefined;
  /** Puts entries back that were removed, before the others of their queries. Returns those that have to go. */
  readonly putBack: (entries: readonly Entry[]) => readonly Entry[];
  readonly remove: (entries: readonly Entry[]) => void;
  /** Returns the entries of one query, in order. */
  readonly ofQuery: (queryId: bigint) => readonly Entry[];
  /** Returns all entries: the longest due first, then by query id. O(n log n). */
  readonly entries: () => readonly Entry[];
  readonly size: () => number;
  /** Sum of the encoded messages. */
  readonly bytes: () => number;
}

/** Creates an empty queue. */
export function createResultQueue(): ResultQueue {
  const queries = new Map<bigint, readonly Entry[]>();
  let size = 0;
  let bytes = 0;
  const set = (id: bigint, entries: readonly Entry[]): void => {
    const before = queries.get(id) ?? [];
    size += entries.length - before.length;
    bytes += byteSum(entries) - byteSum(before);
    if (entries.length > 0) queries.set(id, entries);
    else queries.delete(id);
  };
  const addTo = (entry: Entry, isBefore: boolean): Entry | undefined => {
    const { query, at } = entry.result;
    const before = queries.get(query.id) ?? [];
    const [old] = before;
    if (query.type === "tx" || old === undefined) {
      set(query.id, isBefore ? [entry, ...before] : [...before, entry]);
      return undefined;
    }
    if (!isNewer(at, old.result.at)) return entry;
    set(query.id, [entry]);
    return old;
  };
  return {
    add: (entry) => addTo(entry, false),
    putBack: (entries) => entries.toReversed().flatMap((entry) => addTo(entry, true) ?? []),
    remove: (entries) => {
      const gone = new Set(entries);
      for (const id of new Set(entries.map(({ result }) => result.query.id)))
        set(
          id,
          (queries.get(id) ?? []).filter((entry) => !gone.has(entry)),
        );
    },
    ofQuery: (id) => queries.get(id) ?? [],
    entries: () => [...queries.values()].toSorted(compareDue).flat(),
    size: () => size,
    bytes: () => bytes,
  };
}

function byteSum(entries: readonly Entry[]): number {
  return entries.reduce((sum, { result }) => sum + result.message.length, 0);
}

function compareDue([a]: readonly Entry[], [b]: readonly Entry[]): number {
  if (a === undefined || b === undefined) return 0;
  const order = a.result.dueHeight - b.result.dueHeight || a.result.query.id - b.result.query.id;
  return order < 0n ? -1 : order > 0n ? 1 : 0;
}
