import type Database from "libsql";
import type { CommitChanges, StateStorage } from "../../chain/store/multi-store.ts";
import { createBulkInsert } from "./bulk-insert.ts";
import { readRow, readRows } from "./rows.ts";

/** State of the application in the database of the node. */
export interface StateTables {
  readonly storage: StateStorage;
  /** Writes the changes of one commit. The caller must have an open transaction. */
  readonly apply: (changes: CommitChanges) => void;
}

const NODE_COLUMNS = 3;

/** Creates the state storage over the database of a node. */
export function createStateTables(database: Database.Database): StateTables {
  const node = database.prepare("SELECT node FROM state_nodes WHERE store = ? AND id = ?");
  const writeNodes = createBulkInsert(
    database,
    "INSERT OR REPLACE INTO state_nodes (store, id, node)",
    NODE_COLUMNS,
  );
  const deleteNode = database.prepare("DELETE FROM state_nodes WHERE store = ? AND id = ?");
  const writeRoot = database.prepare(
    "INSERT OR REPLACE INTO state_roots (height, store, root_id) VALUES (?, ?, ?)",
  );
  const deleteRoots = database.prepare("DELETE FROM state_roots WHERE height = ?");
  const roots = database.prepare("SELECT store, root_id FROM state_roots WHERE height = ? ORDER BY store");
  const heights = database.prepare("SELECT DISTINCT height FROM state_roots ORDER BY height");
  const latest = database.prepare("SELECT height FROM state_roots ORDER BY height DESC LIMIT 1");
  return {
    apply: (changes) => {
      writeNodes(changes.writes.map(({ store, id, bytes }) => [store, id, bytes]));
      for (const { store, id } of changes.deletes) deleteNode.run(store, id);
      for (const height of changes.expired ?? []) deleteRoots.run(height);
      for (const root of changes.roots) writeRoot.run(changes.height, root.store, root.rootId ?? null);
    },
    storage: {
      latestHeight: () => readRow(latest.get())?.integer("height"),
      heights: () => readRows(heights.all()).map((row) => row.integer("height")),
      roots: (height) =>
        readRows(roots.all(height)).map((row) => ({
          store: row.text("store"),
          rootId: row.optionalBytes("root_id"),
        })),
      node: (store, id) => readRow(node.get(store, id))?.bytes("node"),
    },
  };
}
