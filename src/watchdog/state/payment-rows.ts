import type Database from "libsql";
import { z } from "zod";
import { prepared } from "../../platform/storage/sqlite-database.ts";
import { type Payment, storedPayment } from "../sources/payment-result.ts";
import { readRows } from "./stored-values.ts";

const row = z.object({ validator: z.string(), body: z.string() });

/** Payments by validator name, oldest first. */
type Payments = ReadonlyMap<string, readonly Payment[]>;

const NONE: Payments = new Map();

/** Reads the `payments` table. Undefined if it is empty. */
export function readPayments(database: Database.Database): Payments | undefined {
  const all = new Map<string, Payment[]>();
  const sql = "SELECT validator, body FROM payments ORDER BY validator, month";
  for (const { validator, body } of readRows(database, sql, row)) {
    const payment = storedPayment.parse(JSON.parse(body));
    all.set(validator, [...(all.get(validator) ?? []), payment]);
  }
  return all.size === 0 ? undefined : all;
}

/** Writes the payments that are new or have changed since `before`. There are few, with one row per month. */
export function writePayments(
  database: Database.Database,
  all: Payments = NONE,
  before: Payments = NONE,
): void {
  if (all === before) return;
  const insert = prepared(database, "INSERT OR REPLACE INTO payments VALUES (?, ?, ?)");
  for (const [validator, payments] of all) {
    const known = new Set(before.get(validator));
    for (const payment of payments)
      if (!known.has(payment))
        insert.run(validator, payment.month, JSON.stringify(z.encode(storedPayment, payment)));
  }
}
