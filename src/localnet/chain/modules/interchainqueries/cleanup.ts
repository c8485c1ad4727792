import { uint64BigEndian } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { getParams, removedTxQueries, submittedTxs } from "./keeper.ts";

/**
 * Deletes the submitted transactions of removed TX queries, in ascending order of query ids. One block deletes at most
 * `tx_query_removal_limit` transactions and visits at most as many queries; 0 means no limit.
 */
export function cleanUpRemovedQueries(context: Context): void {
  const { txQueryRemovalLimit: limit } = getParams(context);
  let budget = limit === 0n ? undefined : limit;
  for (const id of takeFirst(removedIds(context), budget)) {
    const deleted = deleteSubmittedTxs(context, id, budget);
    if (budget === undefined) continue;
    budget -= deleted;
    if (budget === 0n) return;
  }
}

function* removedIds(context: Context): IterableIterator<bigint> {
  for (const [id] of removedTxQueries.entries(context)) yield id;
}

/** Deletes up to `budget` transactions of a query. Returns the number of deleted transactions. */
function deleteSubmittedTxs(context: Context, id: bigint, budget: bigint | undefined): bigint {
  const entries = takeFirst(submittedTxs.entries(context, uint64BigEndian(id)), budget);
  for (const [tx] of entries) submittedTxs.delete(context, tx);
  const deleted = BigInt(entries.length);
  // As in Go, the mark stays when the budget is used up, even if no transaction is left. A later block deletes it.
  if (deleted !== budget) removedTxQueries.delete(context, id);
  return deleted;
}

/** Returns the first `count` elements, or all. Collects before deletion, and reads no element beyond the last one. */
function takeFirst<T>(elements: Iterable<T>, count: bigint | undefined): readonly T[] {
  const taken: T[] = [];
  for (const element of elements) {
    taken.push(element);
    if (BigInt(taken.length) === count) break;
  }
  return taken;
}
