import { isNewer } from "../../cosmos/comet/ibc-height.ts";
import { isDue, type QueryState, sameQuestion } from "../registry/query-state.ts";
import { MAX_AGE_MS, type ResultOutcome, GAS_PER_TRANSACTION } from "../result/proven-result.ts";
import { groupOf } from "./apply-failure.ts";
import type { Entry } from "./pipeline.ts";
import {
  byNeed,
  gasInFlight,
  isAboveCeiling,
  requeue,
  resolve,
  type SubmitterState,
  unsent,
  urgentRule,
  WITHDRAWN,
} from "./submitter-state.ts";
import { bytesOf, cutTo, gasItem, gasOfEntries, type Prepared } from "./transaction.ts";

/**
 * Takes the transactions that can be sent now from `prepared` and drops results that are no longer needed. Transactions with the
 * longest-due results are sent first. A transaction that does not fit in the block is split, and no later transaction overtakes its
 * remainder.
 */
export function choosePrepared(state: SubmitterState): readonly Prepared[] {
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
  /** Ids of the queries with a chosen result, because only one result per query is sent at a time. */
  readonly taken: Set<bigint>;
}

/** Returns the prepared transactions, ordered by each transaction's most needed result. */
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

/** Splits a prepared transaction into a part to broadcast now (`go`) and a part to keep (`stay`). Resolves or requeues other results. */
function decide(
  state: SubmitterState,
  prepared: Prepared,
  block: Filling,
): { readonly go: Prepared | undefined; readonly stay: Prepared | undefined } {
  const { ready, later } = sortOut(state, prepared.entries, block.taken);
  const all = [...ready, ...later];
  const left = cutTo(state, prepared, all);
  const stay = all.length > 0 ? left : undefined;
  // A few ready results wait for the transaction's other results, because each transaction has a fixed cost. Above the ceiling, the
  // ready results are urgent and don't wait.
  const isFew = ready.length < later.length && !isAboveCeiling(state);
  if (ready.length === 0 || isFew) return { go: undefined, stay };
  // Plan again, because one of the results has been isolated since the plan and must now be tried in a separate transaction.
  if (new Set(ready.map((entry) => groupOf(state, entry))).size > 1) {
    requeue(state, all);
    return { go: undefined, stay: undefined };
  }
  const whole = cutTo(state, left, ready);
  const fits =
    (block.isEmpty && fitsAlone(state, ready, whole.gas)) ||
    (whole.gas <= block.gas && bytesOf(ready) <= block.bytes);
  const going = fits ? ready : firstThatFit(state, whole, block);
  // A single result cannot be split, so let other transactions use the capacity that is too small for it.
  if (!fits) block.isFull = all.length > 1;
  if (going.length === 0) return { go: undefined, stay };
  // Plan the remaining TX results of these queries again, because prepared results would overtake the first part if it failed.
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
  // The market's budget changes with each block, so a small remainder is planned again together with other results.
  const isSmall = state.block.hasMarketBudget() && remainder.gas <= 2n * state.block.leastGas();
  if (!isSmall) return { go, stay: remainder };
  requeue(state, rest);
  return { go, stay: undefined };
}

/** Returns true if a transaction may exceed the block budget as long as nothing else is in flight. */
function fitsAlone({ block }: SubmitterState, ready: readonly Entry[], gas: bigint): boolean {
  return !block.hasMarketBudget() || (ready.length === 1 && gas <= block.singleGas());
}

/** Returns the longest-due results that fit in the block, or no results if they would form only a small transaction. */
function firstThatFit(
  state: SubmitterState,
  { entries: ready, gas: simulated }: Prepared,
  block: Filling,
): readonly Entry[] {
  const expected = gasOfEntries(state, ready);
  // Without a market budget, the whole transaction can be sent once the block is empty. With a market budget, the transaction must
  // be split, because the budget may never be large enough for the whole transaction.
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
  // All results fit according to the estimates, but the simulation used too much gas for the block.
  if (found.length === ready.length) return [];
  return gasOfEntries(state, found) < state.block.leastGas() ? [] : found;
}

/**
 * Separates the ready results from the results to send later, and preserves their order. Drops results that have become unnecessary
 * or too old since the plan.
 */
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

/** Maximum number of blocks that a result may wait for its query to become due. */
const MAX_EARLY_BLOCKS = 2n;
/** States whether a result is sent now ("ready") or later, or the outcome of a result that is not sent. */
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
  // The query is backing off, because the chain rejected its previous result after this result was proven.
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

/** Returns true if the query needs a result, ignoring the backoff, which applies only to reads. */
function dueAt(current: QueryState, height: bigint): boolean {
  return isDue({ ...current, notBeforeMs: 0 }, height, 0);
}

const TOO_OLD: ResultOutcome = {
  kind: "unsent",
  reason: "it waited too long for a transaction",
  error: undefined,
};

/** Returns true if a result has waited so long that its value is too old. `nowMs` is monotonic. */
function isTooOld({ sinceMs }: Entry, nowMs: number): boolean {
  return nowMs - sinceMs > MAX_AGE_MS;
}
