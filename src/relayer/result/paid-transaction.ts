import type { FinalTx } from "../../cosmos/client/tx/tx-types.ts";

/** A transaction of the relayer that is in a block and has cost its fee, also when it failed there. */
export interface PaidTransaction {
  /** Upper-case hex. */
  readonly hash: string;
  /** Local height of its block. */
  readonly height: bigint;
  /** Whole fee, in units of the fee denom. */
  readonly fee: bigint;
  readonly gasUsed: bigint;
  /** Failed in its block: no result of it was delivered. */
  readonly isFailed: boolean;
  /** Its results, with the gas that each is expected to use. */
  readonly results: readonly PaidResult[];
  /** Its client updates. */
  readonly updates: readonly PaidUpdate[];
}

/** A result in {@link PaidTransaction}. */
export interface PaidResult {
  readonly queryId: bigint;
  /** Bech32 address of the contract that owns the query; empty when it is not known any more. */
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

/** Whether a block has charged the fee of a transaction. */
export function isPaid(
  confirmation: FinalTx["confirmation"],
): confirmation is Extract<FinalTx["confirmation"], { readonly kind: "included" | "failed" }> {
  const { kind } = confirmation;
  return kind === "included" || (kind === "failed" && confirmation.isUnpaid !== true);
}

/** Receives transactions whose fee was paid. */
export interface PaymentSink {
  readonly record: (transaction: PaidTransaction) => void;
}
