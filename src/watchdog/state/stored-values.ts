import type Database from "libsql";
import { z } from "zod";

/** Runs a query and parses its rows. The driver returns every integer as a bigint. */
export function readRows<T>(
  database: Database.Database,
  sql: string,
  row: z.ZodType<T>,
  ...values: readonly (string | number)[]
): readonly T[] {
  return z.array(row).parse(
    database
      .prepare(sql)
      .safeIntegers()
      .all(...values),
  );
}
