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

/** An integer that JSON stores as up to `digits` decimal digits, since JSON has no integers of this size. */
export function storedInteger(digits: number) {
  return z.codec(z.string().regex(new RegExp(`^\\d{1,${digits}}$`)), z.bigint(), {
    decode: BigInt,
    encode: String,
  });
}
