import { uint64BigEndian } from "../../../base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { getParams, removedTxQueries, submittedTxs } from "./keeper.ts";

/**
 * Deletes what removed TX queries left behind, in the order of their ids. At most `tx_query_removal_limit` queries and
 * as many submitted transactions go in one block; 0 means no limit. A query whose transactions just used up the limit
 * keeps its mark until the next block, as nothing looked whether there are more.
 */
export function cleanUpRemovedQueries(context: Context): void {
  const { txQueryRemovalLimit: limit } = getParams(context);
  let budget = limit === 0n ? undefined : limit;
  for (const id of firstOf(idsOf(context), budget)) {
    const deleted = deleteSubmitted(context, id, budget);
    if (budget === undefined) continue;
    budget -= deleted;
    if (budget === 0n) return;
  }
}

function* idsOf(context: Context): IterableIterator<bigint> {
  for (const [id] of removedTxQueries.entries(context)) yield id;
}

/** Deletes up to `budget` transactions of a query, and its mark when the budget did not run out; says how many. */
function deleteSubmitted(context: Context, id: bigint, budget: bigint | undefined): bigint {
  const found = firstOf(submittedTxs.entries(context, uint64BigEndian(id)), budget);
  for (const [tx] of found) submittedTxs.delete(context, tx);
  const deleted = BigInt(found.length);
  if (deleted !== budget) removedTxQueries.delete(context, id);
  return deleted;
}

/** The first `count` elements, or all; looks at no element beyond them. */
function firstOf<T>(elements: Iterable<T>, count: bigint | undefined): readonly T[] {
  const taken: T[] = [];
  for (const element of elements) {
    taken.push(element);
    if (BigInt(taken.length) === count) break;
  }
  return taken;
}
