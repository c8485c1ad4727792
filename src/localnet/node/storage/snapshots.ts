import type Database from "libsql";
import { decodeNodeId } from "../../../cosmos/merkle/iavl/node.ts";
import type { CommitChanges } from "../../chain/store/multi-store.ts";
import { readRow, readRows } from "./rows.ts";

/** A height to which the store can be reverted. */
export interface StoredSnapshot {
  readonly id: number;
  readonly height: bigint;
  /** Difference between the chains' time and the machine's time, in ms. Positive if the chains' time was ahead. */
  readonly aheadMs: number;
}

/** Maximum number of remembered hashes of removed blocks. Relayers update clients only to the newest blocks. */
const MAX_REMEMBERED = 5_000;

/**
 * Manages the snapshots in a store, and retains tree nodes while a snapshot needs them, even if no recent height does. The method
 * `list` only reads. Callers of all other methods must have an open transaction.
 */
export type SnapshotTables = ReturnType<typeof createSnapshotTables>;

/** Creates the manager for a store's snapshots. `recentFrom` returns the lowest height that is stored even without snapshots. */
export function createSnapshotTables(database: Database.Database, recentFrom: () => bigint) {
  const all = database.prepare("SELECT id, height, ahead_ms FROM snapshots ORDER BY id");
  const read = (): readonly StoredSnapshot[] =>
    readRows(all.all()).map((row) => ({
      id: Number(row.integer("id")),
      height: row.integer("height"),
      aheadMs: Number(row.integer("ahead_ms")),
    }));
  const insert = database.prepare("INSERT INTO snapshots (id, height, ahead_ms) VALUES (?, ?, ?)");
  const removeOne = database.prepare("DELETE FROM snapshots WHERE id = ?");
  const insertRetained = database.prepare(
    "INSERT OR REPLACE INTO retained_nodes (store, id, first, last) VALUES (?, ?, ?, ?)",
  );
  const storesOf = database.prepare("SELECT DISTINCT store FROM state_roots WHERE height >= ?");
  const removeNodes = database.prepare("DELETE FROM state_nodes WHERE store = ? AND id >= ?");
  const newestAbove = "SELECT height, hash FROM blocks WHERE height > ? ORDER BY height DESC LIMIT ?";
  // The newest block gets the highest id, because the lowest ids are dropped first.
  const rememberRemoved = database.prepare(
    `INSERT OR REPLACE INTO removed_blocks (hash) SELECT hash FROM (${newestAbove}) ORDER BY height`,
  );
  const dropRemoved = database.prepare(
    "DELETE FROM removed_blocks WHERE id <= (SELECT MAX(id) FROM removed_blocks) - ?",
  );
  const removedBlock = database.prepare(
    "SELECT 1 FROM removed_blocks WHERE hash = ? AND hash NOT IN (SELECT hash FROM blocks)",
  );
  // Cache the list of snapshots in memory, because every commit reads the list.
  let known = read();
  const sweep = (): void => {
    const unneeded =
      "SELECT store, id FROM retained_nodes WHERE NOT EXISTS (SELECT 1 FROM snapshots WHERE height BETWEEN first AND last)";
    database.exec(`DELETE FROM state_nodes WHERE (store, id) IN (${unneeded})`);
    database.exec(`DELETE FROM retained_nodes WHERE (store, id) IN (${unneeded})`);
    database
      .prepare("DELETE FROM state_roots WHERE height < ? AND height NOT IN (SELECT height FROM snapshots)")
      .run(recentFrom());
  };
  const remove = (ids: readonly number[]): void => {
    if (ids.length === 0) return;
    for (const id of ids) removeOne.run(BigInt(id));
    known = read();
    sweep();
  };
  const idsWhere = (test: (snapshot: StoredSnapshot) => boolean): readonly number[] =>
    known.filter(test).map(({ id }) => id);
  return {
    /** Returns the snapshots, ordered by id. */
    list: (): readonly StoredSnapshot[] => known,
    save: ({ id, height, aheadMs }: StoredSnapshot) => {
      insert.run(BigInt(id), height, BigInt(Math.trunc(aheadMs)));
      known = read();
    },
    /** Removes snapshots, and all data that only these snapshots need. */
    remove,
    /** Removes the snapshots below a height, because their blocks have been pruned. */
    removeBelow: (height: bigint): void => remove(idsWhere((one) => one.height < height)),
    isKept: (height: bigint): boolean => known.some((one) => one.height === height),
    /** Returns the nodes in a commit's `deletes` that no snapshot needs, and retains all other nodes in `deletes`. */
    retain: ({ deletes, expired = [] }: CommitChanges): CommitChanges["deletes"] => {
      const last = expired.at(-1);
      if (known.length === 0 || last === undefined) return deletes;
      return deletes.filter(({ store, id }) => {
        // A node is part of every version from its creation to the last version that contains it.
        const first = BigInt(decodeNodeId(id).version);
        if (!known.some(({ height }) => first <= height && height <= last)) return true;
        insertRetained.run(store, id, first, last);
        return false;
      });
    },
    /** Returns true if a revert has removed the block with this hash, and the chain has not made an identical block since. */
    hasRemoved: (hash: Uint8Array): boolean => removedBlock.get([hash]) !== undefined,
    /** Removes all states and snapshots above a snapshot's height. Must be called while the blocks above the height still exist. */
    truncate: (height: bigint) => {
      rememberRemoved.run(height, MAX_REMEMBERED);
      dropRemoved.run(MAX_REMEMBERED);
      for (const row of readRows(storesOf.all(height)))
        removeNodes.run(row.text("store"), firstIdAfter(height));
      database.prepare("DELETE FROM state_roots WHERE height > ?").run(height);
      // Remove the retention entries of nodes that exist at `height`, because these nodes are part of the newest state again.
      database.prepare("DELETE FROM retained_nodes WHERE last >= ?").run(height);
      database.prepare("DELETE FROM snapshots WHERE height > ?").run(height);
      known = read();
    },
  };
}

/** Returns the highest height with a node that only snapshots need, or -1 if there is no such node. */
export function retainedTo(database: Database.Database): bigint {
  // Check that the table exists, because a read-only copy of a home may have tables of an earlier version.
  const table = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'retained_nodes'").get();
  if (table === undefined) return -1n;
  const last = database.prepare("SELECT coalesce(max(last), -1) AS last FROM retained_nodes").get();
  return readRow(last)?.integer("last") ?? -1n;
}

/** Returns the smallest node id after `height`. Each node id starts with the node's version. */
function firstIdAfter(height: bigint): Uint8Array {
  const id = new Uint8Array(8);
  new DataView(id.buffer).setBigUint64(0, height + 1n);
  return id;
}

/** Returns the first height in the last run of consecutive heights, or undefined if there are no heights. */
export function firstOfRun(heights: readonly bigint[]): bigint | undefined {
  let first = heights.at(-1);
  for (let at = heights.length - 2; at >= 0 && first !== undefined && heights[at] === first - 1n; at -= 1)
    first = heights[at];
  return first;
}
