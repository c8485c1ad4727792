import { toHex } from "../base/bytes.ts";
import type { LightBlockBytes } from "../client/chain-client.ts";
import { headerAny, updateHeader } from "./client-update.ts";
import type { Journal } from "./journal.ts";
import { planBatches, type ProvenResult } from "./plan.ts";
import { type QueryState, searched } from "./query-state.ts";
import { headerDeps, type Lane, noteFault, type ReadPoint, readPoint } from "./round.ts";
import { type ResultOutcome, submit, submitMessage } from "./submission.ts";
import { matches, parseTxFilter, searchText, type TxCondition } from "./tx-filter.ts";
import { deliveryProofs, type FoundTx, type HeaderPair, txQueryResult } from "./tx-proof.ts";

/** How far a search reads in one round, in blocks and in transactions. What is left comes next round. */
const MAX_BLOCKS_PER_ROUND = 5_000n;
const MAX_TXS_PER_ROUND = 200;
const PAGE_SIZE = 50;
/** A TX result verifies two headers and two proofs: about as much gas as this many keys, with few signatures. */
const KEYS_PER_TX_RESULT = 8;

/** What TX queries need besides a lane. */
export interface TxDeps {
  readonly journal: Journal;
  /** How many blocks before the tip a search starts for a query that the journal does not know. */
  readonly lookbackBlocks: bigint;
}

interface ProvenTx extends ProvenResult {
  readonly hash: string;
  readonly remoteHeight: bigint;
}

/** Answers due TX queries of one connection, one after the other; a fault of one is noted at it and hurts no other. */
export async function runTxRound(
  lane: Lane,
  deps: TxDeps,
  due: readonly QueryState[],
  signal: AbortSignal,
): Promise<void> {
  const point = await readPoint(lane, signal);
  if (point === undefined) return;
  const headers = createHeaderCache(lane, point, signal);
  for (const state of due) {
    signal.throwIfAborted();
    const filter = parseTxFilter(state.query.transactionsFilter);
    if (filter.ok)
      await answerTxQuery({ lane, deps, point, headers, conditions: filter.value }, state, signal);
    else noteFault(lane, state, { code: "bad-filter", reason: filter.fault });
  }
}

interface TxSearch {
  readonly lane: Lane;
  readonly deps: TxDeps;
  readonly point: ReadPoint;
  readonly headers: HeaderCache;
  readonly conditions: readonly TxCondition[];
}

async function answerTxQuery(search: TxSearch, state: QueryState, signal: AbortSignal): Promise<void> {
  const { lane, deps, point } = search;
  const from = searchFrom(deps, state.query.id, point.at.height);
  const to = minimum(point.at.height, from + MAX_BLOCKS_PER_ROUND - 1n);
  if (to < from) return;
  const { found, upTo } = await findTxs(search, state, { from, to });
  const proven = await proveTxs(search, state, found);
  const ready = proven.filter((tx) => fits(lane, deps, tx));
  for (const batch of planBatches(ready, lane.settings.limits)) {
    const outcome = await submit(
      { update: undefined, results: batch },
      lane.sender,
      lane.settings.submission,
      signal,
    );
    const stuck = outcome.outcomes.filter((entry) => !settleTx(lane, deps, entry));
    if (stuck[0]?.fault !== undefined) return noteFault(lane, state, stuck[0].fault);
  }
  deps.journal.noteSearched(state.query.id, upTo);
  const localHeight = lane.localHeight();
  lane.registry.replace(state, searched(state, { localHeight, results: ready.length }));
}

function searchFrom(deps: TxDeps, queryId: bigint, tip: bigint): bigint {
  const done = deps.journal.searchedTo(queryId);
  const start = tip > deps.lookbackBlocks ? tip - deps.lookbackBlocks : 0n;
  // A remote chain that started over is below what was searched: begin again near its tip.
  return (done === undefined || done > tip ? start : done) + 1n;
}

/** All matching transactions of the range in order; a range with very many is cut at the end of a block. */
async function findTxs(
  search: TxSearch,
  state: QueryState,
  range: { readonly from: bigint; readonly to: bigint },
): Promise<{ readonly found: readonly FoundTx[]; readonly upTo: bigint }> {
  const { lane, deps, conditions } = search;
  const query = searchText(conditions, range);
  const found: FoundTx[] = [];
  for (let page = 1; ; page++) {
    const answer = await lane.remote.comet.txSearch({
      query,
      prove: true,
      page,
      per_page: PAGE_SIZE,
      order_by: "asc",
    });
    for (const { proof, ...tx } of answer.txs) {
      const isWanted = tx.result.code === 0 && matches(conditions, BigInt(tx.height), tx.result.events);
      if (proof !== undefined && isWanted && !deps.journal.isHandled(state.query.id, toHex(tx.hash)))
        found.push({ ...tx, proof });
    }
    if (page * PAGE_SIZE >= answer.totalCount || answer.txs.length === 0) return { found, upTo: range.to };
    const last = found.at(-1);
    if (found.length >= MAX_TXS_PER_ROUND && last !== undefined) {
      const upTo = BigInt(last.height) - 1n;
      if (upTo >= range.from) return { found: found.filter((tx) => BigInt(tx.height) <= upTo), upTo };
    }
  }
}

async function proveTxs(
  search: TxSearch,
  state: QueryState,
  found: readonly FoundTx[],
): Promise<readonly ProvenTx[]> {
  const heights = [...new Set(found.map((tx) => tx.height))];
  const proven: ProvenTx[] = [];
  for (const height of heights) {
    const [results, headers] = await Promise.all([
      search.lane.remote.comet.blockResults(height),
      search.headers.pair(BigInt(height)),
    ]);
    const deliveries = deliveryProofs(results);
    for (const tx of found.filter((one) => one.height === height))
      proven.push(...toProven(search, state, { tx, headers, delivery: deliveries[tx.index] }));
  }
  return proven;
}

function toProven(
  search: TxSearch,
  state: QueryState,
  parts: {
    readonly tx: FoundTx;
    readonly headers: HeaderPair;
    readonly delivery: ReturnType<typeof deliveryProofs>[number] | undefined;
  },
): readonly ProvenTx[] {
  const { tx, headers, delivery } = parts;
  if (delivery === undefined) return [];
  const result = txQueryResult(tx, delivery, headers);
  const message = submitMessage(state.query.id, result, search.lane.sender.address);
  return [
    { state, message, keys: KEYS_PER_TX_RESULT, hash: toHex(tx.hash), remoteHeight: BigInt(tx.height) },
  ];
}

/** A result that no transaction can hold is put aside at once, so that it never blocks its query. */
function fits(lane: Lane, deps: TxDeps, tx: ProvenTx): boolean {
  const { bytes } = lane.settings.limits;
  if (tx.message.length <= bytes) return true;
  putAside(
    lane,
    deps,
    tx,
    `the result takes ${tx.message.length} bytes, more than the ${bytes} that a transaction may have`,
  );
  return false;
}

/** Notes what became of one transaction; false when it must be tried again. */
function settleTx(lane: Lane, deps: TxDeps, { result, fault }: ResultOutcome<ProvenTx>): boolean {
  const { hash, remoteHeight, state } = result;
  if (fault === undefined) {
    deps.journal.noteIncluded(state.query.id, hash, remoteHeight);
    lane.metrics.results.inc({ connection_id: lane.connectionId, outcome: "included" });
    lane.logger.info("transaction relayed", { queryId: state.query.id, hash, remoteHeight });
    return true;
  }
  if (fault.code !== "rejected") return false;
  putAside(lane, deps, result, fault.reason);
  return true;
}

function putAside(lane: Lane, deps: TxDeps, tx: ProvenTx, reason: string): void {
  const { hash, remoteHeight, state } = tx;
  deps.journal.noteUnsuccessful({
    queryId: state.query.id,
    hash,
    remoteHeight,
    reason,
    atMs: lane.clock.nowMs(),
  });
  lane.metrics.results.inc({ connection_id: lane.connectionId, outcome: "rejected" });
  lane.logger.warn("transaction not accepted", { queryId: state.query.id, hash, remoteHeight, reason });
}

/** Headers of one round, each built once and shared by the transactions of its block. */
interface HeaderCache {
  readonly pair: (height: bigint) => Promise<HeaderPair>;
}

function createHeaderCache(lane: Lane, point: ReadPoint, signal: AbortSignal): HeaderCache {
  const known = new Map<bigint, Promise<Uint8Array>>();
  const build = async (height: bigint): Promise<Uint8Array> => {
    const block: LightBlockBytes =
      height === point.block.height ? point.block : await lane.remote.lightBlock(height, signal);
    return updateHeader(headerDeps(lane), point.client, block, signal);
  };
  const header = (height: bigint): Promise<Uint8Array> => {
    const built = known.get(height) ?? build(height);
    known.set(height, built);
    return built;
  };
  return {
    pair: async (height) => {
      const [own, next] = await Promise.all([header(height), header(height + 1n)]);
      return { header: headerAny(own), nextHeader: headerAny(next) };
    },
  };
}

function minimum(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
