import type { DisplayUnit } from "../../platform/base/display-unit.ts";
import type { Month } from "../../platform/base/month.ts";

/** An amount in the base unit of a denomination. */
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

/** The chain's counts for the validator in the payment's period, taken from the payment's event. */
export interface PaidCounts {
  readonly blocks: bigint;
  readonly votes: bigint;
  readonly inActiveSet: bigint;
  readonly totalBlocks: bigint;
}

/**
 * Result of searching for a month's payment. "paid": it was found. "failed": the chain could not pay and states why. "none-due":
 * the chain paid nobody. "missing": all blocks that may contain it were searched.
 */
export type PaymentOutcome = "paid" | "failed" | "none-due" | "missing";

/** The payment for a closed month. */
export interface Payment {
  readonly month: Month;
  readonly outcome: PaymentOutcome;
  readonly searchedMs: number;
  /** Block of the payment or, if it is missing, the last block searched. */
  readonly height: bigint;
  readonly timeMs: number;
  /** Transaction hash in upper-case hex. Absent if the payment is in the block's own events. */
  readonly txHash?: string;
  /** Absent if the payment is missing. */
  readonly amount?: Coin;
  /** Absent if the chain has no metadata for the denomination. */
  readonly display?: Pick<DisplayUnit, "name" | "exponent">;
  /** The amount according to the watchdog's own count for the month. Absent if it cannot be computed; `note` explains why. */
  readonly expected?: bigint;
  /** The amount according to the chain's own counts. Absent in the same cases. */
  readonly byChain?: bigint;
  readonly counts?: PaidCounts;
  /** Why the chain could not pay, or what cannot be computed, in plain words. */
  readonly note?: string;
}
