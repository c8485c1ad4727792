import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { ExpectedResult, OutcomeListener, ProvenResult } from "./proven-result.ts";

/** The submitter's interface for workers. */
export interface ResultSubmitter {
  /** Bech32 address of the account. */
  readonly address: string;
  /** Sets the listener for the outcomes of one worker's results. */
  readonly subscribe: (worker: WorkerKey, listener: OutcomeListener) => void;
  /** The data from which a worker plans its next cycle. It is valid until the next await. */
  readonly view: (connectionId: string) => PipelineView;
  /**
   * Selects the results for a connection's next cycle, longest due first, as many as can be sent soon: any more would only age in
   * the queue. They remain expected until they are offered or given up.
   */
  readonly reserve: (
    connectionId: string,
    candidates: readonly ExpectedResult[],
    lookAhead: bigint,
  ) => Reservation;
  /**
   * Accepts results and ends their reservation: any reserved result that is missing is given up. Each result is reported once; a
   * result that does not fit is reported immediately, as unsent.
   */
  readonly offer: (results: readonly ProvenResult[], reservation?: Reservation) => void;
  /** Ends the turn of a query that has been read and needs no result. */
  readonly endTurn: (query: RegisteredQuery) => void;
  /** Resolves a query's waiting results as unsent, because earlier ones must be sent first. */
  readonly withdraw: (queryId: bigint) => void;
}

/** A connection has one worker per query type. */
export type WorkerKey = Pick<RegisteredQuery, "connectionId" | "type">;

/** The results that a cycle reads. */
export interface Reservation {
  /** By need. */
  readonly results: readonly ExpectedResult[];
  /** Ids of the entries, in the order of `results`. */
  readonly ids: readonly number[];
}

/** A connection's part of the pipeline. */
export interface PipelineView {
  /** Time taken by simulation and broadcast, ms. */
  readonly sendMs: number;
  /**
   * Returns how many blocks early the connection reads: `own`, as its durations require, or one block if blocks are full and
   * another connection reads early. In the latter case, results that are read only when due would find every block taken.
   */
  readonly lookAhead: (own: bigint) => bigint;
  /**
   * Whether another result of the query may be read. A KV query may have two results that are not yet broadcast: one is read
   * while the other waits for its block. None may be read while it is unknown what the query's last result is.
   */
  readonly mayRead: (query: Pick<RegisteredQuery, "id" | "type">) => boolean;
  /** The query's newest result that is expected, waiting or in flight. */
  readonly newest: (queryId: bigint) => DepartingResult | undefined;
  /**
   * Gas for further KV results of the connection that can be sent soon. A connection always has its share of a block, whatever
   * other connections have queued. `lookAhead`: number of blocks by which the results are read early.
   */
  readonly capacity: (lookAhead: bigint) => bigint;
  /** Whether a result of the query is read even without capacity, because the operator pays more for it. */
  readonly isUrgent: (query: RegisteredQuery) => boolean;
}

/** A result that is in flight or about to be. */
export interface DepartingResult {
  /** Local height of the broadcast, past or expected. */
  readonly sentAt: bigint;
  /** Remote height of the result. */
  readonly at: RemoteHeight;
}
