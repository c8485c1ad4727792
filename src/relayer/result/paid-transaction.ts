import type { FinalTx } from "../../cosmos/client/tx/tx-types.ts";

/** A relayer transaction that is in a block and was charged its fee, even if it failed there. */
export interface PaidTransaction {
  /** Upper-case hex. */
  readonly hash: string;
  /** Local height of its block. */
  readonly height: bigint;
  /** Whole fee, in units of the fee denom. */
  readonly fee: bigint;
  readonly gasUsed: bigint;
  /** True if it failed in its block, so that none of its results were delivered. */
  readonly isFailed: boolean;
  /** Its results, each with the gas that it is expected to use. */
  readonly results: readonly PaidResult[];
  /** Its client updates. */
  readonly updates: readonly PaidUpdate[];
}

/** A result in {@link PaidTransaction}. */
export interface PaidResult {
  readonly queryId: bigint;
  /** Bech32 address of the contract that owns the query; empty if it is no longer known. */
  readonly owner: string;
  readonly connectionId: string;
  /** Expected gas, at least 0. */
  readonly gas: bigint;
}

/** A client update in {@link PaidTransaction}. */
export interface PaidUpdate {
  readonly connectionId: string;
  readonly gas: bigint;
}

/** Whether a block has charged a transaction's fee. */
export function isPaid(
  confirmation: FinalTx["confirmation"],
): confirmation is Extract<FinalTx["confirmation"], { readonly kind: "included" | "failed" }> {
  const { kind } = confirmation;
  return kind === "included" || (kind === "failed" && confirmation.isUnpaid !== true);
}

/** Receives transactions whose fees were paid. */
export interface PaymentSink {
  readonly record: (transaction: PaidTransaction) => void;
}
