import type { Context } from "../../runtime/context.ts";
import { getParams, listRemoved } from "./keeper.ts";
import { MODULE_NAME, rangeOf, removedTxQueryKey, submittedTxsPrefix } from "./keys.ts";

/**
 * Deletes what removed TX queries left behind, in the order of their ids. At most `tx_query_removal_limit` queries and
 * as many transaction marks go in one block; 0 means no limit. A query whose marks just used up the limit keeps its
 * own mark until the next block, as nothing looked whether there are more.
 */
export function cleanUpRemovedQueries(context: Context): void {
  const limit = getParams(context).txQueryRemovalLimit;
  let budget = limit === 0n ? undefined : limit;
  for (const id of listRemoved(context, limit)) {
    const deleted = deleteMarks(context, id, budget);
    if (budget === undefined) continue;
    budget -= deleted;
    if (budget === 0n) return;
  }
}

/** Deletes up to `budget` transaction marks of a query; the query's own mark goes when the budget did not run out. */
function deleteMarks(context: Context, id: bigint, budget: bigint | undefined): bigint {
  const store = context.store(MODULE_NAME);
  const keys: Uint8Array[] = [];
  for (const [key] of store.iterate(...rangeOf(submittedTxsPrefix(id)))) {
    keys.push(key);
    if (BigInt(keys.length) === budget) break;
  }
  for (const key of keys) store.delete(key);
  const deleted = BigInt(keys.length);
  if (deleted !== budget) store.delete(removedTxQueryKey(id));
  return deleted;
}
