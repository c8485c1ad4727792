/** A message to send: type URL and encoded value. */
export interface WireMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** Result of a simulation. `failedMessage` is the index in "failed to execute message; message index: N". */
export type SimulationOutcome =
  | { readonly ok: true; readonly gasUsed: bigint }
  | {
      readonly ok: false;
      readonly code: number;
      readonly codespace: string;
      readonly log: string;
      readonly failedMessage: number | undefined;
    };

/** Where a broadcast transaction ended. */
export type Confirmation =
  | {
      readonly kind: "included";
      readonly height: bigint;
      readonly gasUsed: bigint;
      readonly gasWanted: bigint;
    }
  | {
      readonly kind: "failed";
      readonly height: bigint;
      readonly code: number;
      readonly codespace: string;
      readonly log: string;
      readonly gasUsed: bigint;
    }
  | { readonly kind: "refused"; readonly code: number; readonly codespace: string; readonly log: string }
  | { readonly kind: "lost"; readonly reason: string };

/** What was sent and where it ended. */
export interface SendOutcome {
  readonly hash: Uint8Array;
  readonly bytes: number;
  readonly gasLimit: bigint;
  readonly feeAmount: bigint;
  readonly confirmation: Confirmation;
}

/** Signs with one account (SIGN_MODE_DIRECT), one transaction at a time; keeps the sequence right over refusals and restarts. */
export interface TxSender {
  readonly address: string;
  readonly simulate: (messages: readonly WireMessage[], signal: AbortSignal) => Promise<SimulationOutcome>;
  /**
   * Prices (feemarket, capped), signs, broadcasts and waits for inclusion. A stale sequence is read again and the
   * transaction sent once more; everything else is an outcome for the caller to judge.
   */
  readonly send: (
    messages: readonly WireMessage[],
    gasLimit: bigint,
    signal: AbortSignal,
  ) => Promise<SendOutcome>;
}
