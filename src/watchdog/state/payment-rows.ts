import type Database from "libsql";
import { z } from "zod";
import { type JsonObject, stringifyJson } from "../../platform/base/json.ts";
import { prepared } from "../../platform/storage/sqlite-database.ts";
import type { Payment } from "../sources/payment-result.ts";

const integer = z
  .string()
  .regex(/^\d{1,120}$/)
  .transform(BigInt);

/** Schema of a payment stored in JSON. Integers are decimal strings. */
export const storedPayment = z.strictObject({
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
}) satisfies z.ZodType<Payment>;

/** Encodes a payment as {@link storedPayment}. */
export function encodePayment(payment: Payment): JsonObject {
  const { height, amount, display, expected, byChain, counts, ...rest } = payment;
  return {
    ...rest,
    height: String(height),
    ...(display === undefined ? {} : { display: { ...display } }),
    ...(amount === undefined ? {} : { amount: { ...amount, amount: String(amount.amount) } }),
    ...(expected === undefined ? {} : { expected: String(expected) }),
    ...(byChain === undefined ? {} : { byChain: String(byChain) }),
    ...(counts === undefined
      ? {}
      : { counts: Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)])) }),
  };
}

const row = z.object({ validator: z.string(), body: z.string() });

/** Payments by validator name, oldest first. */
type Payments = ReadonlyMap<string, readonly Payment[]>;

const NONE: Payments = new Map();

/** Reads the `payments` table. Undefined if it is empty. */
export function readPayments(database: Database.Database): Payments | undefined {
  const rows = z
    .array(row)
    .parse(database.prepare("SELECT validator, body FROM payments ORDER BY validator, month").all());
  const all = new Map<string, Payment[]>();
  for (const { validator, body } of rows) {
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
      if (!known.has(payment)) insert.run(validator, payment.month, stringifyJson(encodePayment(payment)));
  }
}
