import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import {
  type ConnectionWorker,
  dueHeight,
  recordFailure,
  recordSubmission,
  updateState,
} from "../connection/worker.ts";
import { type QueryFailure, type QueryState, searched } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { AttemptStart } from "../state/attempt.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import type { Journal } from "../state/journal.ts";
import { tooLarge, type ProvenResult, type ResultOutcome, GAS_PER_KEY } from "../result/proven-result.ts";
import type { Resubmissions } from "../state/resubmissions.ts";

/** Dependencies of TX cycles in addition to the worker. */
export interface TxDeps {
  readonly journal: Journal;
  readonly queries: Pick<
    RelayerConfig["queries"],
    "tx_lookback_blocks" | "tx_skip_pruned" | "tx_give_up_after" | "tx_dead_letter_errors"
  >;
  /** Source of the dead letters that must be sent again; absent if there is none. */
  readonly resubmissions?: Pick<Resubmissions, "take">;
}

export interface ProvenTx {
  /** Encoded `MsgSubmitQueryResult`. */
  readonly message: Uint8Array;
  /** Hash of the remote transaction, in lower-case hex. */
  readonly hash: string;
  readonly at: RemoteHeight;
}

/** One query's proven transactions, in chain order. */
export interface ProvenRange {
  readonly proven: readonly ProvenTx[];
  /** Height up to which the range contains all matching transactions; undefined if the transactions do not come from a search. */
  readonly upTo: bigint | undefined;
  /** The error that ended the range at the block after `upTo`; undefined if there was none. */
  readonly error: QueryFailure | undefined;
}

/** A range of proven transactions, with the start time of the search that found them. */
type RelayedRange = ProvenRange & { readonly started: AttemptStart };

/** Initial gas estimate for a TX result, which covers two proofs and two headers with few signatures. */
const GAS_GUESS = 8n * GAS_PER_KEY;

/** The transactions of one search that were passed to the submitter. */
interface Relaying extends Relay {
  readonly state: QueryState;
  readonly range: RelayedRange;
  /** Number of offered results whose outcome is not known yet. */
  pending: number;
  included: number;
  /** True while every known outcome is an inclusion or a dead letter. */
  isDone: boolean;
  /** The error of the first transaction that must be sent again. */
  error: QueryFailure | undefined;
}

/** The members of a worker that are needed to relay transactions. */
type RelayingWorker = Pick<
  ConnectionWorker,
  | "connectionId"
  | "clock"
  | "localHeight"
  | "logger"
  | "metrics"
  | "random"
  | "registry"
  | "settings"
  | "submission"
> & { readonly submitter: Pick<ConnectionWorker["submitter"], "offer" | "withdraw"> };

interface Relay {
  readonly worker: RelayingWorker;
  readonly deps: Pick<TxDeps, "journal" | "queries">;
}

/**
 * Passes one search's transactions to the submitter in order and returns immediately. Once all transactions have an outcome, stores
 * the search's progress and marks the query as searched. No other search for the query starts while its results are queued or in
 * flight.
 */
export function relayRange({ worker, deps }: Relay, state: QueryState, range: RelayedRange): void {
  const { batch } = worker.settings;
  const ready = range.proven.filter((tx) => {
    const isFit = tx.message.length <= batch.bytes;
    const error = tooLarge(tx.message, batch);
    if (!isFit) addDeadLetter(worker, deps, idsOf(state.query, tx), error.reason);
    return isFit;
  });
  const relaying: Relaying = {
    worker,
    deps,
    state,
    range,
    pending: ready.length,
    included: 0,
    isDone: true,
    error: undefined,
  };
  if (ready.length === 0) return finishRange(relaying);
  const localHeight = worker.localHeight();
  for (const tx of ready) deps.journal.recordSending({ ...idsOf(state.query, tx), localHeight });
  worker.submitter.offer(ready.map((tx) => toResult(relaying, tx)));
}

function toResult(relaying: Relaying, tx: ProvenTx): ProvenResult {
  const { worker, state, range } = relaying;
  return {
    query: state.query,
    message: tx.message,
    gasGuess: GAS_GUESS,
    at: tx.at,
    // A TX result needs no client update, because the result itself contains two headers.
    update: undefined,
    dueHeight: dueHeight(state, worker.localHeight()),
    started: range.started,
    onOutcome: (outcome) => recordOutcome(relaying, idsOf(state.query, tx), outcome),
  };
}

function recordOutcome(relaying: Relaying, ids: TxIds, outcome: ResultOutcome): void {
  const { worker, deps } = relaying;
  recordSubmission(worker, outcome);
  if (outcome.kind === "included") {
    relaying.included += 1;
    deps.journal.recordIncluded(ids.queryId, ids.hash, ids.remoteHeight);
    worker.logger.debug("transaction relayed", { ...ids });
  } else if (outcome.kind !== "refused" || !rejectForGood(relaying, ids, outcome.error)) {
    if (relaying.isDone && outcome.kind === "refused") relaying.error = outcome.error;
    relaying.isDone = false;
    // Withdraw later transactions, which must not overtake this transaction. `withdraw` reports their outcomes before it returns.
    worker.submitter.withdraw(ids.queryId);
  }
  relaying.pending -= 1;
  if (relaying.pending === 0) finishRange(relaying);
}

/** Stores a range's progress once all of its results have an outcome. */
function finishRange({ worker, deps, state, range, ...relayed }: Relaying): void {
  const { query } = state;
  // If any transaction must be sent again, the next search covers this range again and skips transactions that the journal lists
  // as handled.
  if (relayed.isDone && range.upTo !== undefined) deps.journal.recordSearched(query.id, range.upTo);
  const error = relayed.error ?? range.error;
  const isSearched = relayed.isDone && error === undefined && range.upTo !== undefined;
  updateState(worker, query, (current) =>
    isSearched
      ? searched(current, { localHeight: worker.localHeight(), results: relayed.included })
      : { ...current, results: current.results + relayed.included },
  );
  if (error !== undefined) recordFailure(worker, query, error);
}

/**
 * Turns a rejected transaction into a dead letter. Returns false if the transaction must be sent again, because its failure has
 * another cause, e.g. an invalid header or a full block.
 */
function rejectForGood({ worker, deps }: Relay, ids: TxIds, error: QueryFailure): boolean {
  const isOwn =
    error.code === "too-large" ||
    (error.code === "rejected" &&
      !/header is invalid|invalid query id/i.test(error.reason) &&
      (deps.queries.tx_dead_letter_errors?.test(error.reason) ?? true));
  if (isOwn) addDeadLetter(worker, deps, ids, error.reason);
  return isOwn;
}

interface TxIds {
  readonly queryId: bigint;
  readonly hash: string;
  readonly remoteHeight: bigint;
}

function idsOf(query: RegisteredQuery, { hash, at }: Pick<ProvenTx, "hash" | "at">): TxIds {
  return { queryId: query.id, hash, remoteHeight: at.height };
}

/** Records a dead letter: a failed transaction that is not sent again unless it is resubmitted. */
export function addDeadLetter(
  worker: Pick<ConnectionWorker, "connectionId" | "clock" | "metrics" | "logger">,
  deps: Pick<TxDeps, "journal">,
  tx: TxIds,
  reason: string,
): void {
  deps.journal.recordDeadLetter({ ...tx, reason, atMs: worker.clock.nowMs() });
  worker.metrics.results.inc({ connection_id: worker.connectionId, outcome: "rejected" });
  worker.logger.warn("transaction added to the dead letters", { ...tx, reason });
}
