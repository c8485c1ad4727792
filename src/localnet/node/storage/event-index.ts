import type Database from "libsql";
import { sha256 } from "../../../platform/base/bytes.ts";
import type { ChainEvent } from "../../chain/runtime/context.ts";
import type { StoredBlock, StoredResults } from "../base/node-view.ts";
import { type Condition, holds } from "../query-language/parse-query.ts";
import { createBulkInsert, readRow, readRows, type Row } from "./rows.ts";

/** A transaction's block height, and its position in the block. */
export interface TxPlace {
  readonly height: bigint;
  readonly position: number;
}

export interface IndexedBlock {
  readonly block: Pick<StoredBlock, "txs">;
  readonly results: StoredResults;
}

/** Indexes transactions by hash, and transactions and blocks by event attribute. */
export type EventIndex = ReturnType<typeof createEventIndex>;

const TXS: SearchTables = { events: "tx_events", all: "txs", place: ["height", "position"] };
const BLOCKS: SearchTables = { events: "block_events", all: "blocks", place: ["height"] };

export function createEventIndex(database: Database.Database) {
  const placeByHash = database.prepare("SELECT height, position FROM txs WHERE hash = ?");
  const placeOf = (hash: Uint8Array): TxPlace | undefined => {
    // Use an array, because the driver treats a single blob argument as an object of named parameters.
    const row = readRow(placeByHash.get([hash]));
    return row && toPlace(row);
  };
  // Create the writer at the first write, because a snapshot of a home may have tables of an earlier version.
  let writer: IndexWriter | undefined;
  const writing = (): IndexWriter => (writer ??= createIndexWriter(database, placeOf));
  const txs = createEventSearch(database, TXS);
  const blocks = createEventSearch(database, BLOCKS);
  return {
    placeOf,
    /** Adds a block and its transactions to the index within the caller's open transaction. */
    add: (block: IndexedBlock): void => writing().add(block),
    /** Removes a block and its transactions from the index within the caller's open transaction. */
    remove: (results: StoredResults): void => writing().remove(results),
    countTxs: txs.count,
    findTxs: (search: IndexSearch, slice: Slice): readonly TxPlace[] => txs.slice(search, slice).map(toPlace),
    countBlocks: blocks.count,
    findBlocks: (search: IndexSearch, slice: Slice): readonly bigint[] =>
      blocks.slice(search, slice).map((row) => row.integer("height")),
  };
}

function toPlace(row: Row): TxPlace {
  return { height: row.integer("height"), position: Number(row.integer("position")) };
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
    // The same transaction may be in several blocks. As in CometBFT's indexer, a failed copy does not replace a successful copy.
    if (results.txResults[position]?.code === 0 || placeOf(hash) === undefined) {
      savePlace.run(hash, results.height, position);
    }
  };
  return {
    add: ({ block, results }) => {
      const { height, txResults, events } = results;
      block.txs.forEach((tx, position) => addPlace(results, tx, position));
      // `INSERT OR IGNORE` stores a single row for an attribute that an event contains several times with the same value.
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

/** Yields the attributes to index, with each attribute's event position. Like CometBFT, skips empty event types and keys. */
function* indexed(events: readonly ChainEvent[]) {
  for (const [event, { type, attributes }] of events.entries()) {
    for (const { key, value, index } of attributes) {
      if (index && type !== "" && key !== "") yield { tag: `${type}.${key}`, value, event };
    }
  }
}

/** Returns each distinct pair of tag and value, because one statement deletes all rows with the same pair and height. */
function distinct(events: readonly ChainEvent[]): readonly (readonly [tag: string, value: string])[] {
  const pairs = new Map<string, readonly [string, string]>();
  for (const { tag, value } of indexed(events)) pairs.set(`${tag}\0${value}`, [tag, value]);
  return [...pairs.values()];
}

/** A search that the index can evaluate exactly, over the heights from `fromHeight` to `toHeight`, including both. */
export interface IndexSearch {
  readonly fromHeight: bigint;
  readonly toHeight: bigint;
  /** Conditions that a single event's attributes must all satisfy. Without conditions, everything in the height range matches. */
  readonly conditions: readonly Condition[];
}

/** Selects a slice of the matches, in the given order. */
export interface Slice {
  readonly order: "asc" | "desc";
  readonly offset: number;
  /** Maximum number of matches, or -1 if there is no limit. */
  readonly limit: number;
}

interface SearchTables {
  /** Table of event attributes, with the columns `tag`, `value`, `event` and the columns in `place`. */
  readonly events: string;
  /** Table of all transactions or blocks, with the columns in `place`. */
  readonly all: string;
  /** Columns that identify and order the matches, starting with `height`. */
  readonly place: readonly string[];
}

/** Runs searches in SQL, which read only the rows in the requested slice. */
function createEventSearch(database: Database.Database, tables: SearchTables) {
  const place = tables.place.join(", ");
  return {
    count: (search: IndexSearch): number => {
      const { sql, values } = matchesSql(database, tables, search);
      const row = readRow(database.prepare(`SELECT COUNT(*) AS total FROM (${sql})`).get(...values));
      return row === undefined ? 0 : Number(row.integer("total"));
    },
    slice: (search: IndexSearch, { order, offset, limit }: Slice): readonly Row[] => {
      const { sql, values } = matchesSql(database, tables, search);
      const by = tables.place.map((column) => `${column} ${order}`).join(", ");
      const page = database.prepare(`SELECT ${place} FROM (${sql}) ORDER BY ${by} LIMIT ? OFFSET ?`);
      return readRows(page.all(...values, limit, offset));
    },
  };
}

type SqlValue = string | bigint;

interface Sql {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Returns SQL that selects the columns in `place` of all matches, without duplicates. */
function matchesSql(database: Database.Database, tables: SearchTables, search: IndexSearch): Sql {
  const { fromHeight, toHeight, conditions } = search;
  const place = tables.place.join(", ");
  if (conditions.length === 0) {
    const sql = `SELECT ${place} FROM ${tables.all} WHERE height BETWEEN ? AND ?`;
    return { sql, values: [fromHeight, toHeight] };
  }
  // Select the events that satisfy each condition, and use INTERSECT to retain only the events that satisfy all conditions.
  const events = conditions.map((condition): Sql => {
    const test = valueSql(database, tables, condition, search);
    return {
      sql: `SELECT ${place}, event FROM ${tables.events} WHERE tag = ? AND height BETWEEN ? AND ?${test.sql}`,
      values: [condition.tag, fromHeight, toHeight, ...test.values],
    };
  });
  return {
    sql: `SELECT DISTINCT ${place} FROM (${events.map(({ sql }) => sql).join(" INTERSECT ")})`,
    values: events.flatMap(({ values }) => values),
  };
}

function valueSql(
  database: Database.Database,
  tables: SearchTables,
  condition: Condition,
  { fromHeight, toHeight }: IndexSearch,
): Sql {
  const { operator, operand } = condition;
  if (operand === undefined) return { sql: "", values: [] };
  if (operand.kind === "string" && operator === "=") return { sql: " AND value = ?", values: [operand.text] };
  if (operand.kind === "string" && operator === "CONTAINS") {
    return { sql: " AND instr(value, ?) > 0", values: [operand.text] };
  }
  // Compare each distinct value in code, because SQLite cannot compare numbers and times like CometBFT.
  const rows = database
    .prepare(`SELECT DISTINCT value FROM ${tables.events} WHERE tag = ? AND height BETWEEN ? AND ?`)
    .all(condition.tag, fromHeight, toHeight);
  const matching = readRows(rows)
    .map((row) => row.text("value"))
    .filter((value) => holds(condition, value));
  return { sql: " AND value IN (SELECT value FROM json_each(?))", values: [JSON.stringify(matching)] };
}
