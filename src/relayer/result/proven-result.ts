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

/** The submitter's interface for workers. */
export interface ResultSubmitter {
  /** Bech32 address of the account. */
  readonly address: string;
  /** Data for planning a worker's next cycle. The data is valid until the next await. */
  readonly view: (connectionId: string) => PipelineView;
  /**
   * Selects results for a connection's next cycle, longest due first, as many as can be sent soon. Additional results would only
   * age in the queue. Selected results remain expected until they are offered or given up.
   */
  readonly reserve: (
    connectionId: string,
    candidates: readonly ExpectedResult[],
    lookAhead: bigint,
  ) => Reservation;
  /**
   * Accepts results and ends their reservation. A reserved result that is missing is given up. Each result is reported once. A
   * result that does not fit is immediately reported as unsent.
   */
  readonly offer: (results: readonly ProvenResult[], reservation?: Reservation) => void;
  /** Ends the turn of a query that was read and needs no result. */
  readonly endTurn: (query: RegisteredQuery) => void;
  /** Resolves a query's queued results as unsent, because earlier results must be sent first. */
  readonly withdraw: (queryId: bigint) => void;
}

/** The results that a cycle reads. */
export interface Reservation {
  /** In order of need. */
  readonly results: readonly ExpectedResult[];
  /** Ids of the entries, in the order of `results`. */
  readonly ids: readonly number[];
}

export interface PipelineView {
  /** Duration of simulation and broadcast, ms. */
  readonly sendMs: number;
  /**
   * Returns how many blocks early the connection reads. Normally this is `own`, which the connection's durations require. If blocks
   * are full and another connection reads early, it is one block: results read only when due would find every block full.
   */
  readonly lookAhead: (own: bigint) => bigint;
  /**
   * Returns true if another result of the query may be read. A KV query may have two results before their broadcast: the relayer
   * reads one while the other waits for its block. No result may be read while the query's last result is unknown.
   */
  readonly mayRead: (query: Pick<RegisteredQuery, "id" | "type">) => boolean;
  /** The query's newest result that is expected, queued or in flight. */
  readonly newest: (queryId: bigint) => DepartingResult | undefined;
  /**
   * Gas for the connection's additional KV results that can be sent soon. A connection always gets its share of a block, regardless
   * of other connections' queues. `lookAhead` is the number of blocks by which results are read early.
   */
  readonly capacity: (lookAhead: bigint) => bigint;
  /** Returns true if a result is read even without capacity, because the operator pays more for it. */
  readonly isUrgent: (query: RegisteredQuery) => boolean;
}

/** A result that is in flight or will be soon. */
export interface DepartingResult {
  /** Local height of the broadcast, past or expected. */
  readonly sentAt: bigint;
  readonly at: RemoteHeight;
}

/** Fixed gas per transaction: signature, fee, sequence. Measured on a real chain. */
export const GAS_PER_TRANSACTION = 110_000n;
/** Initial guess for a client update whose header has one or two signatures. */
export const GAS_PER_CLIENT_UPDATE = 85_000n;
/** Initial guess for a result with one key and its two proof operators. */
export const GAS_PER_KEY = 30_000n;
/** A contract that stores its result uses 77,000 gas, measured on a localnet. */
const GAS_PER_CALLBACK = 90_000n;

/** Returns a cautious estimate of a query's gas per result. The estimate applies until the relayer has learned the query's gas. */
export function gasGuess({ keys }: RegisteredQuery, allowKvCallbacks: boolean): bigint {
  return GAS_PER_KEY * BigInt(keys.length) + (allowKvCallbacks ? GAS_PER_CALLBACK : 0n);
}
