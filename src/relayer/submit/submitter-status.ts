/** The state of the submitter at one instant. */
export interface SubmitterStatus {
  /** Broadcast and not final, by sequence. */
  readonly inFlight: readonly TransactionInFlight[];
  /** Proven results that are not in a transaction in flight. */
  readonly queued: number;
  readonly budget: BlockBudgetStatus;
  /** Learned gas of one result, by query id. */
  readonly gasOf: (queryId: bigint) => bigint | undefined;
  /** Why nothing is sent at present; undefined while transactions may be sent. */
  readonly stopped: string | undefined;
}

/** A transaction that waits for its block. */
interface TransactionInFlight {
  /** Upper-case hex. */
  readonly hash: string;
  readonly sequence: bigint;
  readonly results: number;
  /** Expected gas used. */
  readonly gas: bigint;
  readonly bytes: number;
}

/** What the transactions in flight may use of one block together. */
export interface BlockBudgetStatus {
  readonly gas: bigint;
  readonly bytes: number;
  /** The gas that the chain allows in a block. */
  readonly chainGas: bigint;
  /** `gas` in per mille of `chainGas`. It shrinks when blocks reject transactions, and grows back. */
  readonly sharePermille: number;
}
