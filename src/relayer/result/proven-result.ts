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
  /** The query at the time of the read. */
  readonly query: RegisteredQuery;
  /** Cautious gas estimate for a query whose gas is not yet known. */
  readonly gasGuess: bigint;
  /** Remote height of the value or transaction. */
  readonly at: RemoteHeight;
}

/** A result with verified proofs. */
export interface ProvenResult extends ExpectedResult {
  /** Encoded `MsgSubmitQueryResult`. */
  readonly message: Uint8Array;
  /** Hash of the remote transaction, lower-case hex; undefined for a KV result. */
  readonly remoteTxHash: string | undefined;
  /** The client update that the proofs need. Undefined if the chain already has the consensus state, and for TX results. */
  readonly update: ClientUpdate | undefined;
  /** Local height at which the query was due. */
  readonly dueHeight: bigint;
  /** Start of the result's cycle or search. */
  readonly started: AttemptStart;
  /** Receives the result's outcome, once. */
  readonly onOutcome: (outcome: ResultOutcome) => void;
}

/** One `MsgUpdateClient`, shared by the results for one connection and height. */
export interface ClientUpdate {
  /** Identifies the client and the height. */
  readonly key: string;
  readonly connectionId: string;
  readonly message: WireMessage;
}

export type ResultOutcome =
  /** a local block includes it */
  | { readonly kind: "included"; readonly height: bigint }
  /** the query has its own failure */
  | { readonly kind: "refused"; readonly error: QueryFailure }
  /** not needed: the query was removed, a newer result replaced it, or another relayer was faster ("redundant") */
  | { readonly kind: "dropped"; readonly reason: "removed" | "superseded" | "redundant" }
  /** not included and due again, although the query did not fail. `error` is an error of its connection or of the account. */
  | { readonly kind: "unsent"; readonly reason: string; readonly error: Error | undefined };

/** A result that waits longer than this for its transaction is read again, because its value is too old. */
export const MAX_AGE_MS = 10_000;

/** Type URL of `MsgSubmitQueryResult`, which contains the chain's own name. */
export function submitTypeUrl({ chain }: { readonly chain: { readonly name: string } }): string {
  return `/${chain.name}.interchainqueries.MsgSubmitQueryResult`;
}

/** Encodes a `MsgSubmitQueryResult`. `sender` is a bech32 address. */
export function submitMessage(queryId: bigint, result: QueryResult, sender: string): Uint8Array {
  return MsgSubmitQueryResult.encode({ queryId, sender, clientId: "", result }).finish();
}

/** Returns the failure of a result whose message is too large for any transaction. */
export function tooLarge(message: Uint8Array, limits: { readonly bytes: number }): QueryFailure {
  return {
    code: "too-large",
    reason: `the result has ${message.length} bytes, above the limit of ${limits.bytes} per transaction`,
  };
}

const DROP_TEXTS = {
  redundant: "the chain already has a result at this remote height or a newer one",
  superseded: undefined,
  removed: undefined,
} as const;

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
