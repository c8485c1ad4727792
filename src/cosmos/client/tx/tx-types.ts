import type { Dec18 } from "../../../platform/base/decimal.ts";
import type { ClientError } from "../../client-error.ts";

export interface WireMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** The reason why a transaction failed, i.e. its ABCI code, codespace and log. */
export interface TxFailure {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
}

export type SimulationOutcome =
  | { readonly ok: true; readonly gasUsed: bigint }
  | (TxFailure & {
      readonly ok: false;
      /** Index of the message that failed according to the log, or undefined if the log contains no index. */
      readonly failedMessage: number | undefined;
    });

/** Final state of a broadcast transaction. */
export type Confirmation =
  /** The transaction is in a block, with code 0. */
  | {
      readonly kind: "included";
      readonly height: bigint;
      readonly gasUsed: bigint;
      readonly gasWanted: bigint;
      /** Encoded `TxMsgData` with the messages' responses, or empty if the node returns no data. */
      readonly data: Uint8Array;
    }
  /** The transaction is in a block, with an error code. */
  | (TxFailure & {
      readonly kind: "failed";
      readonly height: bigint;
      readonly gasUsed: bigint;
      /** The ante handler refused the transaction, so no fee was charged. A transaction whose messages fail pays the full fee. */
      readonly isUnpaid?: true;
    })
  /** A node refused the transaction, for example in CheckTx, or the transaction is too large for a block. */
  | (TxFailure & { readonly kind: "refused" })
  /**
   * No block included the transaction by its timeout height or deadline. If `isUncertain` is set, a later block may still include
   * the transaction.
   */
  | { readonly kind: "lost"; readonly reason: string; readonly isUncertain?: true };

/** A sent transaction and its final state. */
export interface SendOutcome extends Pick<FlightTx, "hash" | "gasLimit" | "feeAmount"> {
  /** Size of the encoded transaction, in bytes. */
  readonly bytes: number;
  readonly confirmation: Confirmation;
}

/** A broadcast transaction that a node has accepted or refused. */
export interface BroadcastOutcome extends Pick<SendOutcome, "hash" | "gasLimit"> {
  readonly confirmation: { readonly kind: "accepted" } | Extract<Confirmation, { readonly kind: "refused" }>;
}

/**
 * Sends transactions from one account, signed with SIGN_MODE_DIRECT. Each transaction is sent after the previous transaction has
 * become final.
 */
export interface TxSender {
  /** The sending account's bech32 address. */
  readonly address: string;
  readonly simulate: (messages: readonly WireMessage[], signal: AbortSignal) => Promise<SimulationOutcome>;
  /**
   * Prices, signs and broadcasts a transaction and waits for its final state. Retries once after a sequence mismatch. Throws if no
   * final state is known, because the call was aborted or because a read before the broadcast failed.
   */
  readonly send: Send<SendOutcome>;
  /** Like `send`, but does not wait for a block. */
  readonly broadcast: Send<BroadcastOutcome>;
}

type Send<T> = (messages: readonly WireMessage[], gasLimit: bigint, signal: AbortSignal) => Promise<T>;

export interface TxDraft {
  readonly messages: readonly WireMessage[];
  readonly gasLimit: bigint;
}

/** A broadcast transaction that is not yet final. Either a node has accepted it, or it is unknown whether the broadcast arrived. */
export interface FlightTx {
  readonly hash: Uint8Array;
  readonly sequence: bigint;
  /** Size of the encoded transaction, in bytes. */
  readonly size: number;
  readonly gasLimit: bigint;
  readonly feeAmount: bigint;
}

export type BroadcastResult =
  /** The broadcast transaction is not final yet. If `isUncertain` is set, no node has confirmed that it accepted the transaction. */
  | { readonly kind: "in-flight"; readonly tx: FlightTx; readonly isUncertain?: true }
  /** The node refused the transaction, so no block will include it. */
  | (TxFailure & {
      readonly kind: "refused";
      readonly tx: FlightTx;
      /** The JSON-RPC error, e.g. about a full mempool. Not set if CheckTx refused the transaction. */
      readonly cause?: ClientError;
    })
  /** The transaction was not accepted, because the node refused an earlier transaction or the sequence was uncertain. */
  | { readonly kind: "skipped"; readonly tx?: FlightTx; readonly reason: string };

export interface FinalTx {
  readonly tx: FlightTx;
  readonly confirmation: Exclude<Confirmation, { readonly kind: "refused" }>;
}

/** The current gas price and the chain's latest height. */
export interface ChainMoment {
  readonly gasPrice: Dec18;
  readonly height: bigint;
}

/**
 * Sends transactions from one account with consecutive sequences, several in flight at a time. Only one `broadcast` or `confirm`
 * call may run at a time, but simulations may run at any time.
 *
 * After a lost transaction or an unexpected sequence, the window stays closed until all transactions in flight are final. Then the
 * window reads the account again. The chain can never include both an abandoned transaction and its replacement, because both have
 * the same sequence.
 */
export interface TxWindow {
  /** The sending account's bech32 address. */
  readonly address: string;
  readonly simulate: (messages: readonly WireMessage[], signal: AbortSignal) => Promise<SimulationOutcome>;
  /** Returns the gas price to offer. Throws a `ClientError`, e.g. if the chain's price exceeds the configured cap. */
  readonly gasPrice: (signal: AbortSignal) => Promise<Dec18>;
  /** Returns true if the account's next sequence is certain at this height. If it is uncertain, `broadcast` skips all drafts. */
  readonly isOpen: (height: bigint) => boolean;
  /**
   * Signs the drafts and broadcasts them together, in order. Returns one result per draft, in the same order. Throws `ClientError`
   * if the account cannot be read, and the signal's reason on abort.
   */
  readonly broadcast: (
    drafts: readonly TxDraft[],
    at: ChainMoment,
    signal: AbortSignal,
  ) => Promise<readonly BroadcastResult[]>;
  /**
   * Returns the transactions that have become final, in sequence order. Rebroadcasts the bytes of overdue transactions, since a node
   * may have dropped them. Call `confirm` after each block. Throws only the signal's reason and errors that an operator must fix, e.g.
   * if the node has no transaction index.
   */
  readonly confirm: (height: bigint, signal: AbortSignal) => Promise<readonly FinalTx[]>;
  /**
   * Forgets the account's sequence, because the chain was reset. The next `confirm` reports each transaction in flight as included
   * in a block of the reset chain, or as lost.
   */
  readonly reset: () => void;
  /** Returns the transactions in flight, in sequence order. */
  readonly inFlight: () => readonly FlightTx[];
}
