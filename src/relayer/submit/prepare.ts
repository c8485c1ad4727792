import type { SimulationOutcome } from "../../cosmos/client/tx/tx-types.ts";
import { isSuspect } from "../registry/query-state.ts";
import { applyBlame } from "./blame.ts";
import { layOut, type Slot, toMessages } from "./judge.ts";
import { GAS_PER_TRANSACTION, planTransactions } from "./plan.ts";
import { rereadQueries } from "./reread.ts";
import type { Entry } from "./result-queue.ts";
import {
  finish,
  gasItem,
  gasOfResults,
  move,
  type Prepared,
  putBack,
  slotItems,
  type SubmitterState,
} from "./submitter-state.ts";

/**
 * Plans and simulates transactions for the waiting results, as far as they fit into one block besides the ones that are
 * prepared already. Returns whether there were any. Throws the signal's reason. When the node cannot simulate, the results
 * are unsent.
 */
export async function prepare(state: SubmitterState, signal: AbortSignal): Promise<boolean> {
  const planned = plan(state);
  for (const entries of planned) {
    state.queue.remove(entries);
    for (const entry of entries) move(state, entry, "planned");
  }
  // The next results of their queries may be proven now.
  if (planned.length > 0) state.deps.height.wake();
  const simulated = await Promise.all(planned.map((entries) => simulate(state, entries, signal)));
  // Together: the first one alone would be broadcast at once, and the others a round trip later.
  state.prepared = [...state.prepared, ...simulated.flatMap((one) => one ?? [])];
  await rereadQueries(state, signal);
  return planned.length > 0;
}

function plan(state: SubmitterState): readonly (readonly Entry[])[] {
  const { queue, block, batch, prepared, gas } = state;
  const ahead = prepared.reduce((total, one) => total + one.gas, 0n);
  const aheadBytes = prepared.reduce((total, one) => total + bytesOf(one.entries), 0);
  const room = { gas: block.gas() - ahead, bytes: block.bytes() - aheadBytes };
  // What is left after that would become a small transaction, at the fixed cost of a large one.
  const isFull = prepared.length > 0 && (room.gas < block.gas() / 10n || room.bytes <= 0);
  if (isFull || queue.size() === 0) return [];
  const waiting = queue.entries().filter((entry) => mayPlan(state, entry));
  if (waitForMore(state, waiting)) return [];
  return planTransactions(waiting, {
    limits: batch.limits(),
    room,
    gasOf: (entry) => gas.estimate(gasItem(entry)),
    groupOf: (entry) => groupOf(state, entry),
  });
}

/**
 * Whether what is planned and in flight nearly fills a block, and these results are few beside those that are being read or wait
 * for the result in front of them. Alone they would leave no earlier, but the others would wait for their simulation and
 * broadcast: a round trip of each.
 */
function waitForMore(state: SubmitterState, ready: readonly Entry[]): boolean {
  const { flying, planned, expected, queue, block } = state;
  const gasIn = (entries: readonly Entry[]): bigint =>
    gasOfResults(
      state,
      entries.map(({ result }) => result),
    );
  const inFlight = [...flying.values()].reduce((total, one) => total + one.gas, 0n);
  const before = inFlight + gasIn([...planned.values()].flat());
  const own = gasIn(ready);
  const others = gasOfResults(state, [...expected.values()].flat()) + gasIn(queue.entries()) - own;
  return before * 10n > block.gas() * 9n && own * 10n < others;
}

/**
 * Entries of different groups travel in different transactions. "" is the group of those that are not doubtful: the chain
 * took the last result of their queries, and no transaction with them has failed without naming a message.
 */
export function groupOf({ doubts, deps }: SubmitterState, { result }: Entry): string {
  const { id } = result.query;
  const current = deps.registry.state(id);
  return doubts.get(id) ?? (current !== undefined && isSuspect(current) ? "suspects" : "");
}

/**
 * At most one result of a KV query is planned. It may be simulated while the one before it is in flight. A TX result may not
 * overtake those before it.
 */
function mayPlan({ planned, flying }: SubmitterState, { result }: Entry): boolean {
  const { id, type } = result.query;
  return !planned.has(id) && (type === "kv" || !flying.has(id));
}

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((total, { result }) => total + result.message.length, 0);
}

/**
 * Simulates one transaction. Applies its failure, and then returns undefined.
 *
 * A simulation runs on the mempool's state: sequences of pending transactions count there, their messages have not run. A
 * client update in a pending transaction does not exist in it. So every simulation has the updates in front, also those
 * that the broadcast leaves out.
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
    const cause = error instanceof Error ? error : new Error("the simulation failed", { cause: error });
    for (const entry of entries)
      finish(state, entry, { kind: "unsent", reason: cause.message, error: cause });
    return undefined;
  }
  if (simulation.ok) return toPrepared(state, slots, entries, simulation.gasUsed);
  applyBlame(state, { failure: simulation, slots, where: "simulation" });
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
  const limit = min(block.gas(), batch.limits().gas);
  const [fitting, rest] = fit(state, entries, limit);
  putBack(state, rest);
  const fixed =
    gasUsed -
    sum(
      state,
      slots.filter(({ kind }) => kind === "update"),
    );
  const used = rest.length === 0 ? fixed : gasOfEntries(state, fitting);
  return { entries: fitting, gas: used, simulated: gasUsed };
}

/** The first entries that a transaction of this gas can hold, at least one, and the others. */
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

function sum(state: SubmitterState, slots: readonly Slot[]): bigint {
  return slotItems(slots).reduce((total, item) => total + state.gas.estimate(item), 0n);
}

/** Expected gas of a transaction with these entries and without client updates. */
export function gasOfEntries(state: SubmitterState, entries: readonly Entry[]): bigint {
  return entries.reduce((total, entry) => total + state.gas.estimate(gasItem(entry)), GAS_PER_TRANSACTION);
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
