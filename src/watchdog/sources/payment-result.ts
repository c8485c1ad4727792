import { z } from "zod";
import { storedInteger } from "./stored-json.ts";

const integer = storedInteger(120);

const coin = z.strictObject({ amount: integer, denom: z.string() });

/** An amount in a denomination's base unit. */
export type Coin = Readonly<z.output<typeof coin>>;

/** Parses "2500000000untrn". Returns undefined for any other text. */
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

/** Schema of a payment in stored JSON, where integers are decimal strings. */
export const storedPayment = z.strictObject({
  month: z.string(),
  /**
   * The outcome of the search for a month's payment. "paid": the search found the payment. "failed": the chain could not pay and
   * states why. "none-due": the chain paid no validator. "missing": none of the blocks searched so far contains the payment.
   */
  outcome: z.enum(["paid", "failed", "none-due", "missing"]),
  searchedMs: z.number(),
  /** Height of the payment's block or, if the payment is missing, of the last block searched. */
  height: integer,
  timeMs: z.number(),
  /** The transaction's hash in upper-case hex; absent if the payment is in the block's own events. */
  txHash: z.string().exactOptional(),
  /** The amount paid; absent if the payment is missing. */
  amount: coin.exactOptional(),
  /** The denomination's display unit; absent if the chain has no metadata for the denomination. */
  display: z.strictObject({ name: z.string(), exponent: z.number() }).exactOptional(),
  /** The amount according to the watchdog's own count for the month. Absent if it cannot be computed; `note` explains why. */
  expected: integer.exactOptional(),
  /** The amount according to the chain's own counts. Absent if `expected` is absent, or if the payment was found as a transfer. */
  byChain: integer.exactOptional(),
  counts: paidCounts.exactOptional(),
  /** Explains why the chain could not pay, or why an amount cannot be computed. */
  note: z.string().exactOptional(),
});

/** The result of the search for a closed month's payment, as stored in the state. */
export type Payment = Readonly<z.output<typeof storedPayment>>;

export type PaymentOutcome = Payment["outcome"];
