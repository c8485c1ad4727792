import { maxInt } from "../../../platform/base/integers.ts";
import type Database from "libsql";
import type { Commit, ValidatorSet } from "../../../cosmos/comet/block-types.ts";
import { createRecentCache } from "../../../platform/base/caches.ts";
import type { TxResult } from "../../chain/runtime/abci.ts";
import type { CommitChanges, StateStorage } from "../../chain/store/multi-store.ts";
import type { StoredBlock, StoredResults } from "../base/node-view.ts";
import * as codec from "./block-codec.ts";
import { createEventIndex, type EventIndex } from "./event-index.ts";
import { openDatabase, type OpenDatabase, openSnapshot } from "./open-database.ts";
import { createBulkInsert, readRow, readRows, type Row } from "./rows.ts";
import {
  createSnapshotTables,
  firstOfRun,
  retainedTo,
  type SnapshotTables,
  type StoredSnapshot,
} from "./snapshots.ts";

/** Stores a node's data in its database. Methods are synchronous, and return undefined for an unknown height or hash. */
export type BlockStore = ReturnType<typeof createBlockStore>;

/**
 * Number of heights whose decoded blocks and results are cached. Clients mostly read the newest heights, each several times. The
 * cache is small because a full block uses megabytes when decoded.
 */
const CACHED_HEIGHTS = 8;

/**
 * Opens the store in a home or in memory. The store retains the last `keepBlocks` blocks, or all blocks if 0. Throws the
 * errors of {@link openDatabase}.
 */
export function openBlockStore(home: string | undefined, keepBlocks = 0): BlockStore {
  return createBlockStore(openDatabase(home), keepBlocks);
}

/** Opens a read-only snapshot of a home, which a node may be using. Throws `NodeError` `home-unusable`. */
export function readBlockStore(home: string): BlockStore {
  return createBlockStore(openSnapshot(home), 0);
}

function createBlockStore({ database, transaction, close }: OpenDatabase, keepBlocks: number) {
  const stateTables = createStateTables(database);
  const index = createEventIndex(database);
  const { snapshots } = stateTables;
  const pruning = createBlockPruning(database, { index, snapshots, keepBlocks });
  const blocks = createRecentCache<bigint, StoredBlock>(CACHED_HEIGHTS);
  const results = createRecentCache<bigint, StoredResults>(CACHED_HEIGHTS);
  const encodedTxResults = createRecentCache<bigint, readonly Uint8Array[]>(CACHED_HEIGHTS);
  const sql = statements(database);
  const saveSets = (sets: codec.HeightRecord["validatorSets"]): void => {
    for (const { height, set } of sets) sql.saveSet.run(height, codec.encodeValidatorSet(set));
  };
  const saveAll = (record: codec.HeightRecord): void => {
    insertBlock(sql, record);
    saveSets(record.validatorSets);
    index.add(record);
    stateTables.apply(record.changes);
    pruning.prune(record.block.header.height);
  };
  const truncate = (height: bigint): void =>
    transaction(() => {
      snapshots().truncate(height);
      for (let above = readRow(sql.latest.get())?.integer("height") ?? height; above > height; above -= 1n)
        pruning.remove(above);
      // Keep sets up to two heights above `height`, because each block stores the set for the height after next.
      sql.removeSetsAfter.run(height + 2n);
    });
  return {
    state: stateTables.storage,
    index,
    /** Returns the encoded genesis document, if stored. */
    genesis: (): Uint8Array | undefined => readRow(sql.meta.get("genesis"))?.bytes("value"),
    /** Stores the genesis document and the first validator sets. Throws if a genesis document is already stored. */
    saveGenesis: (document: Uint8Array, sets: codec.HeightRecord["validatorSets"]): void =>
      transaction(() => {
        sql.saveMeta.run("genesis", document);
        saveSets(sets);
      }),
    latestHeight: (): bigint | undefined => readRow(sql.latest.get())?.integer("height"),
    /** Returns the lowest stored height, or undefined before the first block. */
    earliestHeight: pruning.earliestHeight,
    /**
     * Stores a height's data and removes heights beyond `keepBlocks`, in one transaction. On return, the data is on disk.
     */
    save: (record: codec.HeightRecord) => {
      // Use one transaction, so that a height is stored either completely or not at all if the process is killed.
      transaction(() => saveAll(record));
      blocks.put(record.block.header.height, record.block);
      results.put(record.results.height, record.results);
    },
    block: (height: bigint): StoredBlock | undefined =>
      blocks.get(height, () => readBlock(sql.block.get(height))),
    // Use an array, because the driver treats a single blob argument as an object of named parameters.
    heightOfHash: (hash: Uint8Array): bigint | undefined =>
      readRow(sql.heightOfHash.get([hash]))?.integer("height"),
    results: (height: bigint): StoredResults | undefined =>
      results.get(height, () => {
        const row = readRow(sql.results.get(height));
        return row && codec.decodeResults(height, row.bytes("results"));
      }),
    /** Returns the result of one transaction without decoding the block's other results. */
    txResult: (height: bigint, position: number): TxResult | undefined => {
      const decoded = results.get(height, () => undefined);
      if (decoded !== undefined) return decoded.txResults[position];
      const encoded = encodedTxResults.get(height, () => {
        const row = readRow(sql.results.get(height));
        return row && codec.splitTxResults(row.bytes("results"));
      })?.[position];
      return encoded && codec.decodeTxResult(encoded);
    },
    seenCommit: (height: bigint): Commit | undefined => {
      const row = readRow(sql.seenCommit.get(height));
      return row === undefined ? undefined : codec.decodeCommit(row.bytes("seen_commit"));
    },
    /** Returns the validator set stored at `height` or, if there is none, at the next lower height with a stored set. */
    validatorSetAtOrBelow: (
      height: bigint,
    ): { readonly height: bigint; readonly set: ValidatorSet } | undefined =>
      readSet(readRow(sql.set.get(height))),
    /** Returns the snapshots to which the store can be reverted, ordered by id. A snapshot is lost when its block is pruned. */
    snapshots: (): readonly StoredSnapshot[] => snapshots().list(),
    saveSnapshot: (snapshot: StoredSnapshot): void => transaction(() => snapshots().save(snapshot)),
    removeSnapshots: (ids: readonly number[]): void => transaction(() => snapshots().remove(ids)),
    /** Returns true if `truncate` has removed the block with this hash, even before a restart. */
    hasRemoved: (hash: Uint8Array): boolean => snapshots().hasRemoved(hash),
    /** Removes all data above a snapshot's height, in one transaction. */
    truncate: (height: bigint) => {
      truncate(height);
      for (const cache of [blocks, results, encodedTxResults]) cache.clear();
    },
    /** Stores a validator's key, unless a key is already stored for this address. */
    saveValidatorKey: (address: Uint8Array, seed: Uint8Array) => void sql.saveKey.run(address, seed),
    /** Returns the seeds of stored validator keys, ordered by address. */
    validatorSeeds: (): readonly Uint8Array[] => readRows(sql.seeds.all()).map((row) => row.bytes("seed")),
    /** Closes the database and releases the home's lock. */
    close,
  };
}

type Statements = ReturnType<typeof statements>;

function statements(database: Database.Database) {
  return {
    meta: database.prepare("SELECT value FROM meta WHERE key = ?"),
    saveMeta: database.prepare("INSERT INTO meta (key, value) VALUES (?, ?)"),
    latest: database.prepare("SELECT height FROM blocks ORDER BY height DESC LIMIT 1"),
    insert: database.prepare(
      "INSERT INTO blocks (height, hash, block, part_total, part_hash, seen_commit, results) VALUES (?, ?, ?, ?, ?, ?, ?)",
    ),
    block: database.prepare("SELECT hash, block, part_total, part_hash FROM blocks WHERE height = ?"),
    heightOfHash: database.prepare("SELECT height FROM blocks WHERE hash = ?"),
    results: database.prepare("SELECT results FROM blocks WHERE height = ?"),
    seenCommit: database.prepare("SELECT seen_commit FROM blocks WHERE height = ?"),
    saveSet: database.prepare("INSERT OR REPLACE INTO validator_sets (height, validators) VALUES (?, ?)"),
    set: database.prepare(
      "SELECT height, validators FROM validator_sets WHERE height <= ? ORDER BY height DESC LIMIT 1",
    ),
    removeSetsAfter: database.prepare("DELETE FROM validator_sets WHERE height > ?"),
    saveKey: database.prepare("INSERT OR IGNORE INTO validator_keys (address, seed) VALUES (?, ?)"),
    seeds: database.prepare("SELECT seed FROM validator_keys ORDER BY address"),
  };
}

function insertBlock(sql: Statements, { block, seenCommit, results }: codec.HeightRecord): void {
  sql.insert.run(
    block.header.height,
    block.blockId.hash,
    codec.encodeBlock(block),
    block.blockId.parts.total,
    block.blockId.parts.hash,
    codec.encodeCommit(seenCommit),
    codec.encodeResults(results),
  );
}

function readBlock(raw: unknown): StoredBlock | undefined {
  const row = readRow(raw);
  if (row === undefined) return undefined;
  const parts = { total: Number(row.integer("part_total")), hash: row.bytes("part_hash") };
  return codec.decodeBlock(row.bytes("block"), { hash: row.bytes("hash"), parts });
}

function readSet(row: Row | undefined): { readonly height: bigint; readonly set: ValidatorSet } | undefined {
  if (row === undefined) return undefined;
  return { height: row.integer("height"), set: codec.decodeValidatorSet(row.bytes("validators")) };
}

/**
 * Maximum number of heights removed per new block. A value above 1 lets the store shrink after `keepBlocks` has been lowered: 90,000
 * excess blocks are removed within about 6,000 new blocks.
 */
const MAX_REMOVED_PER_BLOCK = 16;

/** Removes old heights from the tables of a node's database. */
function createBlockPruning(
  database: Database.Database,
  {
    index,
    snapshots,
    keepBlocks,
  }: { readonly index: EventIndex; readonly snapshots: () => SnapshotTables; readonly keepBlocks: number },
) {
  const lowest = database.prepare("SELECT height FROM blocks ORDER BY height LIMIT 1");
  const results = database.prepare("SELECT results FROM blocks WHERE height = ?");
  const removeBlock = database.prepare("DELETE FROM blocks WHERE height = ?");
  // Keep the highest set at or below the lowest block, because sets are not stored at every height.
  const removeSets = database.prepare(
    "DELETE FROM validator_sets WHERE height < (SELECT MAX(height) FROM validator_sets WHERE height <= ?)",
  );
  let earliest = readRow(lowest.get())?.integer("height");
  const remove = (height: bigint): void => {
    const row = readRow(results.get(height));
    if (row !== undefined) index.remove(codec.decodeResults(height, row.bytes("results")));
    removeBlock.run(height);
  };
  return {
    /** Returns the lowest stored height, or undefined before the first block. */
    earliestHeight: (): bigint | undefined => earliest,
    /** Removes a height's block and index entries. The caller must have an open transaction. */
    remove,
    /** Removes at most 16 heights below the last `keepBlocks` heights. The caller must have an open transaction. */
    prune: (latest: bigint) => {
      earliest ??= latest;
      if (keepBlocks === 0) return;
      const from = earliest;
      const firstRetained = latest - BigInt(keepBlocks) + 1n;
      for (let removed = 0; removed < MAX_REMOVED_PER_BLOCK && earliest < firstRetained; removed++) {
        remove(earliest);
        earliest += 1n;
      }
      if (earliest === from) return;
      removeSets.run(earliest);
      snapshots().removeBelow(earliest);
    },
  };
}

const NODE_COLUMNS = 3;

/** Stores the application's state in the node's database. */
function createStateTables(database: Database.Database) {
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
  const storedHeights = (): readonly bigint[] => readRows(heights.all()).map((row) => row.integer("height"));
  // Start above all heights whose nodes are retained only for snapshots, because a snapshot's height can directly precede the
  // recent heights.
  const recentFrom = (): bigint => maxInt(firstOfRun(storedHeights()) ?? 0n, retainedTo(database) + 1n);
  /** Lowest height stored for the application itself, not for snapshots, or undefined until the application reads the heights. */
  let from: bigint | undefined;
  // Prepare the snapshot statements on first use, because a read-only copy of a home may have tables of an earlier version.
  let tables: SnapshotTables | undefined;
  const snapshots = (): SnapshotTables =>
    (tables ??= createSnapshotTables(database, () => from ?? recentFrom()));
  return {
    snapshots,
    /** Writes a commit's state changes within the caller's open transaction. */
    apply: (changes: CommitChanges) => {
      writeNodes(changes.writes.map(({ store, id, bytes }) => [store, id, bytes]));
      for (const { store, id } of snapshots().retain(changes)) deleteNode.run(store, id);
      for (const height of changes.expired ?? []) {
        if (!snapshots().isKept(height)) deleteRoots.run(height);
        from = height + 1n;
      }
      for (const root of changes.roots) writeRoot.run(changes.height, root.store, root.rootId ?? null);
    },
    storage: {
      latestHeight: () => readRow(latest.get())?.integer("height"),
      heights: () => {
        const first = recentFrom();
        from = first;
        return storedHeights().filter((height) => height >= first);
      },
      roots: (height) =>
        readRows(roots.all(height)).map((row) => ({
          store: row.text("store"),
          rootId: row.optionalBytes("root_id"),
        })),
      node: (store, id) => readRow(node.get(store, id))?.bytes("node"),
    } satisfies StateStorage,
  };
}
