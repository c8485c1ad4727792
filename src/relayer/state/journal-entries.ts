/** A remote transaction that will not be sent again: rejected by its contract, too large, or no longer provable. */
export interface DeadLetter {
  readonly queryId: bigint;
  /** Lower-case hex SHA-256 of the remote transaction. */
  readonly hash: string;
  readonly remoteHeight: bigint;
  readonly reason: string;
  /** Wall-clock time, ms. */
  readonly atMs: number;
}

/** A block by which a chain is recognised after a restart of either. */
export interface KnownBlock {
  readonly height: bigint;
  /** Upper-case hex; empty when only the height is known. */
  readonly hash: string;
}

/** A remote transaction on its way. */
export interface SendingTx {
  readonly queryId: bigint;
  /** Lower-case hex SHA-256 of the remote transaction. */
  readonly hash: string;
  readonly remoteHeight: bigint;
  readonly localHeight: bigint;
}
