import type { FinalTx } from "../../cosmos/client/tx/tx-types.ts";

/** A relayer transaction in a block that paid its fee, even if it failed there. */
export interface PaidTransaction {
  /** Upper-case hex. */
  readonly hash: string;
  /** Local height of its block. */
  readonly height: bigint;
  /** Whole fee, in the fee denom's base unit. */
  readonly fee: bigint;
  readonly gasUsed: bigint;
  /** True if it failed in its block and thus delivered none of its results. */
  readonly isFailed: boolean;
  readonly results: readonly PaidResult[];
  readonly updates: readonly PaidUpdate[];
}

export interface PaidResult {
  readonly queryId: bigint;
  /** Bech32 address of the contract that owns the query; empty if it is no longer known. */
  readonly owner: string;
  readonly connectionId: string;
  /** Expected gas, at least 0. */
  readonly gas: bigint;
}

export interface PaidUpdate {
  readonly connectionId: string;
  readonly gas: bigint;
}

/** Returns true if a transaction paid its fee in a block. */
export function isPaid(
  confirmation: FinalTx["confirmation"],
): confirmation is Extract<FinalTx["confirmation"], { readonly kind: "included" | "failed" }> {
  const { kind } = confirmation;
  return kind === "included" || (kind === "failed" && confirmation.isUnpaid !== true);
}

export interface PaymentSink {
  readonly record: (transaction: PaidTransaction) => void;
}
