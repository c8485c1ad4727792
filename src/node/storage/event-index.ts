import type Database from "libsql";
import { sha256 } from "../../base/sha256.ts";
import type { ChainEvent } from "../../chain/runtime/events.ts";
import { createBulkInsert } from "./bulk-insert.ts";
import type { HeightRecord } from "./height-record.ts";
import { readRow, readRows } from "./rows.ts";

/** Block height and position in the block of a transaction. */
export interface TxPlace {
  readonly height: bigint;
  readonly position: number;
}

/** The part of a query that the index can answer. Both heights are inclusive. */
export interface Narrowing {
  readonly fromHeight: bigint;
  readonly toHeight: bigint;
  /** Event attribute "type.key". Undefined selects every transaction or block in the range. */
  readonly tag: string | undefined;
  /** Exact value of the attribute. Undefined selects all values. */
  readonly value: string | undefined;
}

/** Index of transactions by hash, and of transactions and blocks by event attribute. */
export interface EventIndex {
  /** Adds a height. The caller must have an open transaction. */
  readonly add: (record: HeightRecord) => void;
  readonly placeOf: (hash: Uint8Array) => TxPlace | undefined;
  /** Returns the transactions in the range with the attribute: a superset of the matches, ascending, without duplicates. */
  readonly txCandidates: (narrowing: Narrowing) => Iterable<TxPlace>;
  /** Returns the heights in the range whose block events have the attribute. Otherwise like `txCandidates`. */
  readonly blockCandidates: (narrowing: Narrowing) => Iterable<bigint>;
}

const TX_EVENT_COLUMNS = 4;
const BLOCK_EVENT_COLUMNS = 3;

/** Creates the index over the database of a node. */
export function createEventIndex(database: Database.Database): EventIndex {
  const sql = {
    place: database.prepare("SELECT height, position FROM txs WHERE hash = ?"),
    savePlace: database.prepare("INSERT OR REPLACE INTO txs (hash, height, position) VALUES (?, ?, ?)"),
    txEvents: createBulkInsert(
      database,
      "INSERT OR IGNORE INTO tx_events (tag, value, height, position)",
      TX_EVENT_COLUMNS,
    ),
    blockEvents: createBulkInsert(
      database,
      "INSERT OR IGNORE INTO block_events (tag, value, height)",
      BLOCK_EVENT_COLUMNS,
    ),
  };
  const placeOf = (hash: Uint8Array): TxPlace | undefined => {
    // In an array, because the driver takes a single blob argument for an object of named parameters.
    const row = readRow(sql.place.get([hash]));
    return row && { height: row.integer("height"), position: Number(row.integer("position")) };
  };
  const addPlace = (record: HeightRecord, tx: Uint8Array, position: number): void => {
    const result = record.results.txResults[position];
    const hash = sha256(tx);
    // The same bytes may be in several blocks. As in CometBFT's indexer, a failed copy does not replace a successful one.
    if (result?.code === 0 || placeOf(hash) === undefined) {
      sql.savePlace.run(hash, record.block.header.height, position);
    }
  };
  return {
    placeOf,
    add: (record) => {
      const { height } = record.block.header;
      record.block.txs.forEach((tx, position) => addPlace(record, tx, position));
      // A transaction may emit an attribute several times. `INSERT OR IGNORE` stores one row per value.
      sql.txEvents(
        record.results.txResults.flatMap(({ events }, position) =>
          Array.from(indexed(events), ([tag, value]) => [tag, value, height, position]),
        ),
      );
      sql.blockEvents(Array.from(indexed(record.results.events), ([tag, value]) => [tag, value, height]));
    },
    txCandidates: (narrowing) => txCandidates(database, narrowing),
    blockCandidates: (narrowing) => blockCandidates(database, narrowing),
  };
}

/** Yields the attributes to index. As in CometBFT, an empty event type or key is not indexed. */
function* indexed(events: readonly ChainEvent[]): Generator<readonly [tag: string, value: string]> {
  for (const event of events) {
    for (const attribute of event.attributes) {
      if (attribute.index && event.type !== "" && attribute.key !== "") {
        yield [`${event.type}.${attribute.key}`, attribute.value];
      }
    }
  }
}

function txCandidates(database: Database.Database, narrowing: Narrowing): readonly TxPlace[] {
  const { tag, value, fromHeight, toHeight } = narrowing;
  if (tag === undefined) {
    const all = database.prepare(
      "SELECT height, position FROM txs WHERE height BETWEEN ? AND ? ORDER BY height, position",
    );
    return toPlaces(all.all(fromHeight, toHeight));
  }
  const equal = value === undefined ? "" : "AND value = ?";
  const query = database.prepare(
    `SELECT DISTINCT height, position FROM tx_events WHERE tag = ? ${equal} AND height BETWEEN ? AND ? ORDER BY height, position`,
  );
  return toPlaces(query.all(tag, ...(value === undefined ? [] : [value]), fromHeight, toHeight));
}

function toPlaces(rows: readonly unknown[]): readonly TxPlace[] {
  return readRows(rows).map((row) => ({
    height: row.integer("height"),
    position: Number(row.integer("position")),
  }));
}

function blockCandidates(database: Database.Database, narrowing: Narrowing): readonly bigint[] {
  const { tag, value, fromHeight, toHeight } = narrowing;
  if (tag === undefined) {
    const all = database.prepare("SELECT height FROM blocks WHERE height BETWEEN ? AND ? ORDER BY height");
    return readRows(all.all(fromHeight, toHeight)).map((row) => row.integer("height"));
  }
  const equal = value === undefined ? "" : "AND value = ?";
  const query = database.prepare(
    `SELECT DISTINCT height FROM block_events WHERE tag = ? ${equal} AND height BETWEEN ? AND ? ORDER BY height`,
  );
  return readRows(query.all(tag, ...(value === undefined ? [] : [value]), fromHeight, toHeight)).map((row) =>
    row.integer("height"),
  );
}
