import type Database from "libsql";
import { z } from "zod";
import type { JsonObject } from "../../platform/base/json.ts";
import { prepared } from "../../platform/storage/sqlite-database.ts";
import type { Payment } from "../sources/payment-result.ts";
import { readRows, storedInteger } from "./stored-values.ts";

const integer = storedInteger(120);

/** Schema of a payment stored in JSON. Integers are decimal strings. */
export const storedPayment: z.ZodType<Payment, JsonObject> = z.strictObject({
  month: z.string(),
  outcome: z.enum(["paid", "failed", "none-due", "missing"]),
  searchedMs: z.number(),
  height: integer,
  timeMs: z.number(),
  txHash: z.string().exactOptional(),
  amount: z.strictObject({ amount: integer, denom: z.string() }).exactOptional(),
  display: z.strictObject({ name: z.string(), exponent: z.number() }).exactOptional(),
  expected: integer.exactOptional(),
  byChain: integer.exactOptional(),
  counts: z
    .strictObject({ blocks: integer, votes: integer, inActiveSet: integer, totalBlocks: integer })
    .exactOptional(),
  note: z.string().exactOptional(),
});

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
