import type { FinalTx } from "../../cosmos/client/tx/tx-types.ts";

export interface AdmissionRequest {
  /** The transaction's gas limit. */
  readonly gas: bigint;
  /** The transaction's fee, in the fee denom's base unit. */
  readonly fee: bigint;
  /** `gas` divided among the query owners. A client update's gas is divided among the owners whose results follow the update. */
  readonly gasByOwner: ReadonlyMap<string, bigint>;
  /** The share of `fee` that pays for urgent results, by the name of each urgency rule that has its own budget. */
  readonly feeByRule?: ReadonlyMap<string, bigint>;
}

export type Admission =
  | {
      readonly admitted: true;
      /** Reverses the charge. Call `release` once the transaction is certain to cost nothing, i.e. it was rejected or lost. */
      readonly release: () => void;
    }
  | {
      readonly admitted: false;
      /** Human-readable reason why the transaction must not be sent. */
      readonly reason: string;
      /**
       * The owners whose budgets are used up. These owners' results back off with the code "over-budget", and the submitter
       * requests admission again without these results. Undefined if no transaction may be sent.
       */
      readonly owners?: readonly string[];
      /** The urgency rules whose budgets are used up. These rules' results are not urgent until the next UTC day. */
      readonly rules?: readonly string[];
    };

/**
 * Decides before each broadcast whether this process may send and pay, based on the lease, the balance reserve and the spending
 * limits.
 */
export interface SubmitGate {
  /** Called immediately before a broadcast. Resolves with a refusal if the gate itself fails, and rejects only on abort. */
  readonly admit: (request: AdmissionRequest, signal: AbortSignal) => Promise<Admission>;
}

/** Learns from broadcasts whether the account can pay its fees. */
export interface FundsWatch {
  readonly recordAccepted: () => void;
  /** Records that the node refused a transaction for lack of funds. `reason` is human-readable. */
  readonly recordUnpaid: (reason: string) => void;
}

/** Returns true if a node refused a transaction because the account or its fee grant lacks funds. */
export function isLackOfFunds(log: string): boolean {
  return /insufficient funds|fee limit exceeded|fee allowance expired|not allow to pay fees/i.test(log);
}

/** Work that needs exclusive use of the account. The submitter runs upkeep only while no transaction is in flight. */
export interface Upkeep {
  readonly isDue: () => boolean;
  /** Runs the work that is due, and rejects only on abort, with the signal's reason. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A relayer transaction that a block included and that paid its fee, even if its execution failed. */
export interface PaidTransaction {
  /** Transaction hash in upper-case hex. */
  readonly hash: string;
  /** Local height of the block that includes the transaction. */
  readonly height: bigint;
  /** The whole fee, in the fee denom's base unit. */
  readonly fee: bigint;
  readonly gasUsed: bigint;
  /** True if the transaction failed in its block and therefore delivered none of its results. */
  readonly isFailed: boolean;
  readonly results: readonly PaidResult[];
  readonly updates: readonly PaidUpdate[];
}

export interface PaidResult {
  readonly queryId: bigint;
  /** Bech32 address of the contract that owns the query; empty if the contract is no longer known. */
  readonly owner: string;
  readonly connectionId: string;
  /** Expected gas of the result, at least 0. */
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
