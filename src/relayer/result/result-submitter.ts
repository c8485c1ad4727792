import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { ExpectedResult, OutcomeListener, ProvenResult } from "./proven-result.ts";

/** What a worker asks of the submitter. */
export interface ResultSubmitter {
  /** Bech32 address of the account. */
  readonly address: string;
  /** Sets the receiver of the outcomes of one worker's results. */
  readonly subscribe: (worker: WorkerKey, listener: OutcomeListener) => void;
  /** What a worker plans its next cycle from. It is true until the next await. */
  readonly view: (connectionId: string) => PipelineView;
  /**
   * Chooses the results of a connection's next cycle, the longest due first, as far as they can be sent soon: more would only
   * grow old in the queue. They are expected until they are offered or given up.
   */
  readonly reserve: (
    connectionId: string,
    candidates: readonly ExpectedResult[],
    lookAhead: bigint,
  ) => Reservation;
  /**
   * Accepts results, and ends their reservation: what was reserved and is not among them is given up. Each result is reported
   * once; one that does not fit is reported now, as unsent.
   */
  readonly offer: (results: readonly ProvenResult[], reservation?: Reservation) => void;
  /** Ends the turn of a query that was read, and needs no result. */
  readonly endTurn: (query: RegisteredQuery) => void;
  /** Resolves the waiting results of a query as unsent: the ones before them must be sent first. */
  readonly withdraw: (queryId: bigint) => void;
}

/** A connection has one worker for each type of query. */
export type WorkerKey = Pick<RegisteredQuery, "connectionId" | "type">;

/** The results that a cycle reads. */
export interface Reservation {
  /** By need. */
  readonly results: readonly ExpectedResult[];
  /** Of the entries, in the order of `results`. */
  readonly ids: readonly number[];
}

/** A connection's part of the pipeline. */
export interface PipelineView {
  /** Time that simulation and broadcast take, ms. */
  readonly sendMs: number;
  /**
   * Returns by how many blocks the connection reads early: `own`, as its durations need, or a block when blocks are full and
   * another connection reads early. Beside that one, results that are only read when they are due would find each block taken.
   */
  readonly lookAhead: (own: bigint) => bigint;
  /**
   * Whether a further result of the query may be read. Of a KV query, two may be on their path to their broadcast: one is read
   * while the other one waits for its block. None may be when its last result is not known.
   */
  readonly mayRead: (query: Pick<RegisteredQuery, "id" | "type">) => boolean;
  /** The newest result of the query that is expected, waits or is in flight. */
  readonly newest: (queryId: bigint) => DepartingResult | undefined;
  /**
   * Gas of further KV results of the connection that can be sent soon. A connection always has its part of a block, whatever
   * the others have in the queue. `lookAhead`: blocks by which the results are read early.
   */
  readonly capacity: (lookAhead: bigint) => bigint;
  /** Whether a result of the query is read although there is no capacity: the operator pays more for it. */
  readonly isUrgent: (query: RegisteredQuery) => boolean;
}

/** A result in flight, or about to be. */
export interface DepartingResult {
  /** Local height of the broadcast, past or expected. */
  readonly sentAt: bigint;
  /** Remote height of the result. */
  readonly at: RemoteHeight;
}
