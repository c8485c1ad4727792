export interface AdmissionRequest {
  /** Gas limit. */
  readonly gas: bigint;
  /** In the fee denom's base unit. */
  readonly fee: bigint;
  /** `gas` by query owner. The owners of the results after a client update share its gas. */
  readonly gasByOwner: ReadonlyMap<string, bigint>;
  /** The parts of `fee` for urgent results, by rule. Contains only rules with their own budget. */
  readonly feeByRule?: ReadonlyMap<string, bigint>;
}

export type Admission =
  | {
      readonly admitted: true;
      /** Call it if the transaction is certain to cost nothing: the node rejected it, or it was lost. */
      readonly release: () => void;
    }
  | {
      readonly admitted: false;
      /** Text for people. */
      readonly reason: string;
      /**
       * The owners whose budgets are used up. Their results back off with the code "over-budget", and the submitter offers the
       * transaction again without them. Undefined if nothing may be sent now.
       */
      readonly owners?: readonly string[];
      /** The rules whose budgets are used up. Their results are not urgent until the next UTC day. */
      readonly rules?: readonly string[];
    };

/** Decides before each broadcast whether this process may send and pay: leader lease, balance reserve, spending caps. */
export interface SubmitGate {
  /** Called immediately before a broadcast. Rejects only on abort. If the gate itself fails, it refuses with a reason. */
  readonly admit: (request: AdmissionRequest, signal: AbortSignal) => Promise<Admission>;
}

/** Learns from a node's responses whether the account can pay. */
export interface FundsWatch {
  readonly recordAccepted: () => void;
  /** The node refused a transaction for lack of funds. `reason` is a text for people. */
  readonly recordUnpaid: (reason: string) => void;
}

/** Returns true if a node refused a transaction because the account or its fee grant lacks funds. */
export function isLackOfFunds(log: string): boolean {
  return /insufficient funds|fee limit exceeded|fee allowance expired|not allow to pay fees/i.test(log);
}

/** Work that needs exclusive use of the account. The submitter runs it while nothing is in flight. */
export interface Upkeep {
  readonly isDue: () => boolean;
  /** Rejects only with the signal's reason. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}
