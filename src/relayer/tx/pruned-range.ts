import { bad, good, type Result } from "../../platform/base/errors.ts";
import type { ConnectionWorker } from "../connection/worker.ts";
import type { QueryFailure } from "../registry/query-state.ts";
import type { Journal } from "../state/journal.ts";
import type { HeightRange } from "./tx-filter.ts";

/** A range of a search, split at the lowest height that the endpoints have. */
interface SplitRange {
  /** Blocks that every endpoint has pruned; undefined when there are none. */
  readonly pruned: HeightRange | undefined;
  /** The other blocks; undefined when there are none. */
  readonly left: HeightRange | undefined;
}

/** Splits a range at `earliest`, the lowest height that an endpoint has. */
export function splitPruned(range: HeightRange, earliest: bigint): SplitRange {
  const { from, to } = range;
  if (earliest <= from) return { pruned: undefined, left: range };
  if (earliest > to) return { pruned: range, left: undefined };
  return { pruned: { from, to: earliest - 1n }, left: { from: earliest, to } };
}

/** Distance to the tip from which on a search is not checked for pruned blocks: every node keeps more. */
const NEVER_PRUNED = 20n;

/** The parts of a worker that know of pruned blocks. */
interface PruningWorker {
  readonly connectionId: string;
  readonly remote: Pick<ConnectionWorker["remote"], "earliestHeight">;
  readonly logger: ConnectionWorker["logger"];
  readonly metrics: Pick<ConnectionWorker["metrics"], "prunedBlocks">;
}

/**
 * Returns the part of a planned range that the endpoints still have, or undefined when all of it is pruned. The pruned part
 * counts as searched, or is a failure of the query when `skipPruned` is false.
 */
export async function skipPruned(
  { connectionId, remote, logger, metrics }: PruningWorker,
  deps: { readonly journal: Pick<Journal, "noteSearched">; readonly skipPruned?: boolean },
  planned: { readonly queryId: bigint; readonly range: HeightRange; readonly tip: bigint },
  signal: AbortSignal,
): Promise<Result<HeightRange | undefined, QueryFailure>> {
  const { queryId, range, tip } = planned;
  if (range.from + NEVER_PRUNED > tip) return good(range);
  const { pruned, left } = splitPruned(range, await remote.earliestHeight(signal));
  if (pruned === undefined) return good(left);
  const blocks = `${pruned.from} to ${pruned.to}`;
  if (deps.skipPruned === false)
    return bad({ code: "pruned", reason: `every endpoint has pruned the remote blocks ${blocks}` });
  deps.journal.noteSearched(queryId, pruned.to);
  metrics.prunedBlocks.inc({ connection_id: connectionId }, Number(pruned.to - pruned.from + 1n));
  logger.warn("pruned remote blocks are skipped: their transactions are not searched", {
    connectionId,
    queryId,
    blocks,
  });
  return good(left);
}
