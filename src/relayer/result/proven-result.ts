import type { WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import {
  MsgSubmitQueryResult,
  type QueryResult,
} from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { QueryFailure } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { Attempt, AttemptStart } from "../state/attempt.ts";

/** A result that a cycle is reading and proving. */
export interface ExpectedResult {
  /** The query at the time of the read. */
  readonly query: RegisteredQuery;
  /** A cautious gas estimate, used until the query's gas is known. */
  readonly gasGuess: bigint;
  /** Remote height of the value or transaction. */
  readonly at: RemoteHeight;
}

/** A result with verified proofs, ready for submission to the local chain. */
export interface ProvenResult extends ExpectedResult {
  /** Encoded `MsgSubmitQueryResult`. */
  readonly message: Uint8Array;
  /** The client update that the proofs need; undefined if the chain already has the consensus state, and for TX results. */
  readonly update: ClientUpdate | undefined;
  /** Local height at which the query was due. */
  readonly dueHeight: bigint;
  /** Start time of the result's cycle or search. */
  readonly started: AttemptStart;
  /** Called once, with the result's outcome. */
  readonly onOutcome: (outcome: ResultOutcome) => void;
}

/** One `MsgUpdateClient`, shared by the results for one connection and height. */
export interface ClientUpdate {
  /** The update's key, which is equal for updates of the same client to the same height. */
  readonly key: string;
  readonly connectionId: string;
  readonly message: WireMessage;
}

export type ResultOutcome =
  | { readonly kind: "included"; readonly height: bigint }
  /** The query itself failed. */
  | { readonly kind: "refused"; readonly error: QueryFailure }
  /** The result is not needed: its query was removed, a newer result replaced it, or another relayer was faster ("redundant"). */
  | { readonly kind: "dropped"; readonly reason: "removed" | "superseded" | "redundant" }
  /** The result was not included for a reason other than its query, which is due again. `error` concerns the connection or the account. */
  | { readonly kind: "unsent"; readonly reason: string; readonly error: Error | undefined };

/** Maximum time that a result waits for its transaction. After this time, its value is too old, and the query is read again. */
export const MAX_AGE_MS = 10_000;

/** Type URL of `MsgSubmitQueryResult`, which contains the chain's name. */
export function submitTypeUrl({ chain }: { readonly chain: { readonly name: string } }): string {
  return `/${chain.name}.interchainqueries.MsgSubmitQueryResult`;
}

/** Encodes a `MsgSubmitQueryResult`, where `sender` is a bech32 address. */
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

/** The submitter's interface for workers. */
export interface ResultSubmitter {
  /** Bech32 address of the account that submits the results. */
  readonly address: string;
  /** Returns the data that a worker needs to plan its next cycle. The view is valid only until the next `await`. */
  readonly view: (connectionId: string) => PipelineView;
  /**
   * Selects results for a connection's next cycle, longest due first. Selects only as many results as can be sent soon, because
   * further results would become too old in the queue. The selected results remain expected until they are offered or given up.
   */
  readonly reserve: (
    connectionId: string,
    candidates: readonly ExpectedResult[],
    lookAhead: bigint,
  ) => Reservation;
  /**
   * Queues proven results and ends their reservation. Gives up reserved results that are missing from `results`. Reports each
   * result's outcome once. A result that does not fit in the queue is reported as unsent immediately.
   */
  readonly offer: (results: readonly ProvenResult[], reservation?: Reservation) => void;
  /** Ends a query's turn in the service order, because a read showed that the query needs no result. */
  readonly endTurn: (query: RegisteredQuery) => void;
  /** Removes a query's queued results and reports them as unsent, because earlier results must be sent first. */
  readonly withdraw: (queryId: bigint) => void;
}

/** The results that one cycle may read, with their pipeline ids. */
export interface Reservation {
  /** The reserved results, in descending priority. */
  readonly results: readonly ExpectedResult[];
  /** The ids that the pipeline assigned to `results`, in the same order. */
  readonly ids: readonly number[];
}

export interface PipelineView {
  /** Total duration of simulation and broadcast, ms. */
  readonly sendMs: number;
  /**
   * Returns the number of blocks by which the connection reads results early: normally `own`, which is derived from the
   * connection's durations. If blocks are full and another connection reads early, the look-ahead is at least 1, because results
   * read only when due would find every block full.
   */
  readonly lookAhead: (own: bigint) => bigint;
  /**
   * Returns true if another result of the query may be read. A KV query may have two results that are not broadcast yet: one is
   * read while the other waits for its block. No result may be read while the outcome of the query's last result is unknown.
   */
  readonly mayRead: (query: Pick<RegisteredQuery, "id" | "type">) => boolean;
  /** The query's newest result that is expected, queued or in flight. */
  readonly newest: (queryId: bigint) => DepartingResult | undefined;
  /**
   * Returns how much gas of further KV results the connection can send soon. A connection always gets its share of a block,
   * regardless of other connections' queues. `lookAhead` is the number of blocks by which results are read early.
   */
  readonly capacity: (lookAhead: bigint) => bigint;
  /** Returns true if the query's result is read even without capacity, because the operator pays more for the query. */
  readonly isUrgent: (query: RegisteredQuery) => boolean;
}

/** A result that is in flight or will soon be broadcast. */
export interface DepartingResult {
  /** Local height at which the result was or will be broadcast. */
  readonly sentAt: bigint;
  readonly at: RemoteHeight;
}

/** Fixed gas of a transaction for signature, fee and sequence, as measured on a real chain. */
export const GAS_PER_TRANSACTION = 110_000n;
/** Initial guess of a client update's gas, for a header with one or two signatures. */
export const GAS_PER_CLIENT_UPDATE = 85_000n;
/** Initial guess of a result's gas per key, for a proof with two operators. */
export const GAS_PER_KEY = 30_000n;
/** Initial guess of a callback's gas. On a localnet, a contract that stores its result uses 77,000 gas. */
const GAS_PER_CALLBACK = 90_000n;

/** Returns a cautious estimate of a query's gas per result, used until the relayer has learned the query's gas. */
export function gasGuess({ keys }: RegisteredQuery, allowKvCallbacks: boolean): bigint {
  return GAS_PER_KEY * BigInt(keys.length) + (allowKvCallbacks ? GAS_PER_CALLBACK : 0n);
}
