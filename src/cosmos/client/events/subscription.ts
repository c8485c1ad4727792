interface WireAttribute {
  readonly key: string;
  readonly value: string;
}

/** An ABCI event in the form that the node publishes. */
export interface WireEvent {
  readonly type: string;
  readonly attributes: readonly WireAttribute[];
}

/**
 * A notice of a subscription. `connected` arrives after each connection, when all queries are subscribed. `missed` means
 * that events may be lost, so the reader must read the chain's state again.
 */
export type ChainNotice =
  | { readonly kind: "connected" }
  | { readonly kind: "missed"; readonly reason: string }
  | { readonly kind: "block"; readonly height: bigint; readonly timeNs: bigint }
  | {
      readonly kind: "tx";
      readonly height: bigint;
      readonly hash: Uint8Array;
      readonly code: number;
      readonly events: readonly WireEvent[];
    }
  | { readonly kind: "block-events"; readonly height: bigint; readonly events: readonly WireEvent[] };

/** Follows a chain and reconnects after every failure. */
export interface ChainSubscription {
  /** Runs until the signal aborts. Connection errors are handled inside and do not end it. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Removes the oldest notice; waits for one when there is none. For one reader. */
  readonly next: (signal: AbortSignal) => Promise<ChainNotice>;
  readonly isConnected: () => boolean;
}
