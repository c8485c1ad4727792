import type { SimulationOutcome } from "../../cosmos/client/tx/tx-types.ts";
import {
  bytesOf,
  cutTo,
  layOut,
  toMessages,
  gasItem,
  gasOfEntries,
  gasOf,
  type Prepared,
  type Slot,
  slotItems,
} from "./transaction.ts";
import { applyFailure, groupOf, rereadQueries } from "./apply-failure.ts";
import type { Entry, ExpectedEntry } from "./pipeline.ts";
import { planTransactions } from "./plan.ts";
import {
  byNeed,
  gasInFlight,
  recordReach,
  requeue,
  resolve,
  type SubmitterState,
  urgentRule,
  urgentRules,
  isAboveCeiling,
} from "./submitter-state.ts";
import { minInt } from "../../platform/base/integers.ts";
import { GAS_PER_TRANSACTION } from "../result/proven-result.ts";

/**
 * Plans and simulates transactions for queued results, as many as fit in one block together with the prepared transactions. Returns
 * true if any transaction was planned. Resolves the results as unsent if the node cannot simulate. Throws only on abort.
 */
export async function prepare(state: SubmitterState, signal: AbortSignal): Promise<boolean> {
  const planned = plan(state);
  for (const entries of planned) state.pipeline.apply(entries, { kind: "plan" });
  // Wake the workers, which may now prove these queries' next results.
  if (planned.length > 0) state.deps.height.wake();
  const simulated = await Promise.all(planned.map((entries) => simulate(state, entries, signal)));
  // Add all transactions together, so that the first transaction is not broadcast a round trip before the others.
  state.prepared = [...state.prepared, ...simulated.flatMap((one) => one ?? [])];
  await rereadQueries(state, signal);
  return planned.length > 0;
}

function plan(state: SubmitterState): readonly (readonly Entry[])[] {
  const { pipeline, block, batch, prepared, gas, pace, deps } = state;
  const isHeld = deps.height.now() < pace.simulatedFrom;
  if (pipeline.queuedCount() === 0 || block.gas() <= 0n || isHeld) return [];
  const ready = readyEntries(state);
  const ahead = stillAhead(state, ready);
  const capacity = { gas: block.gas() - ahead.gas, bytes: block.bytes() - ahead.bytes };
  // Wait for the next block instead of planning a small transaction, because every transaction has the same fixed cost.
  const isFull = prepared.length > 0 && (capacity.gas < block.leastGas() || capacity.bytes <= 0);
  if (isFull || waitForMore(state, ready)) return [];
  const options = {
    limits: batch.limits(),
    gasOf: (entry: Entry | ExpectedEntry) => gas.estimate(gasItem(entry)),
    groupOf: (entry: Entry) => groupOf(state, entry),
  };
  const waiting = byNeed(state, [...ready, ...expectedSoon(state, ready)]);
  // First plan the results that fit in the next block alongside the transactions in flight. In a single plan for two blocks, the
  // next block would not always contain the most needed results.
  const now = capacity.gas - gasInFlight(state);
  const first =
    now < block.leastGas()
      ? []
      : planTransactions(waiting, { ...options, capacity: { ...capacity, gas: now } });
  const taken = new Set(first.flat().map(({ result }) => result.query.id));
  const rest = waiting.filter(({ result }) => !taken.has(result.query.id));
  const restGas = capacity.gas - first.reduce((total, entries) => total + gasOfEntries(state, entries), 0n);
  if (first.length > 0 && restGas < block.leastGas()) return first;
  return [...first, ...planTransactions(rest, { ...options, capacity: { ...capacity, gas: restGas } })];
}

/**
 * Returns the gas and bytes of the prepared results that are sent before `ready`. Omits prepared results that rank lower and no
 * longer fit in the block, so that the `ready` results are planned, too. The broadcast takes the longest-due results first.
 *
 * Otherwise, a fast connection's prepared results would be sent before results that have been due longer but were proven a moment
 * later.
 */
function stillAhead(
  state: SubmitterState,
  ready: readonly Entry[],
): { readonly gas: bigint; readonly bytes: number } {
  const staying = outranked(state, ready);
  const leaving = state.prepared.map((one) =>
    cutTo(
      state,
      one,
      one.entries.filter((entry) => !staying.has(entry)),
    ),
  );
  return {
    // Skip a transaction without remaining results, because its fixed gas is not needed either.
    gas: leaving.reduce((total, { entries, gas }) => (entries.length === 0 ? total : total + gas), 0n),
    bytes: leaving.reduce((total, { entries }) => total + bytesOf(entries), 0),
  };
}

/**
 * Returns the prepared results that rank behind `ready` and no longer fit in the block. While the price is above the ceiling, also
 * returns the results that are not urgent.
 */
function outranked(state: SubmitterState, ready: readonly Entry[]): ReadonlySet<Entry> {
  const { prepared, block, gas } = state;
  const planned = new Set(prepared.flatMap(({ entries }) => entries));
  if (planned.size === 0 || ready.length === 0) return new Set();
  const isStopped = isAboveCeiling(state);
  const ruleOf = urgentRules(state);
  const blockGas = block.gas();
  let before = 0n;
  const sorted = byNeed(state, [...planned, ...ready]);
  return new Set(
    sorted.filter((entry) => {
      before += gas.estimate(gasItem(entry));
      const isUrgent = !isStopped || ruleOf(entry.result.query) !== undefined;
      return planned.has(entry) && (before > blockGas || !isUrgent);
    }),
  );
}

/** Returns the queued results that may be planned, sorted by need. */
function readyEntries(state: SubmitterState): readonly Entry[] {
  const { pipeline } = state;
  return byNeed(state, pipeline.queuedHeads()).flatMap(({ result }) =>
    pipeline.ofQuery(result.query.id).queued.filter((entry) => mayPlan(state, entry)),
  );
}

/** Returns results whose read began in this or the previous block. Omits queries that have a ready result. */
function expectedSoon({ pipeline, deps }: SubmitterState, ready: readonly Entry[]): readonly ExpectedEntry[] {
  const now = deps.height.now();
  const ids = new Set(ready.map(({ result }) => result.query.id));
  return pipeline
    .expected()
    .filter(
      ({ result, stage }) =>
        stage.kind === "expected" && stage.sinceHeight + 1n >= now && !ids.has(result.query.id),
    );
}

/**
 * Returns true if planning should wait for more results. Planned and in-flight results then nearly fill a block, and far more
 * results are still being read or queued. Planning the few ready results now would not send them earlier, but would delay the other
 * results by a simulation and a broadcast.
 */
function waitForMore(state: SubmitterState, ready: readonly Entry[]): boolean {
  const { pipeline, block } = state;
  // Don't wait above the ceiling, because the ready results are urgent and other results are not sent.
  if (isAboveCeiling(state)) return false;
  const inFlight = pipeline
    .sent()
    .reduce((total, { stage }) => total + ("gas" in stage ? stage.gas : 0n), 0n);
  const before = inFlight + gasOf(state, pipeline.planned());
  const own = gasOf(state, ready);
  const others = gasOf(state, pipeline.expected()) + gasOf(state, pipeline.queued()) - own;
  // "Nearly" means nine tenths, and "far more" means more than ten times as many.
  return before * 10n > block.gas() * 9n && own * 10n < others;
}

/**
 * Returns true if a result may be planned. Above the price ceiling, only urgent results may be planned. A KV query may have one
 * planned result, even while its previous result is in flight. A TX result must not overtake earlier results.
 */
function mayPlan(state: SubmitterState, { result }: Entry): boolean {
  const { pipeline } = state;
  const { id, type } = result.query;
  if (isAboveCeiling(state) && urgentRule(state, result.query) === undefined) return false;
  const { planned, sent } = pipeline.ofQuery(id);
  return planned.length === 0 && (type === "kv" || sent.length === 0);
}

/**
 * Simulates one transaction. If the simulation fails, applies the failure and returns undefined.
 *
 * A simulation runs on the mempool's state, which includes pending transactions' sequences but not their messages' effects, and
 * thus no pending client update. Every simulation therefore starts with all client updates, including updates that the broadcast
 * omits.
 */
async function simulate(
  state: SubmitterState,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<Prepared | undefined> {
  const slots = layOut(entries, ({ key }) => !state.included.has(key));
  for (const entry of entries) entry.simulations += 1;
  state.deps.metrics.simulations.inc();
  let simulation: SimulationOutcome;
  try {
    simulation = await state.deps.window.simulate(toMessages(slots, state.options.submitTypeUrl), signal);
  } catch (error) {
    signal.throwIfAborted();
    recordReach(state, false);
    const cause = error instanceof Error ? error : new Error("the simulation failed", { cause: error });
    for (const entry of entries)
      resolve(state, entry, { kind: "unsent", reason: cause.message, error: cause });
    return undefined;
  }
  if (simulation.ok) return toPrepared(state, slots, entries, simulation.gasUsed);
  applyFailure(state, { failure: simulation, slots, where: "simulation" });
  return undefined;
}

function toPrepared(
  state: SubmitterState,
  slots: readonly Slot[],
  entries: readonly Entry[],
  gasUsed: bigint,
): Prepared {
  const { gas, block, batch } = state;
  gas.learn(slotItems(slots), gasUsed - GAS_PER_TRANSACTION);
  const limit = minInt(block.gas(), batch.limits().gas);
  const [fitting, rest] = fit(state, entries, limit);
  requeue(state, rest);
  const fixed = gasUsed - gas.sum(slotItems(slots.filter(({ kind }) => kind === "update")));
  const used = rest.length === 0 ? fixed : gasOfEntries(state, fitting);
  return { entries: fitting, gas: used, simulated: gasUsed, isWhole: rest.length === 0 };
}

/**
 * Splits entries after the last entry that fits in a transaction with gas `limit`, but at least after the first entry. Returns the
 * entries that fit, and the remaining entries.
 */
function fit(
  state: SubmitterState,
  entries: readonly Entry[],
  limit: bigint,
): readonly [readonly Entry[], readonly Entry[]] {
  let gas = GAS_PER_TRANSACTION;
  const end = entries.findIndex((entry, index) => {
    gas += state.gas.estimate(gasItem(entry));
    return index > 0 && gas > limit;
  });
  return end < 0 ? [entries, []] : [entries.slice(0, end), entries.slice(end)];
}
