import type Database from "libsql";
import { isRecord } from "../../../platform/base/json.ts";

/** Typed access to a row's columns, which throws if a column has an unexpected type, because this indicates a damaged database. */
export interface Row {
  readonly bytes: (column: string) => Uint8Array;
  /** Returns a column's bytes, or undefined for NULL. */
  readonly optionalBytes: (column: string) => Uint8Array | undefined;
  readonly integer: (column: string) => bigint;
  readonly text: (column: string) => string;
}

/** Wraps a row from the driver, or returns undefined if the query found no row. */
export function readRow(row: unknown): Row | undefined {
  if (row === undefined || row === null) return undefined;
  if (!isRecord(row)) throw new Error("the database returned something that is not a row");
  const optionalBytes = (column: string): Uint8Array | undefined => {
    const value = row[column];
    if (value === null) return undefined;
    // The driver returns a Buffer from `get` and an ArrayBuffer from `all`. Convert a Buffer to a plain Uint8Array, because
    // slices of a Buffer share its memory.
    if (value instanceof Uint8Array) return new Uint8Array(value.buffer, value.byteOffset, value.length);
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    throw damaged(column);
  };
  return {
    optionalBytes,
    bytes: (column) => {
      const value = optionalBytes(column);
      if (value === undefined) throw damaged(column);
      return value;
    },
    integer: (column) => {
      const value = row[column];
      if (typeof value === "bigint") return value;
      if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
      throw damaged(column);
    },
    text: (column) => {
      const value = row[column];
      if (typeof value !== "string") throw damaged(column);
      return value;
    },
  };
}

export function readRows(rows: readonly unknown[]): readonly Row[] {
  return rows.flatMap((row) => readRow(row) ?? []);
}

function damaged(column: string): Error {
  return new Error(`the node's database is damaged: column ${column} has a value of the wrong type`);
}

type ColumnValue = string | bigint | number | Uint8Array | null;

/**
 * Numbers of rows per INSERT statement, largest first. One statement with 64 rows is three times as fast as 64 statements, because
 * each call to the driver has a fixed cost. Larger statements are not faster. With three sizes, any number of rows can be inserted
 * with few calls.
 */
const ROWS_PER_STATEMENT = [64, 8, 1];

/** Inserts rows into a table, in order. The caller must have an open transaction. */
type BulkInsert = (rows: readonly (readonly ColumnValue[])[]) => void;

/** Prepares statements for a bulk insert. `head` is the SQL before `VALUES`, such as `INSERT INTO t (a, b)`. */
export function createBulkInsert(database: Database.Database, head: string, columns: number): BulkInsert {
  const row = `(${Array.from({ length: columns }, () => "?").join(", ")})`;
  const statements = ROWS_PER_STATEMENT.map((size) => {
    const values = Array.from({ length: size }, () => row).join(", ");
    return { size, statement: database.prepare(`${head} VALUES ${values}`) };
  });
  return (rows) => {
    let at = 0;
    for (const { size, statement } of statements) {
      for (; at + size <= rows.length; at += size) statement.run(rows.slice(at, at + size).flat());
    }
  };
}
