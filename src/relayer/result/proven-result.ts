import type { WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import {
  MsgSubmitQueryResult,
  type QueryResult,
} from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { QueryFailure } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { Attempt, AttemptStart } from "../state/attempt.ts";

/** A result that is being read and proven. */
export interface ExpectedResult {
  /** The query as it was when its result was read. */
  readonly query: RegisteredQuery;
  /** Cautious estimate of its gas, for a query whose gas is not known yet. */
  readonly gasGuess: bigint;
  /** Remote height of the value, or of the transaction. */
  readonly at: RemoteHeight;
}

/** A result with verified proofs. */
export interface ProvenResult extends ExpectedResult {
  /** Encoded `MsgSubmitQueryResult`. */
  readonly message: Uint8Array;
  /** Hash of the remote transaction, lower-case hex; undefined for a KV result. */
  readonly remoteTxHash: string | undefined;
  /** The client update that the proofs need. Undefined when the chain has the consensus state, and for TX results. */
  readonly update: ClientUpdate | undefined;
  /** Local height at which the query was due. */
  readonly dueHeight: bigint;
  /** When the cycle of this result began, or its search. */
  readonly started: AttemptStart;
}

/** One `MsgUpdateClient`, shared by the results of one connection and height. */
export interface ClientUpdate {
  /** Identifies client and height. */
  readonly key: string;
  readonly connectionId: string;
  readonly message: WireMessage;
}

/** What became of a result. */
export type ResultOutcome =
  /** in a block of the local chain */
  | { readonly kind: "included"; readonly height: bigint }
  /** the query has its own failure */
  | { readonly kind: "refused"; readonly error: QueryFailure }
  /** not needed: the query was removed, a newer result took its place, or another relayer was faster ("redundant") */
  | { readonly kind: "dropped"; readonly reason: "removed" | "superseded" | "redundant" }
  /** not included, and no failure of the query: it is due again. `error` is an error of its connection or of the account. */
  | { readonly kind: "unsent"; readonly reason: string; readonly error: Error | undefined };

/** Receives the outcome of each result that was offered, once. */
export type OutcomeListener = (result: ProvenResult, outcome: ResultOutcome) => void;

/** A result that waits longer for its transaction is read again: its value is too old. */
export const MAX_AGE_MS = 10_000;

/** Encodes a `MsgSubmitQueryResult`. `sender` is a bech32 address. */
export function submitMessage(queryId: bigint, result: QueryResult, sender: string): Uint8Array {
  return MsgSubmitQueryResult.encode({ queryId, sender, clientId: "", result }).finish();
}

/** The failure of a result whose message exceeds the bytes of any transaction. */
export function tooLarge(message: Uint8Array, limits: { readonly bytes: number }): QueryFailure {
  return {
    code: "too-large",
    reason: `the result has ${message.length} bytes; a transaction may have ${limits.bytes}`,
  };
}

const DROP_TEXTS = {
  redundant: "the chain has a result of this remote height or a newer one",
  superseded: undefined,
  removed: undefined,
} as const;

/** What an attempt with this outcome says about it. */
export function toAttempt(outcome: ResultOutcome): Pick<Attempt, "outcome" | "reason"> {
  switch (outcome.kind) {
    case "included":
      return { outcome: "included", reason: undefined };
    case "refused":
      return { outcome: outcome.error.code, reason: outcome.error.reason };
    case "dropped":
      return { outcome: outcome.reason, reason: DROP_TEXTS[outcome.reason] };
    case "unsent":
      return { outcome: "not-broadcast", reason: outcome.reason };
  }
}
