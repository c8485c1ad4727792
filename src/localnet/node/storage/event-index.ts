import type Database from "libsql";
import { sha256 } from "../../../platform/base/bytes.ts";
import type { ChainEvent } from "../../chain/runtime/events.ts";
import type { StoredBlock, StoredResults } from "../node-view.ts";
import { createBulkInsert } from "./bulk-insert.ts";
import { createEventSearch, type IndexSearch, type SearchTables, type Slice } from "./event-search.ts";
import { readRow } from "./rows.ts";

/** Block height and position in the block of a transaction. */
export interface TxPlace {
  readonly height: bigint;
  readonly position: number;
}

/** A block with its results. */
interface IndexedBlock {
  readonly block: Pick<StoredBlock, "txs">;
  readonly results: StoredResults;
}

/** Index of transactions by hash, and of transactions and blocks by event attribute. */
export interface EventIndex {
  /** Adds a height. The caller must have an open transaction. */
  readonly add: (block: IndexedBlock) => void;
  /** Removes a height that {@link EventIndex.add} added. The caller must have an open transaction. */
  readonly remove: (results: StoredResults) => void;
  readonly placeOf: (hash: Uint8Array) => TxPlace | undefined;
  readonly countTxs: (search: IndexSearch) => number;
  readonly findTxs: (search: IndexSearch, slice: Slice) => readonly TxPlace[];
  readonly countBlocks: (search: IndexSearch) => number;
  readonly findBlocks: (search: IndexSearch, slice: Slice) => readonly bigint[];
}

const TXS: SearchTables = { events: "tx_events", all: "txs", place: ["height", "position"] };
const BLOCKS: SearchTables = { events: "block_events", all: "blocks", place: ["height"] };

/** Creates the index over the database of a node. */
export function createEventIndex(database: Database.Database): EventIndex {
  const placeByHash = database.prepare("SELECT height, position FROM txs WHERE hash = ?");
  const placeOf = (hash: Uint8Array): TxPlace | undefined => {
    // In an array, because the driver takes a single blob argument for an object of named parameters.
    const row = readRow(placeByHash.get([hash]));
    return row && { height: row.integer("height"), position: Number(row.integer("position")) };
  };
  // Created at the first write: a snapshot of a home may have tables of an earlier version.
  let writer: IndexWriter | undefined;
  const writing = (): IndexWriter => (writer ??= createIndexWriter(database, placeOf));
  const txs = createEventSearch(database, TXS);
  const blocks = createEventSearch(database, BLOCKS);
  return {
    placeOf,
    add: (block) => writing().add(block),
    remove: (results) => writing().remove(results),
    countTxs: txs.count,
    findTxs: (search, slice) =>
      txs.slice(search, slice).map((row) => ({
        height: row.integer("height"),
        position: Number(row.integer("position")),
      })),
    countBlocks: blocks.count,
    findBlocks: (search, slice) => blocks.slice(search, slice).map((row) => row.integer("height")),
  };
}

type IndexWriter = Pick<EventIndex, "add" | "remove">;

const TX_EVENT_COLUMNS = 5;
const BLOCK_EVENT_COLUMNS = 4;

function createIndexWriter(database: Database.Database, placeOf: EventIndex["placeOf"]): IndexWriter {
  const savePlace = database.prepare("INSERT OR REPLACE INTO txs (hash, height, position) VALUES (?, ?, ?)");
  const saveTxEvents = createBulkInsert(
    database,
    "INSERT OR IGNORE INTO tx_events (tag, value, height, position, event)",
    TX_EVENT_COLUMNS,
  );
  const saveBlockEvents = createBulkInsert(
    database,
    "INSERT OR IGNORE INTO block_events (tag, value, height, event)",
    BLOCK_EVENT_COLUMNS,
  );
  const removePlaces = database.prepare("DELETE FROM txs WHERE height = ?");
  const removeTxEvents = database.prepare("DELETE FROM tx_events WHERE tag = ? AND value = ? AND height = ?");
  const removeBlockEvents = database.prepare(
    "DELETE FROM block_events WHERE tag = ? AND value = ? AND height = ?",
  );
  const addPlace = (results: StoredResults, tx: Uint8Array, position: number): void => {
    const hash = sha256(tx);
    // The same bytes may be in several blocks. As in CometBFT's indexer, a failed copy does not replace a successful one.
    if (results.txResults[position]?.code === 0 || placeOf(hash) === undefined) {
      savePlace.run(hash, results.height, position);
    }
  };
  return {
    add: ({ block, results }) => {
      const { height, txResults, events } = results;
      block.txs.forEach((tx, position) => addPlace(results, tx, position));
      // An event may have an attribute several times. `INSERT OR IGNORE` stores one row per value.
      saveTxEvents(
        txResults.flatMap((result, position) =>
          Array.from(indexed(result.events), ({ tag, value, event }) => [
            tag,
            value,
            height,
            position,
            event,
          ]),
        ),
      );
      saveBlockEvents(Array.from(indexed(events), ({ tag, value, event }) => [tag, value, height, event]));
    },
    remove: ({ height, txResults, events }) => {
      removePlaces.run(height);
      for (const [tag, value] of distinct(txResults.flatMap((result) => result.events)))
        removeTxEvents.run(tag, value, height);
      for (const [tag, value] of distinct(events)) removeBlockEvents.run(tag, value, height);
    },
  };
}

/** An indexed attribute. `event` is the position of its event in the transaction or block. */
interface IndexedAttribute {
  readonly tag: string;
  readonly value: string;
  readonly event: number;
}

/** Yields the attributes to index. As in CometBFT, an empty event type or key is not indexed. */
function* indexed(events: readonly ChainEvent[]): Generator<IndexedAttribute> {
  for (const [event, { type, attributes }] of events.entries()) {
    for (const { key, value, index } of attributes) {
      if (index && type !== "" && key !== "") yield { tag: `${type}.${key}`, value, event };
    }
  }
}

/** Returns each pair of tag and value once. The rows of one pair and height are deleted together. */
function distinct(events: readonly ChainEvent[]): readonly (readonly [tag: string, value: string])[] {
  const pairs = new Map<string, readonly [string, string]>();
  for (const { tag, value } of indexed(events)) pairs.set(`${tag}\0${value}`, [tag, value]);
  return [...pairs.values()];
}
