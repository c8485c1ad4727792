import { type BlockRange, RESET_DISTANCE } from "../../cosmos/client/chain-client.ts";
import { lacksHeight, readAnswer } from "../../cosmos/client/answers.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import { LightClientError } from "../../cosmos/light-client/client-queries.ts";
import { createTrustFinder } from "../../cosmos/light-client/client-update.ts";
import { toHex } from "../../platform/base/bytes.ts";
import { bad, errorText, good, type Result } from "../../platform/base/errors.ts";
import { mapLimit } from "../../platform/base/waits.ts";
import type { ConnectionView } from "../connection/connection-view.ts";
import {
  type ConnectionWorker,
  intermediateHeadersOf,
  recordUnproven,
  updateState,
} from "../connection/worker.ts";
import { type QueryFailure, type QueryState, searched } from "../registry/query-state.ts";
import { startAttempt } from "../state/attempt.ts";
import type { DeadLetter, Journal } from "../state/journal.ts";
import { submitMessage } from "../result/proven-result.ts";
import { parseTxFilter } from "./tx-filter.ts";
import { MAX_BLOCKS_PER_SEARCH, txFinderOf, type TxSearch } from "./tx-finder.ts";
import { createTxProver, type FoundTx, type TxProver } from "./tx-prover.ts";
import { addDeadLetter, type ProvenRange, type ProvenTx, relayRange, type TxDeps } from "./tx-relay.ts";

const QUERIES_AT_ONCE = 4;
const BLOCKS_AT_ONCE = 8;
/** Number of failures after which a query skips a block whose results exceed every response size limit. */
const MAX_SIZE_FAILURES = 5;

export interface TxWorker {
  readonly worker: ConnectionWorker;
  readonly deps: TxDeps;
  /** Monotonic time in ms since which no endpoint has had a block's data, by query id and remote height. */
  readonly lacking: Map<bigint, Map<bigint, number>>;
}

interface TxCycle extends TxWorker {
  readonly view: ConnectionView;
  readonly prover: TxProver;
}

/**
 * Finds and proves the transactions of one connection's due TX queries, a few queries in parallel. Passes the transactions to the
 * submitter and does not wait for their inclusion. Stores each query's error in the query's state. Throws `RelayError` and
 * `ClientError` for connection errors.
 */
export async function runTxCycle(
  own: TxWorker,
  { view, due }: { readonly view: ConnectionView; readonly due: readonly QueryState[] },
  signal: AbortSignal,
): Promise<void> {
  const { worker } = own;
  const trust = createTrustFinder(worker, view.client, signal);
  const intermediate = intermediateHeadersOf(worker, view.client, signal);
  const { revision } = view.stateAt;
  const prover = createTxProver({ remote: worker.remote, trust, intermediate, revision }, signal);
  const cycle = { ...own, view, prover };
  const errors: unknown[] = [];
  // Wait for all started queries before throwing an error, because two cycles must not overlap.
  await mapLimit(due, QUERIES_AT_ONCE, async (state) => {
    if (errors.length > 0 || signal.aborted) return;
    await answerTxQuery(cycle, state, signal).catch((error: unknown) => errors.push(error));
  });
  signal.throwIfAborted();
  if (errors.length > 0) throw errors[0];
}

async function answerTxQuery(cycle: TxCycle, state: QueryState, signal: AbortSignal): Promise<void> {
  const { worker, deps, view } = cycle;
  const { id, transactionsFilter } = state.query;
  const letters = deps.resubmissions?.take(id) ?? [];
  if (letters.length > 0) return sendAgain(cycle, state, letters, signal);
  const started = startAttempt(worker.clock);
  const filter = parseTxFilter(transactionsFilter);
  if (!filter.ok) return recordUnproven(worker, state, { code: "bad-filter", reason: filter.error }, started);
  // The search ends at the proven height H−1, because the header at height H proves the delivery of its transactions.
  const done = deps.journal.searchedTo(id);
  const planned = planSearch(done, view.stateAt.height, deps.queries.tx_lookback_blocks);
  if (planned === undefined) {
    const at = { localHeight: worker.localHeight(), results: 0 };
    return updateState(worker, state.query, (current) => searched(current, at));
  }
  // Store the start height first. Otherwise, after a crash, the first search would start at a later block.
  if (done !== planned.from - 1n) deps.journal.recordSearched(id, planned.from - 1n);
  const search = { queryId: id, range: planned, tip: view.stateAt.height };
  const range = await skipPruned(worker, deps, search, signal);
  if (!range.ok) return recordUnproven(worker, state, range.error, started);
  if (range.value === undefined) return;
  const found = await searchAndProve(cycle, state, { conditions: filter.value, range: range.value }, signal);
  if (found.ok) relayRange(cycle, state, { ...found, started });
  else recordUnproven(worker, state, found.error, started);
}

/**
 * Returns the next search's block range, which has at most {@link MAX_BLOCKS_PER_SEARCH} blocks, or undefined if there is no new
 * block. A search starts after `done`, the height up to which all blocks have been searched. The first search (`done` is undefined)
 * and the search after a chain reset (`done` is far above `tip`) start `lookback` blocks before `tip`.
 */
export function planSearch(done: bigint | undefined, tip: bigint, lookback: bigint): BlockRange | undefined {
  const start = tip > lookback ? tip - lookback : 0n;
  if (done !== undefined && done >= tip && done <= tip + RESET_DISTANCE) return undefined;
  const from = (done === undefined || done > tip ? start : done) + 1n;
  const last = from + MAX_BLOCKS_PER_SEARCH - 1n;
  if (from > tip) return undefined;
  return { from, to: last < tip ? last : tip };
}

/** Finds, proves and sends the transactions of dead letters again. A repeated failure becomes a dead letter with a new reason. */
async function sendAgain(
  cycle: TxCycle,
  state: QueryState,
  letters: readonly DeadLetter[],
  signal: AbortSignal,
): Promise<void> {
  const { worker, deps } = cycle;
  const started = startAttempt(worker.clock);
  const finder = txFinderOf(worker.remote, worker);
  const proven: ProvenTx[] = [];
  for (const { queryId, hash, remoteHeight } of letters.toSorted(byHeight)) {
    const conditions = [{ field: "tx.hash", op: "=", value: hash.toUpperCase() }] as const;
    const range = { from: remoteHeight, to: remoteHeight };
    const search = { conditions, range, isHandled: () => false };
    const { found } = await finder.find(search, signal).catch((error: unknown) => {
      if (signal.aborted || !lacksHeight(error)) throw error;
      return { found: [] };
    });
    if (found.length === 0)
      addDeadLetter(worker, deps, { queryId, hash, remoteHeight }, "no endpoint has this transaction");
    const block = found.length === 0 ? undefined : await proveBlock(cycle, state, remoteHeight, found);
    if (block?.ok === false) addDeadLetter(worker, deps, { queryId, hash, remoteHeight }, block.error.reason);
    if (block?.ok === true) proven.push(...block.proven);
  }
  // Clear the query's resubmission request now, because the next cycle may start before these transactions are broadcast.
  updateState(worker, state.query, (current) => ({ ...current, isRequested: false }));
  relayRange(cycle, state, { proven, upTo: undefined, error: undefined, started });
}

function byHeight(a: DeadLetter, b: DeadLetter): number {
  return Number(a.remoteHeight - b.remoteHeight);
}

type SearchOutcome =
  | ({ readonly ok: true } & ProvenRange)
  | { readonly ok: false; readonly error: QueryFailure };

/**
 * Searches a block range for one query's transactions and proves them. Attributes a read error to the query instead of the
 * connection, because a node may reject one search but serve all other searches.
 */
async function searchAndProve(
  cycle: TxCycle,
  state: QueryState,
  search: Pick<TxSearch, "conditions" | "range">,
  signal: AbortSignal,
): Promise<SearchOutcome> {
  const { worker, deps } = cycle;
  const isHandled = (hash: string): boolean => deps.journal.isHandled(state.query.id, hash);
  try {
    const finder = txFinderOf(worker.remote, worker);
    for (;;) {
      const wrong = cycle.prover.wrongEndpoints();
      const { found, upTo } = await finder.find({ ...search, isHandled }, signal);
      const proofs = await proveBlocks(cycle, state, found, upTo);
      signal.throwIfAborted();
      // If an endpoint's response was wrong, search again on the next endpoint.
      if (proofs.error === undefined || cycle.prover.wrongEndpoints() === wrong)
        return { ok: true, ...proofs };
    }
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, error: readFailed(error) };
  }
}

async function proveBlocks(
  cycle: TxCycle,
  state: QueryState,
  found: readonly FoundTx[],
  upTo: bigint,
): Promise<ProvenRange> {
  const heights = [...new Set(found.map((tx) => tx.height))];
  const blocks = await mapLimit(heights, BLOCKS_AT_ONCE, (height) => {
    const txs = found.filter((tx) => tx.height === height);
    return proveBlock(cycle, state, BigInt(height), txs);
  });
  const proven: ProvenTx[] = [];
  // Stop at the first failed block, because its transactions must be delivered before later transactions.
  for (const [index, block] of blocks.entries()) {
    if (!block.ok) return { proven, upTo: BigInt(heights[index] ?? 0) - 1n, error: block.error };
    proven.push(...block.proven);
  }
  return { proven, upTo, error: undefined };
}

type ProvenBlock =
  | { readonly ok: true; readonly proven: readonly ProvenTx[] }
  | { readonly ok: false; readonly error: QueryFailure };

/** Proves the transactions in one block. A transaction that can never be proven becomes a dead letter. */
async function proveBlock(
  cycle: TxCycle,
  state: QueryState,
  height: bigint,
  txs: readonly FoundTx[],
): Promise<ProvenBlock> {
  const { worker, deps, view, prover, lacking } = cycle;
  try {
    const results = await prover.prove(height, txs);
    lacking.get(state.query.id)?.delete(height);
    return {
      ok: true,
      proven: results.map(({ tx, result }) => ({
        message: submitMessage(state.query.id, result, worker.submitter.address),
        hash: toHex(tx.hash),
        at: { revision: view.stateAt.revision, height },
      })),
    };
  } catch (error) {
    if (!isUnprovable(cycle, error, state, height)) return { ok: false, error: readFailed(error) };
    lacking.get(state.query.id)?.delete(height);
    for (const tx of txs) {
      const ids = { queryId: state.query.id, hash: toHex(tx.hash), remoteHeight: height };
      addDeadLetter(worker, deps, ids, errorText(error));
    }
    return { ok: true, proven: [] };
  }
}

/**
 * Returns true if a block's transactions can never be proven. The reason is a block below all trusted heights, a final error, or
 * data that every endpoint has lacked for `queries.tx_give_up_after`. A request limit, an outage or a wrong response is never
 * treated as final.
 */
function isUnprovable(cycle: TxCycle, error: unknown, state: QueryState, height: bigint): boolean {
  const { code } = error instanceof LightClientError ? error.facts : { code: undefined };
  if (code === "no-trusted-height") return true;
  if (!(error instanceof ClientError) && code !== "trusted-headers-missing") return false;
  const { class: answer, lack } = readAnswer(error);
  if (error instanceof ClientError && answer === "final") return true;
  // The results exceed the response size limits of this relayer and all endpoints, so another attempt would also fail.
  if (lack === "response-size" && state.failures >= MAX_SIZE_FAILURES) return true;
  const { deps, worker, lacking } = cycle;
  const { id } = state.query;
  if (error instanceof ClientError && answer !== "not-here") return false;
  const nowMs = worker.clock.monotonicMs();
  const blocks = lacking.get(id) ?? new Map<bigint, number>();
  const sinceMs = blocks.get(height) ?? nowMs;
  lacking.set(id, blocks.set(height, sinceMs));
  return nowMs - sinceMs >= deps.queries.tx_give_up_after;
}

function readFailed(error: unknown): QueryFailure {
  return { code: "read-failed", reason: errorText(error) };
}

/** The two parts of a search range, split at the lowest height that the endpoints have. */
interface SplitRange {
  /** Blocks that every endpoint has pruned; undefined if there are none. */
  readonly pruned: BlockRange | undefined;
  /** Blocks that at least one endpoint still has; undefined if there are none. */
  readonly left: BlockRange | undefined;
}

/** Splits a range at `earliest`, the lowest height that any endpoint has. */
export function splitPruned(range: BlockRange, earliest: bigint): SplitRange {
  const { from, to } = range;
  if (earliest <= from) return { pruned: undefined, left: range };
  if (earliest > to) return { pruned: range, left: undefined };
  return { pruned: { from, to: earliest - 1n }, left: { from: earliest, to } };
}

/** Number of recent blocks that every node retains. A search that covers only these blocks skips the check for pruned blocks. */
const NEVER_PRUNED = 20n;

interface PruningWorker {
  readonly connectionId: string;
  readonly remote: Pick<ConnectionWorker["remote"], "earliestHeight">;
  readonly logger: ConnectionWorker["logger"];
  readonly metrics: Pick<ConnectionWorker["metrics"], "prunedBlocks">;
}

/**
 * Returns the part of a planned range that has not been pruned, or undefined if every endpoint has pruned the whole range. If
 * `tx_skip_pruned` is false, returns the query's failure instead of skipping pruned blocks.
 */
export async function skipPruned(
  { connectionId, remote, logger, metrics }: PruningWorker,
  deps: {
    readonly journal: Pick<Journal, "recordSearched">;
    readonly queries: Pick<TxDeps["queries"], "tx_skip_pruned">;
  },
  planned: { readonly queryId: bigint; readonly range: BlockRange; readonly tip: bigint },
  signal: AbortSignal,
): Promise<Result<BlockRange | undefined, QueryFailure>> {
  const { queryId, range, tip } = planned;
  if (range.from + NEVER_PRUNED > tip) return good(range);
  const { pruned, left } = splitPruned(range, await remote.earliestHeight(signal));
  if (pruned === undefined) return good(left);
  const blocks = `${pruned.from} to ${pruned.to}`;
  if (!deps.queries.tx_skip_pruned)
    return bad({ code: "pruned", reason: `every endpoint has pruned the remote blocks ${blocks}` });
  deps.journal.recordSearched(queryId, pruned.to);
  metrics.prunedBlocks.inc({ connection_id: connectionId }, Number(pruned.to - pruned.from + 1n));
  logger.warn("pruned remote blocks are skipped: their transactions are not searched", {
    connectionId,
    queryId,
    blocks,
  });
  return good(left);
}
