import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { ExpectedResult, OutcomeListener, ProvenResult } from "./proven-result.ts";

/** The submitter's interface for workers. */
export interface ResultSubmitter {
  /** Bech32 address of the account. */
  readonly address: string;
  /** Sets the listener for one worker's outcomes. */
  readonly subscribe: (worker: WorkerKey, listener: OutcomeListener) => void;
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

/** A connection has one worker per query type. */
export type WorkerKey = Pick<RegisteredQuery, "connectionId" | "type">;

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
