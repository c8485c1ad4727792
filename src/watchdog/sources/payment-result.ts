import type { DisplayUnit } from "../../platform/base/display-unit.ts";
import type { Month } from "../../platform/base/month.ts";

/** An amount of one denomination in its base unit. */
export interface Coin {
  readonly amount: bigint;
  readonly denom: string;
}

/** Parses "2500000000untrn". Undefined for any other text. */
export function parseCoin(text: string): Coin | undefined {
  const match = /^(\d{1,78})([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$/.exec(text);
  const [, amount, denom] = match ?? [];
  return amount === undefined || denom === undefined ? undefined : { amount: BigInt(amount), denom };
}

/** What the chain counted for the validator in the payment's period, from the payment's event. */
export interface PaidCounts {
  readonly blocks: bigint;
  readonly votes: bigint;
  readonly inActiveSet: bigint;
  readonly totalBlocks: bigint;
}

/**
 * Result of the search for the payment of a month. "paid": it was found. "failed": the chain could not pay, and says why. "none-due": the
 * chain paid nobody. "missing": all blocks that can have it were searched.
 */
export type PaymentOutcome = "paid" | "failed" | "none-due" | "missing";

/** The payment of a closed month. */
export interface Payment {
  readonly month: Month;
  readonly outcome: PaymentOutcome;
  /** Time of the search. */
  readonly searchedMs: number;
  /** Block of the payment; of a missing one, the last block that was searched. */
  readonly height: bigint;
  /** Time of that block. */
  readonly timeMs: number;
  /** Hash of the transaction, upper-case hex. Absent: the payment is in the block's own events. */
  readonly txHash?: string;
  /** Absent when it is missing. */
  readonly amount?: Coin;
  /** Absent: the chain has no metadata of the denomination. */
  readonly display?: Pick<DisplayUnit, "name" | "exponent">;
  /** Amount by the watchdog's own count of the month. Absent: it cannot be computed; `note` says why. */
  readonly expected?: bigint;
  /** Amount by the chain's own counts. Absent as above. */
  readonly byChain?: bigint;
  readonly counts?: PaidCounts;
  /** Why the chain could not pay, or what cannot be computed, for people. */
  readonly note?: string;
}
