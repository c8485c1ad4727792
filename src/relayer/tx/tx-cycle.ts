import { toHex } from "../../base/bytes.ts";
import { errorText } from "../../base/errors.ts";
import { mapLimit } from "../../base/map-limit.ts";
import { ClientError } from "../../client/errors.ts";
import { createTrustFinder } from "../connection/client-update.ts";
import { type ConnectionView, viewConnection } from "../connection/connection-view.ts";
import { type ConnectionWorker, noteFailure } from "../connection/worker.ts";
import { type QueryFailure, type QueryState, searched } from "../registry/query-state.ts";
import { RelayError } from "../relay-error.ts";
import { trustDeps } from "../kv/kv-cycle.ts";
import { submitMessage } from "../submit/submission.ts";
import { createTxBlocks, type TxBlocks } from "./tx-blocks.ts";
import { type HeightRange, parseTxFilter } from "./tx-filter.ts";
import type { FoundTx } from "./tx-proof.ts";
import { type ProvenTx, putAside, relayTxs, type TxDeps } from "./tx-relay.ts";
import { findTxs, MAX_BLOCKS_PER_SEARCH, type TxSearch } from "./tx-search.ts";

/** A TX result verifies two headers and two proofs: about as much gas as this many keys, with few signatures. */
const KEYS_PER_TX_RESULT = 8;
/** Queries that are searched for at once. */
const QUERIES_AT_ONCE = 4;
/** Remote blocks that are read at once, for each. */
const BLOCKS_AT_ONCE = 8;
/** Times that a query fails on a block whose parts the endpoint does not have before the block is passed over. */
const TRIES_BEFORE_PASSING = 5;
/** An endpoint this far behind what was searched lags; one that is further behind serves a chain that started over. */
const MAX_LAG = 20n;

interface TxCycle {
  readonly worker: ConnectionWorker;
  readonly deps: TxDeps;
  readonly view: ConnectionView;
  readonly blocks: TxBlocks;
}

/**
 * Answers due TX queries of one connection, a few at once; an error of one is noted at it and hurts no other. An error of
 * the connection is thrown once all that was begun has ended.
 */
export async function runTxCycle(
  worker: ConnectionWorker,
  deps: TxDeps,
  due: readonly QueryState[],
  signal: AbortSignal,
): Promise<void> {
  const view = await viewConnection(worker, signal);
  if (view === undefined) return;
  const trust = createTrustFinder(trustDeps(worker), view.client, signal);
  const blocks = createTxBlocks(worker.remote, trust, view.at.revision, signal);
  const round = { worker, deps, view, blocks };
  const errors: unknown[] = [];
  await mapLimit(due, QUERIES_AT_ONCE, async (state) => {
    if (errors.length > 0 || signal.aborted) return;
    await answerTxQuery(round, state, signal).catch((error: unknown) => errors.push(error));
  });
  signal.throwIfAborted();
  if (errors.length > 0) throw errors[0];
}

async function answerTxQuery(round: TxCycle, state: QueryState, signal: AbortSignal): Promise<void> {
  const { worker, deps, view } = round;
  const { id, transactionsFilter } = state.query;
  const filter = parseTxFilter(transactionsFilter);
  if (!filter.ok) return noteFailure(worker, state, { code: "bad-filter", reason: filter.error });
  const range = planSearch(deps.journal.searchedTo(id), view.at.height, deps.lookbackBlocks);
  if (range === undefined) return noteSearch(worker, state, 0);
  const gathered = await gather(round, state, { conditions: filter.value, range }, signal);
  if (!gathered.ok) return noteFailure(worker, state, gathered.error);
  const relayed = await relayTxs(worker, deps, gathered.proven, signal);
  if (relayed.isDone) deps.journal.noteSearched(id, gathered.upTo);
  const error = relayed.error ?? gathered.error;
  if (error !== undefined) return noteFailure(worker, withResults(state, relayed.count), error);
  // What was not sent through no error of its own leaves the query due: the next block is the next chance.
  if (relayed.isDone) noteSearch(worker, state, relayed.count);
  else worker.registry.replace(state, withResults(state, relayed.count));
}

/**
 * The range to search when all up to `done` was; undefined when there is nothing new. A remote chain that started over
 * is far below what was searched: the search begins again near its tip.
 */
export function planSearch(done: bigint | undefined, tip: bigint, lookback: bigint): HeightRange | undefined {
  const start = tip > lookback ? tip - lookback : 0n;
  if (done !== undefined && done >= tip && done <= tip + MAX_LAG) return undefined;
  const from = (done === undefined || done > tip ? start : done) + 1n;
  const last = from + MAX_BLOCKS_PER_SEARCH - 1n;
  if (from > tip) return undefined;
  return { from, to: last < tip ? last : tip };
}

function noteSearch(worker: ConnectionWorker, state: QueryState, results: number): void {
  worker.registry.replace(state, searched(state, { localHeight: worker.localHeight(), results }));
}

function withResults(state: QueryState, more: number): QueryState {
  return { ...state, results: state.results + more };
}

/** What a search brought: proven transactions of all blocks up to `upTo`, and the error that kept it from going on. */
type GatheredTxs =
  | {
      readonly ok: true;
      readonly proven: readonly ProvenTx[];
      readonly upTo: bigint;
      readonly error: QueryFailure | undefined;
    }
  | { readonly ok: false; readonly error: QueryFailure };

/** Errors in here are this query's: what it asks for may be what the endpoint can't do. */
async function gather(
  round: TxCycle,
  state: QueryState,
  search: Pick<TxSearch, "conditions" | "range">,
  signal: AbortSignal,
): Promise<GatheredTxs> {
  const { worker, deps } = round;
  const isHandled = (hash: string): boolean => deps.journal.isHandled(state.query.id, hash);
  try {
    const { found, upTo } = await findTxs(worker.remote.comet, { ...search, isHandled }, signal);
    const proofs = await proveBlocks(round, state, found, upTo);
    signal.throwIfAborted();
    return { ok: true, ...proofs };
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, error: readFailed(error) };
  }
}

async function proveBlocks(
  round: TxCycle,
  state: QueryState,
  found: readonly FoundTx[],
  upTo: bigint,
): Promise<Omit<Extract<GatheredTxs, { readonly ok: true }>, "ok">> {
  const heights = [...new Set(found.map((tx) => tx.height))];
  const proofs = await mapLimit(heights, BLOCKS_AT_ONCE, (height) => {
    const txs = found.filter((tx) => tx.height === height);
    return proveBlock(round, state, BigInt(height), txs);
  });
  const proven: ProvenTx[] = [];
  for (const [index, proof] of proofs.entries()) {
    if (!proof.ok) return { proven, upTo: BigInt(heights[index] ?? 0) - 1n, error: proof.error };
    proven.push(...proof.proven);
  }
  return { proven, upTo, error: undefined };
}

type ProvenBlock =
  | { readonly ok: true; readonly proven: readonly ProvenTx[] }
  | { readonly ok: false; readonly error: QueryFailure };

/** A block that can never be proven is passed over, its transactions put aside, so that it does not end the search. */
async function proveBlock(
  round: TxCycle,
  state: QueryState,
  height: bigint,
  txs: readonly FoundTx[],
): Promise<ProvenBlock> {
  const { worker, deps, blocks } = round;
  try {
    const results = await blocks.prove(height, txs);
    return {
      ok: true,
      proven: results.map(({ tx, result }) => ({
        state,
        message: submitMessage(state.query.id, result, worker.sender.address),
        keys: KEYS_PER_TX_RESULT,
        hash: toHex(tx.hash),
        remoteHeight: height,
      })),
    };
  } catch (error) {
    if (!isBeyondProof(error, state)) return { ok: false, error: readFailed(error) };
    for (const tx of txs) {
      const ids = { queryId: state.query.id, hash: toHex(tx.hash), remoteHeight: height };
      putAside(worker, deps, ids, errorText(error));
    }
    return { ok: true, proven: [] };
  }
}

/** Nothing that the client trusts is old enough, or the endpoint says again and again that it does not have the block. */
function isBeyondProof(error: unknown, state: QueryState): boolean {
  if (error instanceof RelayError) return error.facts.code === "no-trusted-height";
  return error instanceof ClientError && error.facts.code === "rpc" && state.failures >= TRIES_BEFORE_PASSING;
}

function readFailed(error: unknown): QueryFailure {
  return { code: "read-failed", reason: errorText(error) };
}
