import { z } from "zod";
import { storedInteger } from "./stored-json.ts";

const integer = storedInteger(120);

const coin = z.strictObject({ amount: integer, denom: z.string() });

/** An amount in the base unit of a denomination. */
export type Coin = Readonly<z.output<typeof coin>>;

/** Parses "2500000000untrn". Undefined for any other text. */
export function parseCoin(text: string): Coin | undefined {
  const match = /^(\d{1,78})([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$/.exec(text);
  const [, amount, denom] = match ?? [];
  return amount === undefined || denom === undefined ? undefined : { amount: BigInt(amount), denom };
}

const paidCounts = z.strictObject({
  blocks: integer,
  votes: integer,
  inActiveSet: integer,
  totalBlocks: integer,
});

/** The chain's counts for the validator in the payment's period, taken from the payment's event. */
export type PaidCounts = Readonly<z.output<typeof paidCounts>>;

/** Schema of a payment as JSON stores it. Integers are decimal strings. */
export const storedPayment = z.strictObject({
  month: z.string(),
  /**
   * What searching for a month's payment found: "paid" if it was found, "failed" if the chain could not pay and states why,
   * "none-due" if the chain paid nobody, and "missing" if all blocks that may contain it were searched.
   */
  outcome: z.enum(["paid", "failed", "none-due", "missing"]),
  searchedMs: z.number(),
  /** The payment's block or, if the payment is missing, the last block that was searched. */
  height: integer,
  timeMs: z.number(),
  /** The transaction's hash in upper-case hex. Absent if the payment is in the block's own events. */
  txHash: z.string().exactOptional(),
  /** What was paid. Absent if the payment is missing. */
  amount: coin.exactOptional(),
  /** The denomination's display unit. Absent if the chain has no metadata for the denomination. */
  display: z.strictObject({ name: z.string(), exponent: z.number() }).exactOptional(),
  /** The amount according to the watchdog's own count for the month. Absent if it cannot be computed; `note` explains why. */
  expected: integer.exactOptional(),
  /** The amount according to the chain's own counts. Absent in the same cases. */
  byChain: integer.exactOptional(),
  counts: paidCounts.exactOptional(),
  /** Why the chain could not pay, or what cannot be computed, in plain words. */
  note: z.string().exactOptional(),
});

/** The payment for a closed month. */
export type Payment = Readonly<z.output<typeof storedPayment>>;

export type PaymentOutcome = Payment["outcome"];
