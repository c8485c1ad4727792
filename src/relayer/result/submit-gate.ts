/** A transaction's expected cost before broadcast. */
export interface AdmissionRequest {
  /** Gas limit. */
  readonly gas: bigint;
  /** In units of the fee denom. */
  readonly fee: bigint;
  /** The parts of `gas`, by owner of the queries. A client update counts toward the owners of the results that follow it. */
  readonly gasByOwner: ReadonlyMap<string, bigint>;
  /** The parts of `fee` for urgent results, by rule; only rules with a budget of their own. */
  readonly feeByRule?: ReadonlyMap<string, bigint>;
}

/** Response of a {@link SubmitGate}. */
export type Admission =
  | {
      readonly admitted: true;
      /** Call it if the transaction certainly costs nothing: the node refused it, or it was lost. */
      readonly release: () => void;
    }
  | {
      readonly admitted: false;
      /** For people. */
      readonly reason: string;
      /**
       * The owners whose budgets are used up. Their results back off with the code "over-budget", and the transaction is offered
       * again without them. Undefined: nothing may be sent now.
       */
      readonly owners?: readonly string[];
      /** The rules whose budgets are used up. Their results are not urgent until the next UTC day. */
      readonly rules?: readonly string[];
    };

/** Decides before each broadcast whether this process may send and pay: leader lease, balance reserve, spending caps. */
export interface SubmitGate {
  /** Called immediately before a broadcast. Rejects only on abort; an error of the gate itself is a refusal with a reason. */
  readonly admit: (request: AdmissionRequest, signal: AbortSignal) => Promise<Admission>;
}

/** Learns from the node's responses whether the account can pay. */
export interface FundsWatch {
  /** The node accepted a transaction. */
  readonly recordAccepted: () => void;
  /** The node refused a transaction for lack of funds. `reason` is a text for people. */
  readonly recordUnpaid: (reason: string) => void;
}

/** Whether a node refused a transaction because the account, or the fee grant that pays for it, lacks funds. */
export function isLackOfFunds(log: string): boolean {
  return /insufficient funds|fee limit exceeded|fee allowance expired|not allow to pay fees/i.test(log);
}

/** Work that needs exclusive use of the account. The submitter calls it while it has nothing in flight. */
export interface Upkeep {
  readonly isDue: () => boolean;
  /** Rejects only with the signal's reason. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}
