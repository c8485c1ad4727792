import { sha256, toHex } from "../../platform/base/bytes.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import { isNewer, type RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import { QueryResult, type StorageValue } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import {
  type ConnectionWorker,
  dueHeight,
  noteUnsent,
  recordFailure,
  recordSubmission,
  recordUnproven,
  updateState,
} from "../connection/worker.ts";
import {
  answered,
  dueHeightOf,
  handedOver,
  lastReadHeight,
  notIncluded,
  outrun,
  type QueryState,
  sameQuestion,
  unchangedBy,
} from "../registry/query-state.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { AttemptStart } from "../state/attempt.ts";
import {
  tooLarge,
  type ClientUpdate,
  type ProvenResult,
  type ResultOutcome,
  type Reservation,
  gasGuess,
} from "../result/proven-result.ts";
import { type KvRead, type ProvenReads, type ProvenValues, readAndProve } from "./prove.ts";

/** A cycle, which reads queries together at one remote height. */
interface KvCycle extends KvRead {
  readonly reservation: Reservation;
  readonly started: AttemptStart;
}

interface KvDemand extends Pick<KvCycle, "view" | "started"> {
  readonly due: readonly QueryState[];
  /** Number of local blocks by which the results are read early. */
  readonly lookAhead: bigint;
  /** Number of queries in cycles that are already running. */
  readonly running: number;
}

/**
 * Reserves a cycle's results. Returns undefined if the remote chain has no newer block for any query.
 *
 * A cycle reads all queries at one remote height, so that they share a header and at most one client update. A cycle uses the
 * header of the newest block H, which proves the state at H−1, because a header contains the previous block's app hash. An older
 * header would not save any calls, would prove older values, and might be below the client's latest height.
 */
export function reserveKvCycle(
  worker: Pick<ConnectionWorker, "connectionId" | "localHeight" | "settings"> & {
    readonly submitter: Pick<ConnectionWorker["submitter"], "reserve">;
  },
  { view, started, due, lookAhead, running }: KvDemand,
): KvCycle | undefined {
  const newer = candidatesAt(due, view.stateAt, {
    minBlocks: worker.settings.queries.min_kv_update_period,
    // The local block that is expected to include the results.
    height: worker.localHeight() + lookAhead + 1n,
  });
  if (areTooFew(newer.length, running)) return undefined;
  const states = new Map(newer.map((state) => [state.query.id, state]));
  const reservation = worker.submitter.reserve(
    worker.connectionId,
    newer.map(({ query }) => ({ query, at: view.stateAt, gasGuess: guessOf(worker, query) })),
    lookAhead,
  );
  const candidates = reservation.results.flatMap(({ query }) => states.get(query.id) ?? []);
  return candidates.length === 0 ? undefined : { view, candidates, reservation, started };
}

/**
 * Returns true if only few queries are due while running cycles read many. The due queries then wait, because each cycle costs a
 * header and round trips.
 */
export function areTooFew(due: number, running: number): boolean {
  return due * 10 < running;
}

/**
 * Reads and proves a cycle's queries and passes the results to the submitter. Does not wait for the results' inclusion. Waits until
 * the previous cycle has passed on its results (`turn`), because a query's results must stay in order. Stores each query's error in
 * the query's state. Throws `RelayError` and `ClientError` for connection errors.
 */
export async function runKvCycle(
  worker: ConnectionWorker,
  cycle: KvCycle,
  turn: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let results: readonly ProvenResult[] = [];
  try {
    const reads = await readAndProve(worker, cycle, signal);
    const proven = toResults(worker, cycle, reads);
    await turn;
    // If the local chain was reset while the cycle waited, the cycle's results are for queries that no longer exist.
    signal.throwIfAborted();
    // Decide only now which results to skip, because the decision depends on the previous cycle's results.
    results = proven.flatMap((one) => (isSkipped(worker, cycle, one) ? [] : one.result));
  } finally {
    worker.submitter.offer(results, cycle.reservation);
  }
}

/**
 * Returns true if a result is skipped because the chain already has its values and `queries.skip_unchanged` allows skipping. The
 * next read is then due as if the query had been answered. If the result is not skipped, stores its values for the next comparison.
 */
function isSkipped(worker: ConnectionWorker, { view, started }: KvCycle, proof: ProvenState): boolean {
  const { settings, registry, submitter, urgency, connectionId, metrics } = worker;
  const skipped = BigInt(settings.queries.skip_unchanged);
  if (skipped === 0n) return false;
  const { state, result, values } = proof;
  const { query } = result;
  // An urgency rule's `max_age` also applies to unchanged results.
  const maxAge = minInt(skipped, urgency.maxAgeOf(query) ?? skipped);
  const read = { at: view.stateAt, hash: hashOf(values) };
  // Height of the block that would include the result.
  const localHeight = maxInt(dueHeightOf(state), worker.localHeight() + 1n);
  const current = registry.state(query.id);
  if (current === undefined || !sameQuestion(current.query, query)) return false;
  const unchanged = unchangedBy(current, { ...read, localHeight, maxAge });
  registry.replace(current, unchanged ?? handedOver(current, read));
  if (unchanged === undefined) return false;
  submitter.endTurn(query);
  const reason = "the values have not changed since the last result";
  noteUnsent(worker, state, { outcome: "unchanged", reason, remoteHeight: read.at.height }, started);
  metrics.results.inc({ connection_id: connectionId, outcome: "unchanged" });
  return true;
}

function guessOf({ settings }: Pick<ConnectionWorker, "settings">, query: RegisteredQuery): bigint {
  return gasGuess(query, settings.queries.allow_kv_callbacks);
}

/**
 * Returns the due queries for which a read at remote height `at` is useful. The chain refuses a result that is not newer than the
 * last result. A read that is not newer than the last unchanged read finds nothing new.
 *
 * `minBlocks` is the minimum number of remote blocks after the last result. `height` is the local height of the block that includes
 * the result.
 */
export function candidatesAt(
  due: readonly QueryState[],
  at: RemoteHeight,
  { minBlocks, height }: { readonly minBlocks: bigint; readonly height: bigint },
): readonly QueryState[] {
  return due.filter((state) => {
    const last = lastReadHeight(state, height);
    return isNewer(at, last) && !isTooSoon(at, last, minBlocks);
  });
}

function isTooSoon(at: RemoteHeight, last: RemoteHeight | undefined, minBlocks: bigint): boolean {
  return last?.revision === at.revision && at.height - last.height < minBlocks;
}

/** A proven result, its values, and its query's state at the time of the read. */
interface ProvenState extends Pick<ProvenValues, "values"> {
  readonly state: QueryState;
  readonly result: ProvenResult;
}

/** Returns the results that can be sent, and stores a failure for every other query. */
function toResults(
  worker: ConnectionWorker,
  cycle: KvCycle,
  { proofs, update }: ProvenReads,
): readonly ProvenState[] {
  const { batch } = worker.settings;
  return proofs.flatMap((proof) => {
    const { state, result } = proof;
    if (result.ok && result.value.message.length <= batch.bytes) {
      const { values, message } = result.value;
      return [{ state, values, result: toResult(worker, cycle, update, { state, message }) }];
    }
    const error = result.ok ? tooLarge(result.value.message, batch) : result.error;
    recordUnproven(worker, state, error, cycle.started);
    return [];
  });
}

function toResult(
  worker: ConnectionWorker,
  { view, started }: KvCycle,
  update: ClientUpdate | undefined,
  proven: Pick<ProvenValues, "message"> & { readonly state: QueryState },
): ProvenResult {
  const { query } = proven.state;
  return {
    query,
    message: proven.message,
    gasGuess: guessOf(worker, query),
    at: view.stateAt,
    update,
    dueHeight: dueHeight(proven.state, worker.localHeight()),
    started,
    onOutcome: (outcome) => recordOutcome(worker, { query, at: view.stateAt }, outcome),
  };
}

/** Returns the hash of the keys and values. Omits the proofs, which differ at each height. */
function hashOf(values: readonly StorageValue[]): string {
  const kvResults = values.map((value) => ({ ...value, Proof: undefined }));
  const result = { kvResults, block: undefined, height: 0n, revision: 0n, allowKvCallbacks: false };
  return toHex(sha256(QueryResult.encode(result).finish()));
}

function recordOutcome(
  worker: ConnectionWorker,
  { query, at: remote }: Pick<ProvenResult, "query" | "at">,
  outcome: ResultOutcome,
): void {
  recordSubmission(worker, outcome);
  if (outcome.kind === "included") {
    updateState(worker, query, (current) => answered(current, { localHeight: outcome.height, remote }));
    return;
  }
  updateState(worker, query, (current) => notIncluded(current, remote));
  if (outcome.kind === "dropped" && outcome.reason === "redundant") updateState(worker, query, outrun);
  else if (outcome.kind === "refused") recordFailure(worker, query, outcome.error);
}
