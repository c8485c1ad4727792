import { answerOf } from "../../cosmos/client/answers.ts";
import { planGasPrice } from "../../cosmos/client/tx/tx-queries.ts";
import type { BroadcastResult } from "../../cosmos/client/tx/tx-types.ts";
import { type Dec18, DEC18_ONE } from "../../platform/base/decimal.ts";
import { minInt } from "../../platform/base/integers.ts";
import { admit, type AdmittedTransaction, cutTo } from "./admit.ts";
import { applyFailure, groupOf } from "./apply-failure.ts";
import type { Entry } from "./pipeline.ts";
import { GAS_PER_TRANSACTION } from "../result/gas-guess.ts";
import { isLackOfFunds } from "../result/submit-gate.ts";
import {
  byNeed,
  entriesOf,
  gasInFlight,
  gasItem,
  gasOfEntries,
  type Prepared,
  recordReach,
  requeue,
  resolve,
  type SubmitterState,
  unsent,
  urgentRule,
  WITHDRAWN,
  isAboveCeiling,
} from "./submitter-state.ts";
import { isNewer } from "../../cosmos/comet/ibc-height.ts";
import { isDue, type QueryState, sameQuestion } from "../registry/query-state.ts";
import { MAX_AGE_MS, type ResultOutcome } from "../result/proven-result.ts";

/** Maximum number of blocks that a result may wait for its query to become due. */
const MAX_EARLY_BLOCKS = 2n;
/** The time at which a result is sent, or its outcome if it is not sent. */
type Evaluation = "ready" | "later" | ResultOutcome;

/** Decides whether a prepared result is sent now, later, or not at all. */
export function evaluateResult(state: SubmitterState, entry: Entry): Evaluation {
  const { result } = entry;
  const { registry, height, clock } = state.deps;
  const { query, at } = result;
  const current = registry.state(query.id);
  if (current === undefined) return { kind: "dropped", reason: "removed" };
  if (!sameQuestion(current.query, query)) return { kind: "dropped", reason: "superseded" };
  if (isTooOld(entry, clock.monotonicMs())) return TOO_OLD;
  if (state.queries.withdrawn.has(query.id)) return WITHDRAWN;
  // This result was proven before the chain rejected the previous one.
  if (clock.monotonicMs() < current.notBeforeMs)
    return { kind: "unsent", reason: "its query backs off", error: undefined };
  if (query.type === "kv" && !isNewer(at, current.query.lastRemoteHeight))
    return { kind: "dropped", reason: "superseded" };
  if (state.pipeline.ofQuery(query.id).sent.length > 0) return "later";
  if (isAboveCeiling(state) && urgentRule(state, query) === undefined) return "later";
  if (query.type === "tx" || dueAt(current, height.now())) return "ready";
  return dueAt(current, height.now() + MAX_EARLY_BLOCKS)
    ? "later"
    : { kind: "dropped", reason: "superseded" };
}

/** Returns true if the query needs a result. Ignores its backoff, because a proven result is sent. */
function dueAt(current: QueryState, height: bigint): boolean {
  return isDue({ ...current, notBeforeMs: 0 }, height, 0);
}

const TOO_OLD: ResultOutcome = {
  kind: "unsent",
  reason: "it waited too long for a transaction",
  error: undefined,
};

/** Returns true if a result has waited too long. `nowMs` is monotonic. */
function isTooOld({ sinceMs }: Entry, nowMs: number): boolean {
  return nowMs - sinceMs > MAX_AGE_MS;
}

/**
 * Broadcasts prepared transactions whose queries have nothing in flight, as many as fit in the block. Throws `ClientError` if the
 * account or the price cannot be read, or the signal's reason.
 */
export async function broadcastPrepared(state: SubmitterState, signal: AbortSignal): Promise<void> {
  const { window, height, clock } = state.deps;
  const { stoppedUntilMs, heldBelow, offered } = state.pace;
  const isTooCheap = height.now() < heldBelow && (state.market.latestPrice() ?? 0n) <= offered;
  if (clock.monotonicMs() < stoppedUntilMs || isTooCheap) return;
  const open = window.isOpen(height.now());
  if (!open || state.prepared.length === 0) return;
  const chosen = choose(state);
  if (chosen.length === 0) return;
  try {
    await broadcast(state, chosen, signal);
  } catch (error) {
    // The account or the price could not be read, so nothing was broadcast.
    requeue(
      state,
      chosen.flatMap(({ entries }) => entries),
    );
    throw error;
  }
}

async function broadcast(
  state: SubmitterState,
  chosen: readonly Prepared[],
  signal: AbortSignal,
): Promise<void> {
  const { window, height, clock } = state.deps;
  const gasPrice = await currentPrice(state, chosen, signal);
  state.pace.offered = gasPrice;
  const admitted: AdmittedTransaction[] = [];
  for (const prepared of chosen) {
    const one = await admit(state, { prepared, before: admitted, gasPrice }, signal);
    if (one !== undefined) admitted.push(one);
  }
  if (admitted.length === 0) return;
  // From now on, a block may include these results, so their queries' next results can be proven.
  for (const entry of admitted.flatMap(({ slots }) => entriesOf(slots))) depart(state, entry);
  height.wake();
  const at = { gasPrice, height: height.now() };
  const startedMs = clock.monotonicMs();
  // Count from the start of the broadcast, because a node that never responds is unreachable too.
  state.pace.muteSinceMs ??= startedMs;
  const drafts = admitted.map(({ draft }) => draft);
  const results = await window.broadcast(drafts, at, signal).catch((error: unknown) => {
    recordReach(state, false);
    // Nothing was broadcast, unless the signal aborted a broadcast in progress.
    if (!signal.aborted) for (const { release } of admitted) release();
    throw error;
  });
  state.pace.broadcastMs = clock.monotonicMs() - startedMs;
  recordReach(state, results.some(hasReached));
  for (const [index, one] of admitted.entries()) recordBroadcast(state, one, results[index]);
}

/** Returns true if the node is reachable: it accepted the transaction or rejected it for a reason of the transaction's own. */
function hasReached(result: BroadcastResult): boolean {
  if (result.kind === "in-flight") return result.isUncertain !== true;
  return result.kind === "refused" && (result.cause === undefined || answerOf(result.cause) === "final");
}

function depart(state: SubmitterState, entry: Entry): void {
  const gas = state.gas.estimate(gasItem(entry));
  state.pipeline.apply([entry], { kind: "broadcast", sentAt: state.deps.height.now(), gas });
}

/** Fraction added to the fee market's price to cover an unforeseen rise. */
const PRICE_RESERVE = DEC18_ONE / 100n;

/**
 * Returns the gas price to offer. The fee market determines the next block's price and the possible rise until the block after it.
 * Without a fee market, this function uses the price from this height or the previous one, and the price multiplier covers the
 * rise.
 */
async function currentPrice(
  state: SubmitterState,
  chosen: readonly Prepared[],
  signal: AbortSignal,
): Promise<Dec18> {
  const { window, height } = state.deps;
  const { gasPrice: policy } = state.options;
  const now = height.now();
  const going = chosen.reduce((sum, { gas }) => sum + gas, gasInFlight(state));
  const next = state.market.priceAt(now, going);
  if (next !== undefined) {
    const offered = planGasPrice(next.price, { ...policy, multiplier: next.rise + PRICE_RESERVE });
    return minInt(offered, highestPrice(state, chosen));
  }
  if (state.pace.price !== undefined && isPriceGood(state, now)) return state.pace.price.gasPrice;
  const gasPrice = await window.gasPrice(signal);
  state.pace.price = { height: now, gasPrice };
  return gasPrice;
}

/** Returns the highest price that all of these results may pay: the ceiling, or the rule's price for urgent results. */
function highestPrice(state: SubmitterState, chosen: readonly Prepared[]): Dec18 {
  const { cap } = state.options.gasPrice;
  const ceiling = minInt(state.market.ceiling() ?? cap, cap);
  return chosen
    .flatMap(({ entries }) => entries)
    .map(({ result }) => urgentRule(state, result.query))
    .reduce((least, rule) => minInt(least, rule === undefined ? ceiling : (rule.max_price ?? cap)), cap);
}

/** Returns true if the known price is from this height or the previous one. */
export function isPriceGood({ pace: { price } }: SubmitterState, height: bigint): boolean {
  return price !== undefined && price.height + 1n >= height && price.height <= height;
}

/**
 * Takes the transactions that can be sent now from `prepared`, without deleted results. Transactions that have been due the
 * longest go first. A transaction that does not fit is split, and no later transaction overtakes it.
 */
function choose(state: SubmitterState): readonly Prepared[] {
  const chosen: Prepared[] = [];
  const kept: Prepared[] = [];
  const block: Filling = {
    gas: state.block.gas() + state.block.toleranceGas() - gasInFlight(state),
    bytes: state.block.bytes() - state.sent.reduce((sum, { tx }) => sum + tx.size, 0),
    isEmpty: state.sent.length === 0,
    isFull: false,
    taken: new Set(),
  };
  for (const prepared of inOrder(state)) {
    const { go, stay } = block.isFull ? { go: undefined, stay: prepared } : decide(state, prepared, block);
    if (stay !== undefined) kept.push(stay);
    if (go === undefined) continue;
    chosen.push(go);
    block.gas -= go.gas;
    block.bytes -= bytesOf(go.entries);
    block.isEmpty = false;
    for (const { result } of go.entries) block.taken.add(result.query.id);
  }
  state.prepared = kept;
  return chosen;
}

/** The remaining capacity of the next block. */
interface Filling {
  gas: bigint;
  bytes: number;
  isEmpty: boolean;
  isFull: boolean;
  /** Only one result per query is sent at a time. */
  readonly taken: Set<bigint>;
}

/** Sorts the transactions by their neediest result. */
function inOrder(state: SubmitterState): readonly Prepared[] {
  const { prepared } = state;
  if (prepared.length < 2) return prepared;
  const sorted = byNeed(
    state,
    prepared.flatMap(({ entries }) => entries),
  );
  const places = new Map(sorted.map((entry, place) => [entry, place]));
  const first = ({ entries }: Prepared): number =>
    Math.min(...entries.map((entry) => places.get(entry) ?? 0));
  return prepared.toSorted((a, b) => first(a) - first(b));
}

/** Splits a prepared transaction into a part to broadcast now and a part that stays. Resolves or requeues all other results. */
function decide(
  state: SubmitterState,
  prepared: Prepared,
  block: Filling,
): { readonly go: Prepared | undefined; readonly stay: Prepared | undefined } {
  const { ready, later } = sortOut(state, prepared.entries, block.taken);
  const all = [...ready, ...later];
  const left = cutTo(state, prepared, all);
  const stay = all.length > 0 ? left : undefined;
  // A few ready results wait for the others, because each transaction has a fixed cost. Above the ceiling, the ready results are
  // urgent and don't wait.
  const isFew = ready.length < later.length && !isAboveCeiling(state);
  if (ready.length === 0 || isFew) return { go: undefined, stay };
  // One of the results has been isolated since the plan was made and must be tried separately.
  if (new Set(ready.map((entry) => groupOf(state, entry))).size > 1) {
    requeue(state, all);
    return { go: undefined, stay: undefined };
  }
  const whole = cutTo(state, left, ready);
  const fits =
    (block.isEmpty && fitsAlone(state, ready, whole.gas)) ||
    (whole.gas <= block.gas && bytesOf(ready) <= block.bytes);
  const going = fits ? ready : firstThatFit(state, whole, block);
  // A single result cannot be split, so let others use the capacity that is too small for it.
  if (!fits) block.isFull = all.length > 1;
  if (going.length === 0) return { go: undefined, stay };
  // If the departing TX results fail, a TX result that stayed prepared would overtake earlier results of its query.
  const leaving = new Set(going.map(({ result }) => result.query.id));
  const others = all.filter((entry) => !going.includes(entry));
  requeue(
    state,
    others.filter(({ result }) => leaving.has(result.query.id)),
  );
  const rest = others.filter(({ result }) => !leaving.has(result.query.id));
  const go = cutTo(state, left, going);
  if (rest.length === 0) return { go, stay: undefined };
  const remainder = cutTo(state, left, rest);
  // The market's budget changes with each block, so a small remainder is planned again together with others.
  const isSmall = state.block.hasMarketBudget() && remainder.gas <= 2n * state.block.leastGas();
  if (!isSmall) return { go, stay: remainder };
  requeue(state, rest);
  return { go, stay: undefined };
}

/** Returns true if a transaction above the block budget may be sent if nothing else is in flight. */
function fitsAlone({ block }: SubmitterState, ready: readonly Entry[], gas: bigint): boolean {
  return !block.hasMarketBudget() || (ready.length === 1 && gas <= block.singleGas());
}

/** Returns the longest-due results that fit in the block; none if they would form only a small transaction. */
function firstThatFit(
  state: SubmitterState,
  { entries: ready, gas: simulated }: Prepared,
  block: Filling,
): readonly Entry[] {
  const expected = gasOfEntries(state, ready);
  // Without a market, the whole transaction is sent as soon as the block is empty. With a market, it would wait for a budget that
  // never arrives.
  const isMore = state.block.hasMarketBudget() && simulated > expected;
  const [more, than] = isMore ? [simulated, expected] : [1n, 1n];
  const fitting = new Set<Entry>();
  let gas = GAS_PER_TRANSACTION;
  let bytes = 0;
  for (const entry of byNeed(state, ready)) {
    gas += state.gas.estimate(gasItem(entry));
    bytes += entry.result.message.length;
    if ((gas * more) / than > block.gas || bytes > block.bytes) break;
    fitting.add(entry);
  }
  const found = ready.filter((entry) => fitting.has(entry));
  // According to the estimates, all results fit, but the simulation used more gas.
  if (found.length === ready.length) return [];
  return gasOfEntries(state, found) < state.block.leastGas() ? [] : found;
}

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { result }) => sum + result.message.length, 0);
}

/** Drops results that have been removed, superseded or grown too old since the plan. Preserves the order. */
function sortOut(
  state: SubmitterState,
  entries: readonly Entry[],
  taken: ReadonlySet<bigint>,
): { readonly ready: readonly Entry[]; readonly later: readonly Entry[] } {
  const ready: Entry[] = [];
  const later: Entry[] = [];
  for (const entry of entries) {
    if (entry.stage.kind === "resolved") continue;
    const outcome = evaluateResult(state, entry);
    const isTaken = outcome === "ready" && taken.has(entry.result.query.id);
    if (outcome === "later" || isTaken) later.push(entry);
    else if (outcome === "ready") ready.push(entry);
    else resolve(state, entry, outcome);
  }
  return { ready, later };
}

export function dropOld(state: SubmitterState): void {
  const nowMs = state.deps.clock.monotonicMs();
  for (const entry of unsent(state)) if (isTooOld(entry, nowMs)) resolve(state, entry, TOO_OLD);
}

function recordBroadcast(
  state: SubmitterState,
  one: AdmittedTransaction,
  result: BroadcastResult | undefined,
): void {
  const entries = entriesOf(one.slots);
  if (result?.kind === "in-flight") {
    state.pace.stopped = undefined;
    state.deps.funds.recordAccepted();
    const { draft: _draft, ...sent } = one;
    state.pipeline.apply(entries, { kind: "accept" });
    const sentAt = state.deps.height.now();
    state.market.recordSent(sentAt, sent.gas);
    state.sent = [...state.sent, { ...sent, tx: result.tx, sentAt }];
    return;
  }
  one.release();
  if (result?.kind !== "refused") return requeue(state, entries);
  state.deps.metrics.transactions.inc({ outcome: "refused" });
  // The problem "account-cannot-pay" is logged once. This rejection repeats until someone sends coins.
  state.deps.logger[isLackOfFunds(result.log) ? "debug" : "info"]("the node refused a transaction", {
    results: entries.length,
    reason: result.log,
  });
  applyFailure(state, { failure: result, slots: one.slots, where: "node" });
}
