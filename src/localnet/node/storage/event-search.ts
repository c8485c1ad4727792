import type Database from "libsql";
import { holds } from "../query-language/matches.ts";
import type { Condition } from "../query-language/parse-query.ts";
import { readRow, readRows, type Row } from "./rows.ts";

/** A search that the index answers exactly. Both heights are inclusive. */
export interface IndexSearch {
  readonly fromHeight: bigint;
  readonly toHeight: bigint;
  /** Conditions on attributes of events. One event must satisfy all of them. Empty: all transactions or blocks in the range. */
  readonly conditions: readonly Condition[];
}

/** A part of a result in one order. */
export interface Slice {
  readonly order: "asc" | "desc";
  readonly offset: number;
  /** -1 means no limit. */
  readonly limit: number;
}

/** Tables of one kind of search. */
export interface SearchTables {
  /** Index of event attributes with the columns `tag`, `value`, `event` and those of `place`. */
  readonly events: string;
  /** Lists every place in the columns of `place`. */
  readonly all: string;
  /** Columns that identify a match, in order of place. The first one is `height`. */
  readonly place: readonly string[];
}

/** Answers searches by SQL. Only the rows of the requested slice leave the database. */
export interface EventSearch {
  readonly count: (search: IndexSearch) => number;
  readonly slice: (search: IndexSearch, slice: Slice) => readonly Row[];
}

/** Creates a search over the tables of one kind. */
export function createEventSearch(database: Database.Database, tables: SearchTables): EventSearch {
  const place = tables.place.join(", ");
  return {
    count: (search) => {
      const { sql, values } = matchesSql(database, tables, search);
      const row = readRow(database.prepare(`SELECT COUNT(*) AS total FROM (${sql})`).get(...values));
      return row === undefined ? 0 : Number(row.integer("total"));
    },
    slice: (search, { order, offset, limit }) => {
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

/** Returns the SQL for the places of all matches, without duplicates. */
function matchesSql(database: Database.Database, tables: SearchTables, search: IndexSearch): Sql {
  const { fromHeight, toHeight, conditions } = search;
  const place = tables.place.join(", ");
  if (conditions.length === 0) {
    const sql = `SELECT ${place} FROM ${tables.all} WHERE height BETWEEN ? AND ?`;
    return { sql, values: [fromHeight, toHeight] };
  }
  // Each condition selects events; INTERSECT keeps the events that satisfy all conditions.
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

/** Returns the SQL that tests the value of an attribute. */
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
  // SQLite cannot compare numbers and times as CometBFT does. The distinct values are compared here, each once.
  const rows = database
    .prepare(`SELECT DISTINCT value FROM ${tables.events} WHERE tag = ? AND height BETWEEN ? AND ?`)
    .all(condition.tag, fromHeight, toHeight);
  const matching = readRows(rows)
    .map((row) => row.text("value"))
    .filter((value) => holds(condition, value));
  return { sql: " AND value IN (SELECT value FROM json_each(?))", values: [JSON.stringify(matching)] };
}
