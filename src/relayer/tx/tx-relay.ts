import {
  type ConnectionWorker,
  dueHeight,
  noteFailure,
  noteSubmission,
  updateState,
} from "../connection/worker.ts";
import type { QueryFailure, QueryState } from "../registry/query-state.ts";
import { searched } from "../registry/query-state.ts";
import type { Journal } from "../state/journal.ts";
import type { AttemptStart } from "../state/attempt.ts";
import { GAS_PER_KEY, tooLarge } from "../submit/plan.ts";
import type { ProvenResult, ResultOutcome } from "../submit/proven-result.ts";
import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { Resubmissions } from "./resubmissions.ts";

/** Dependencies of TX cycles besides the worker. */
export interface TxDeps {
  readonly journal: Journal;
  /** Number of blocks before the tip where the search of an unknown query starts. */
  readonly lookbackBlocks: bigint;
  /** Whether blocks that every endpoint has pruned count as searched; absent: true. */
  readonly skipPruned?: boolean;
  /** Dead letters that an operator wants to be sent again; absent: none. */
  readonly resubmissions?: Pick<Resubmissions, "take">;
  /** When set, a rejected transaction becomes a dead letter only if the error matches; any other is sent again. */
  readonly deadLetterErrors?: RegExp | undefined;
}

/** A proven transaction of the remote chain. */
export interface ProvenTx {
  /** Encoded `MsgSubmitQueryResult`. */
  readonly message: Uint8Array;
  /** Lower-case hex. */
  readonly hash: string;
  readonly at: RemoteHeight;
}

/** Proven transactions of one query, in the order of the chain. */
export interface ProvenRange {
  readonly proven: readonly ProvenTx[];
  /** They are all that match up to this height; undefined: they are not the result of a search. */
  readonly upTo: bigint | undefined;
  /** The error of the block after `upTo`. */
  readonly error: QueryFailure | undefined;
}

/** With the start of its search. */
export type RelayedRange = ProvenRange & { readonly started: AttemptStart };

/** Two headers with few signatures, and two proofs. */
const GAS_GUESS = 8n * GAS_PER_KEY;

interface Relaying {
  readonly worker: ConnectionWorker;
  readonly deps: TxDeps;
  readonly state: QueryState;
  readonly range: RelayedRange;
  /** Results that are not settled. */
  pending: number;
  included: number;
  /** Whether every settled transaction was included or became a dead letter. */
  isDone: boolean;
  /** The error of the first transaction that must be sent again. */
  error: QueryFailure | undefined;
}

/**
 * Hands the transactions of one search to the submitter, in their order. When all are settled, the progress of the search
 * is stored, and the query counts as searched. Returns at once; until then the query has waiting results or results in
 * flight.
 */
export function relayTxs(
  worker: ConnectionWorker,
  deps: TxDeps,
  state: QueryState,
  range: RelayedRange,
): void {
  const { maxResultBytes } = worker.settings;
  const ready = range.proven.filter((tx) => {
    const isFit = tx.message.length <= maxResultBytes;
    const error = tooLarge(tx.message, { bytes: maxResultBytes });
    if (!isFit) addDeadLetter(worker, deps, idsOf(state, tx), error.reason);
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
  for (const tx of ready) deps.journal.noteSending({ ...idsOf(state, tx), localHeight });
  worker.submitter.offer(ready.map((tx) => toResult(relaying, tx)));
}

function toResult(relaying: Relaying, tx: ProvenTx): ProvenResult {
  const { worker, state, range } = relaying;
  return {
    query: state.query,
    message: tx.message,
    gasGuess: GAS_GUESS,
    at: tx.at,
    // A TX result carries its two headers itself.
    update: undefined,
    dueHeight: dueHeight(state.query, worker.localHeight()),
    started: range.started,
    settle: (outcome) => noteOutcome(relaying, tx, outcome),
  };
}

function noteOutcome(relaying: Relaying, tx: ProvenTx, outcome: ResultOutcome): void {
  const { worker, deps, state } = relaying;
  relaying.pending -= 1;
  noteSubmission(worker, outcome);
  if (outcome.kind === "included") {
    relaying.included += 1;
    deps.journal.noteIncluded(state.query.id, tx.hash, tx.at.height);
    worker.logger.debug("transaction relayed", { ...idsOf(state, tx) });
  } else if (outcome.kind !== "refused" || !rejectForGood(relaying, tx, outcome.error)) {
    if (relaying.isDone && outcome.kind === "refused") relaying.error = outcome.error;
    relaying.isDone = false;
    // Later transactions must not overtake this one.
    worker.submitter.withdraw(state.query.id);
  }
  if (relaying.pending === 0) finishRange(relaying);
}

/** Called when all results of the range are settled. */
function finishRange({ worker, deps, state, range, ...relayed }: Relaying): void {
  const { query } = state;
  // Otherwise the next search covers the same range again and skips what the journal has as handled.
  if (relayed.isDone && range.upTo !== undefined) deps.journal.noteSearched(query.id, range.upTo);
  const error = relayed.error ?? range.error;
  const isSearched = relayed.isDone && error === undefined && range.upTo !== undefined;
  updateState(worker, query, (current) =>
    isSearched
      ? searched(current, { localHeight: worker.localHeight(), results: relayed.included })
      : { ...current, results: current.results + relayed.included },
  );
  if (error !== undefined) noteFailure(worker, query, error);
}

/**
 * Makes a rejected transaction a dead letter. Returns false when it must be sent again, because the cause is not the
 * transaction: an invalid header, a removed query, a full block, a budget that is used up.
 */
function rejectForGood({ worker, deps, state }: Relaying, tx: ProvenTx, error: QueryFailure): boolean {
  const isOwn =
    error.code === "too-large" ||
    (error.code === "rejected" &&
      !/header is invalid|invalid query id/i.test(error.reason) &&
      (deps.deadLetterErrors?.test(error.reason) ?? true));
  if (isOwn) addDeadLetter(worker, deps, idsOf(state, tx), error.reason);
  return isOwn;
}

interface TxIds {
  readonly queryId: bigint;
  readonly hash: string;
  readonly remoteHeight: bigint;
}

function idsOf({ query }: QueryState, { hash, at }: ProvenTx): TxIds {
  return { queryId: query.id, hash, remoteHeight: at.height };
}

/** Records a transaction that is never sent again. */
export function addDeadLetter(worker: ConnectionWorker, deps: TxDeps, tx: TxIds, reason: string): void {
  deps.journal.noteDeadLetter({ ...tx, reason, atMs: worker.clock.nowMs() });
  worker.metrics.results.inc({ connection_id: worker.connectionId, outcome: "rejected" });
  worker.logger.warn("transaction added to the dead letters", { ...tx, reason });
}
