import type Database from "libsql";

type ColumnValue = string | bigint | number | Uint8Array | null;

/**
 * Rows per statement, largest first. One statement with 64 rows is three times as fast as 64 statements, because each call
 * into the driver has a fixed cost. Larger ones are not faster. Three sizes cover every number of rows with few calls.
 */
const ROWS_PER_STATEMENT = [64, 8, 1];

/** Inserts rows into one table, in order. The caller must have an open transaction. */
export type BulkInsert = (rows: readonly (readonly ColumnValue[])[]) => void;

/** Prepares the statements. `head` is the SQL before `VALUES`, for instance `INSERT INTO t (a, b)`. */
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
