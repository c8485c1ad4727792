/** An attribute of an event. */
interface WireAttribute {
  readonly key: string;
  readonly value: string;
}

/** An ABCI event as the node published it. */
export interface WireEvent {
  readonly type: string;
  readonly attributes: readonly WireAttribute[];
}

/**
 * What a subscription tells its owner. `connected` comes after every (re)connect, once all queries are subscribed again;
 * `missed` says that something may have been lost (connection gap, overflow): the owner must read the state afresh.
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

/** Follows a chain over WebSocket: ping, read deadline, reconnect with capped backoff and jitter, resubscribe. */
export interface ChainSubscription {
  /** Runs until the signal fires; errors of the connection are handled inside and never end it. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** The next notice; waits for one. Bounded inside: on overflow a `missed` takes the place of what was dropped. One reader. */
  readonly next: (signal: AbortSignal) => Promise<ChainNotice>;
  readonly isConnected: () => boolean;
}
