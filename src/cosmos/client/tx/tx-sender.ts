/** A message to send, encoded. */
export interface WireMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** Result of a simulation. */
export type SimulationOutcome =
  | { readonly ok: true; readonly gasUsed: bigint }
  | {
      readonly ok: false;
      readonly code: number;
      readonly codespace: string;
      readonly log: string;
      /** N of "failed to execute message; message index: N", undefined when the log does not name a message */
      readonly failedMessage: number | undefined;
    };

/** Final state of a broadcast transaction. */
export type Confirmation =
  /** in a block, with code 0 */
  | {
      readonly kind: "included";
      readonly height: bigint;
      readonly gasUsed: bigint;
      readonly gasWanted: bigint;
      /** Encoded `TxMsgData` with the responses of the messages; empty when the node returns none. */
      readonly data: Uint8Array;
    }
  /** in a block, with an error code */
  | {
      readonly kind: "failed";
      readonly height: bigint;
      readonly code: number;
      readonly codespace: string;
      readonly log: string;
      readonly gasUsed: bigint;
    }
  /** refused by CheckTx */
  | { readonly kind: "refused"; readonly code: number; readonly codespace: string; readonly log: string }
  /** in no block up to the timeout height, or in none until the deadline */
  | { readonly kind: "lost"; readonly reason: string };

/** A sent transaction and its final state. */
export interface SendOutcome {
  readonly hash: Uint8Array;
  /** encoded size */
  readonly bytes: number;
  readonly gasLimit: bigint;
  readonly feeAmount: bigint;
  readonly confirmation: Confirmation;
}

/** Sends transactions of one account, one at a time, signed with SIGN_MODE_DIRECT. */
export interface TxSender {
  /** bech32 */
  readonly address: string;
  readonly simulate: (messages: readonly WireMessage[], signal: AbortSignal) => Promise<SimulationOutcome>;
  /**
   * Prices, signs and broadcasts a transaction and waits for its final state. Repeats this once after a sequence
   * mismatch. Throws when no final state is known: on abort, or when a read before the broadcast fails.
   */
  readonly send: (
    messages: readonly WireMessage[],
    gasLimit: bigint,
    signal: AbortSignal,
  ) => Promise<SendOutcome>;
}
