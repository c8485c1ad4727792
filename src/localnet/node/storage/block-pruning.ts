import type Database from "libsql";
import type { EventIndex } from "./event-index.ts";
import { decodeResults } from "./results-codec.ts";
import { readRow } from "./rows.ts";

/**
 * Heights that one block removes at most. More than one, so that a home with a lowered limit catches up. A home with
 * 90,000 blocks too many needs about 5,600 blocks for it.
 */
const MAX_REMOVED_PER_BLOCK = 16;

/** Removes old heights from the tables of a node. */
export interface BlockPruning {
  /** Lowest stored height, or undefined before the first block. */
  readonly earliestHeight: () => bigint | undefined;
  /** Removes heights that are no longer kept after the block of `latest`. The caller must have an open transaction. */
  readonly prune: (latest: bigint) => void;
}

/** Creates the pruning for a store that keeps its last `keepBlocks` blocks; 0 keeps all. */
export function createBlockPruning(
  database: Database.Database,
  index: EventIndex,
  keepBlocks: number,
): BlockPruning {
  const lowest = database.prepare("SELECT height FROM blocks ORDER BY height LIMIT 1");
  const results = database.prepare("SELECT results FROM blocks WHERE height = ?");
  const removeBlock = database.prepare("DELETE FROM blocks WHERE height = ?");
  // The set of a height may be stored at a lower height, so the last one up to the lowest block stays.
  const removeSets = database.prepare(
    "DELETE FROM validator_sets WHERE height < (SELECT MAX(height) FROM validator_sets WHERE height <= ?)",
  );
  let earliest = readRow(lowest.get())?.integer("height");
  const remove = (height: bigint): void => {
    const row = readRow(results.get(height));
    if (row !== undefined) index.remove(decodeResults(height, row.bytes("results")));
    removeBlock.run(height);
  };
  return {
    earliestHeight: () => earliest,
    prune: (latest) => {
      earliest ??= latest;
      if (keepBlocks === 0) return;
      const from = earliest;
      const kept = latest - BigInt(keepBlocks) + 1n;
      for (let removed = 0; removed < MAX_REMOVED_PER_BLOCK && earliest < kept; removed++) {
        remove(earliest);
        earliest += 1n;
      }
      if (earliest > from) removeSets.run(earliest);
    },
  };
}
