import { sha256, toHex } from "../../platform/base/bytes.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { LightBlockBytes } from "../../cosmos/client/chain-client.ts";
import { isNewer, type RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import {
  createTrustFinder,
  headerAny,
  isUpdatedTo,
  type Trust,
  updateClientMessage,
} from "../../cosmos/light-client/client-update.ts";
import { QueryResult, type StorageValue } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { type ConnectionView, viewConnection } from "../connection/connection-view.ts";
import {
  type ConnectionWorker,
  dueHeight,
  intermediateHeadersOf,
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
import { type AttemptStart, startAttempt } from "../state/attempt.ts";
import {
  tooLarge,
  type ClientUpdate,
  MAX_AGE_MS,
  type ProvenResult,
  type ResultOutcome,
} from "../result/proven-result.ts";
import type { Reservation } from "../result/result-submitter.ts";
import { type KeyAnswers, type ProofOutcome, type ProvenValues, proveResults, readKeys } from "./prove.ts";
import { gasGuess } from "../result/gas-guess.ts";

/** Queries that are read together, and the remote height of the read. */
export interface KvCycle {
  readonly view: ConnectionView;
  /** In order of need. */
  readonly candidates: readonly QueryState[];
  readonly reservation: Reservation;
  readonly started: AttemptStart;
}

export interface KvDemand {
  /** Called once the remote height is known. */
  readonly due: () => readonly QueryState[];
  /** Number of local blocks by which results are read early. */
  readonly lookAhead: bigint;
  /** Returns the number of queries in running cycles. */
  readonly running: () => number;
}

/**
 * Selects the height and the queries for a cycle. Returns undefined if the remote chain has no newer block for any query. Throws
 * `RelayError` and `ClientError` for connection errors.
 *
 * A cycle reads all queries at one remote height, so that they share a header and at most one client update. The header belongs to
 * the newest block H. The state belongs to H−1, because a header contains the previous block's app hash. An older header would save
 * no calls and provide older values, and it could be below the client's latest height.
 */
export async function planKvCycle(
  worker: ConnectionWorker,
  { due, lookAhead, running }: KvDemand,
  signal: AbortSignal,
): Promise<KvCycle | undefined> {
  const started = startAttempt(worker.clock);
  const view = await viewConnection(worker, signal);
  if (view === undefined) return undefined;
  const newer = candidatesAt(due(), view.stateAt, {
    minBlocks: worker.settings.queries.min_kv_update_period,
    // The height of the block for which the results are read.
    height: worker.localHeight() + lookAhead + 1n,
  });
  // If few queries are due while many are being read, wait for that cycle to end: each cycle costs its own header and round trips.
  if (newer.length * 10 < running()) return undefined;
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
 * Reads and proves a cycle's queries. Passes the results to the submitter after the previous cycle has done so (`turn`), because a
 * query's newer result must come later. Does not wait for a block. Stores a query's error in its state. Throws like {@link
 * planKvCycle}.
 */
export async function runKvCycle(
  worker: ConnectionWorker,
  cycle: KvCycle,
  turn: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let results: readonly ProvenResult[] = [];
  try {
    const [reads] = await Promise.all([
      readRemote(worker, cycle, signal),
      readLastHeights(worker, cycle, signal),
    ]);
    // The values are too old. The next cycle reads them again.
    const proofs = reads.afterMs > MAX_AGE_MS ? [] : await prove(worker, cycle, reads, signal);
    await turn;
    // Decide this only now, because the previous cycle has determined which results are sent.
    results = proofs.flatMap((proof) => (isSkipped(worker, cycle, proof) ? [] : proof.result));
  } finally {
    worker.submitter.offer(results, cycle.reservation);
  }
}

/** If unchanged values are skipped, reads the queries' last results from the chain. Another relayer may have sent newer ones. */
async function readLastHeights(
  { registry }: ConnectionWorker,
  { candidates }: KvCycle,
  signal: AbortSignal,
): Promise<void> {
  const known = candidates.filter(({ sent }) => sent.length > 0);
  await registry.reread(
    known.map(({ query }) => query.id),
    signal,
  );
}

/**
 * Returns true if a result is skipped, because the chain already has its values and `queries.skip_unchanged` allows it. The next
 * read is then due as if the query had been answered. Otherwise, remembers the values for the next comparison.
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
  // The block that would include the result.
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

function guessOf({ settings }: ConnectionWorker, query: RegisteredQuery): bigint {
  return gasGuess(query, settings.queries.allow_kv_callbacks);
}

/**
 * Returns the due queries that accept a result from remote height `at`. The chain refuses a result that is not newer than the last
 * one. A read that is not newer than an unchanged read reveals nothing.
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

interface RemoteReads {
  readonly block: LightBlockBytes;
  readonly answers: KeyAnswers;
  /** Undefined if the client already has the consensus state. */
  readonly trust: Trust | undefined;
  /** Time since the values were read, ms. Intermediate client updates take this time. */
  readonly afterMs: number;
}

/** The three reads are independent. In parallel, they take one round trip for any number of keys. */
async function readRemote(
  worker: ConnectionWorker,
  { view: { client, headerAt, stateAt }, candidates }: KvCycle,
  signal: AbortSignal,
): Promise<RemoteReads> {
  const finder = createTrustFinder(worker, client, signal);
  const keys = candidates.flatMap(({ query }) => query.keys);
  const [block, answers, trust] = await Promise.all([
    worker.remote.lightBlock(headerAt.height, signal),
    readKeys(worker.remote, keys, stateAt.height, signal),
    isUpdatedTo(client, headerAt) ? undefined : finder.below(headerAt),
  ]);
  const readMs = worker.clock.monotonicMs();
  const nearest = trust && (await intermediateHeadersOf(worker, client, signal)(block, trust));
  return { block, answers, trust: nearest, afterMs: worker.clock.monotonicMs() - readMs };
}

/** A proven result, its values, and its query's state at the time of the read. */
interface ProvenState extends Pick<ProvenValues, "values"> {
  readonly state: QueryState;
  readonly result: ProvenResult;
}

/** Returns the results that can be sent. Stores a failure for every other query. */
async function prove(
  worker: ConnectionWorker,
  cycle: KvCycle,
  reads: RemoteReads,
  signal: AbortSignal,
): Promise<readonly ProvenState[]> {
  const { batch } = worker.settings;
  const update = updateOf(worker, cycle.view, reads);
  return (await proveValues(worker, cycle, reads, signal)).flatMap((proof) => {
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

/** Proves all values. If an endpoint's proof is wrong, reads its values again from the next endpoint. */
async function proveValues(
  { remote, settings, submitter }: ConnectionWorker,
  { candidates, view: { stateAt } }: KvCycle,
  { block, answers: first }: RemoteReads,
  signal: AbortSignal,
): Promise<readonly ProofOutcome[]> {
  const wrong = new Set<string>();
  const onInvalidProof = (endpoint: string, reason: string): void => {
    wrong.add(endpoint);
    remote.distrust(endpoint, reason);
  };
  const allowKvCallbacks = settings.queries.allow_kv_callbacks;
  const options = { sender: submitter.address, allowKvCallbacks, onInvalidProof };
  for (let answers = first; ; ) {
    const before = wrong.size;
    const proofs = proveResults(candidates, answers, { appHash: block.appHash, at: stateAt }, options);
    if (wrong.size === before) return proofs;
    const failed = proofs.filter(({ result }) => !result.ok && result.error.code === "invalid-proof");
    const keys = failed.flatMap(({ state }) => state.query.keys);
    answers = new Map([...answers, ...(await readKeys(remote, keys, stateAt.height, signal))]);
  }
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
    remoteTxHash: undefined,
    gasGuess: guessOf(worker, query),
    at: view.stateAt,
    update,
    dueHeight: dueHeight(proven.state, worker.localHeight()),
    started,
  };
}

/** Returns the hash of the keys and values. Their proofs are excluded, because proofs differ at each height. */
function hashOf(values: readonly StorageValue[]): string {
  const kvResults = values.map((value) => ({ ...value, Proof: undefined }));
  const result = { kvResults, block: undefined, height: 0n, revision: 0n, allowKvCallbacks: false };
  return toHex(sha256(QueryResult.encode(result).finish()));
}

function updateOf(
  worker: ConnectionWorker,
  view: ConnectionView,
  { trust, block }: RemoteReads,
): ClientUpdate | undefined {
  const { clientId } = view.client;
  if (trust === undefined) return undefined;
  return {
    key: `${clientId}/${view.headerAt.revision}-${view.headerAt.height}`,
    connectionId: worker.connectionId,
    message: updateClientMessage(clientId, headerAny(block, trust), worker.submitter.address),
  };
}

export function recordKvOutcome(
  worker: ConnectionWorker,
  { query, at: remote }: ProvenResult,
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
