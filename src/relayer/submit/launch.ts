import type { Dec18 } from "../../platform/base/decimal.ts";
import type { BroadcastResult, TxDraft } from "../../cosmos/client/tx/tx-types.ts";
import { feeFor } from "../../cosmos/client/tx/tx-queries.ts";
import { applyBlame } from "./blame.ts";
import { isTooOld, judgeEntry, TOO_OLD } from "./judge-entry.ts";
import { layOut, type Slot, toMessages } from "./judge.ts";
import { gasOfEntries, groupOf } from "./prepare.ts";
import type { Entry } from "./result-queue.ts";
import {
  entriesOf,
  finish,
  gasInFlight,
  gasItem,
  move,
  type Prepared,
  putBack,
  type SentTransaction,
  slotItems,
  type SubmitterState,
  unsent,
} from "./submitter-state.ts";

/** Pause after a refusal by the gate. */
const GATE_PAUSE_MS = 2_000;

/** A transaction that may be broadcast now. */
interface Launch extends Omit<SentTransaction, "tx"> {
  readonly draft: TxDraft;
}

/**
 * Broadcasts the prepared transactions whose queries have nothing in flight, as far as the block has room. Throws
 * `ClientError` when account or price cannot be read, and the signal's reason.
 */
export async function launch(state: SubmitterState, signal: AbortSignal): Promise<void> {
  const { window, height, clock } = state.deps;
  if (clock.monotonicMs() < state.stoppedUntilMs || height.now() < state.heldBelow) return;
  const open = window.isOpen(height.now());
  if (!open || state.prepared.length === 0) return;
  const chosen = choose(state);
  if (chosen.length === 0) return;
  try {
    await broadcast(state, chosen, signal);
  } catch (error) {
    // Account or price could not be read. Nothing was broadcast.
    state.launching = [];
    putBack(
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
  const gasPrice = await currentPrice(state, signal);
  const launches: Launch[] = [];
  for (const prepared of chosen) {
    const one = await admit(state, { prepared, before: launches, gasPrice }, signal);
    if (one !== undefined) launches.push(one);
  }
  if (launches.length === 0) return;
  // From now on a block may hold them, and the next results of their queries are proven meanwhile.
  state.launching = launches.flatMap(({ slots }) => entriesOf(slots));
  for (const entry of state.launching) move(state, entry, "flight");
  height.wake();
  const at = { gasPrice, height: height.now() };
  const startedMs = clock.monotonicMs();
  const drafts = launches.map(({ draft }) => draft);
  const results = await window.broadcast(drafts, at, signal).catch((error: unknown) => {
    // Nothing was broadcast, unless the signal ended it.
    if (!signal.aborted) for (const { release } of launches) release();
    throw error;
  });
  state.broadcastMs = clock.monotonicMs() - startedMs;
  state.launching = [];
  for (const [index, one] of launches.entries()) noteBroadcast(state, one, results[index]);
}

/** The price of this height or the last one: the price multiplier covers the rise of a block. */
async function currentPrice(state: SubmitterState, signal: AbortSignal): Promise<Dec18> {
  const { window, height } = state.deps;
  const now = height.now();
  if (state.price !== undefined && isPriceGood(state, now)) return state.price.gasPrice;
  const gasPrice = await window.gasPrice(signal);
  state.price = { height: now, gasPrice };
  return gasPrice;
}

/** Whether the known price is that of this height or the one before. */
export function isPriceGood({ price }: SubmitterState, height: bigint): boolean {
  return price !== undefined && price.height + 1n >= height && price.height <= height;
}

/** Takes the transactions out of `prepared` that can go now, without the results that are gone. */
function choose(state: SubmitterState): readonly Prepared[] {
  const chosen: Prepared[] = [];
  const kept: Prepared[] = [];
  // Of each query, one result leaves at a time.
  const taken = new Set<bigint>();
  let gas = gasInFlight(state);
  let bytes = state.sent.reduce((sum, { tx }) => sum + tx.size, 0);
  for (const prepared of state.prepared) {
    const { ready, later } = sortOut(state, prepared.entries, taken);
    const all = [...ready, ...later];
    const left = cutTo(state, prepared, all);
    const size = ready.reduce((sum, { result }) => sum + result.message.length, 0);
    const isAlone = state.sent.length === 0 && chosen.length === 0;
    const fits = gas + left.gas <= state.block.gas() && bytes + size <= state.block.bytes();
    // A few that are ready wait for the many that are not: each transaction has a fixed cost.
    if (ready.length === 0 || ready.length < later.length || !(fits || isAlone)) {
      if (all.length > 0) kept.push(left);
      continue;
    }
    // Their company has changed since they were planned: one of them is to be tried apart from the others.
    if (new Set(ready.map((entry) => groupOf(state, entry))).size > 1) {
      putBack(state, all);
      continue;
    }
    if (later.length > 0) kept.push(cutTo(state, left, later));
    chosen.push(cutTo(state, left, ready));
    for (const { result } of ready) taken.add(result.query.id);
    gas += left.gas;
    bytes += size;
  }
  state.prepared = kept;
  return chosen;
}

/** The transaction with these of its entries only. */
function cutTo(state: SubmitterState, prepared: Prepared, entries: readonly Entry[]): Prepared {
  if (entries.length === prepared.entries.length) return prepared;
  const gas = gasOfEntries(state, entries);
  return { entries, gas, simulated: prepared.simulated - prepared.gas + gas };
}

/** Drops results that were removed, superseded or are too old since they were planned. Keeps the order. */
function sortOut(
  state: SubmitterState,
  entries: readonly Entry[],
  taken: ReadonlySet<bigint>,
): { readonly ready: readonly Entry[]; readonly later: readonly Entry[] } {
  const ready: Entry[] = [];
  const later: Entry[] = [];
  for (const entry of entries) {
    if (entry.place === "done") continue;
    const verdict = judgeEntry(state, entry);
    const isTaken = verdict === "ready" && taken.has(entry.result.query.id);
    if (verdict === "later" || isTaken) later.push(entry);
    else if (verdict === "ready") ready.push(entry);
    else finish(state, entry, verdict);
  }
  return { ready, later };
}

/** Settles the results in the queue that are too old. */
export function dropOld(state: SubmitterState): void {
  const nowMs = state.deps.clock.monotonicMs();
  for (const entry of unsent(state)) if (isTooOld(entry, nowMs)) finish(state, entry, TOO_OLD);
}

/** Asks the gate. Leaves out the results of owners that it refuses. Returns undefined when nothing may be sent. */
async function admit(
  state: SubmitterState,
  {
    prepared,
    before,
    gasPrice,
  }: {
    readonly prepared: Prepared;
    readonly before: readonly Launch[];
    readonly gasPrice: Dec18;
  },
  signal: AbortSignal,
): Promise<Launch | undefined> {
  let left = prepared;
  while (left.entries.length > 0) {
    const one = toLaunch(state, left, before);
    const { gasLimit } = one.draft;
    const fee = feeFor(gasPrice, gasLimit);
    const admission = await state.deps.gate.admit(
      { gas: gasLimit, fee, gasByOwner: gasByOwner(state, one) },
      signal,
    );
    if (admission.admitted) return { ...one, release: admission.release };
    const owners = new Set(admission.owners);
    const refused = left.entries.filter(({ result }) => owners.has(result.query.owner));
    if (refused.length === 0) {
      stop(state, left.entries, admission.reason);
      return undefined;
    }
    const error = { code: "over-budget", reason: admission.reason } as const;
    for (const entry of refused) finish(state, entry, { kind: "refused", error });
    const entries = left.entries.filter((entry) => !refused.includes(entry));
    left = cutTo(state, left, entries);
  }
  return undefined;
}

function stop(state: SubmitterState, entries: readonly Entry[], reason: string): void {
  if (state.stopped !== reason) state.deps.logger.warn("nothing may be sent", { reason });
  state.stopped = reason;
  state.stoppedUntilMs = state.deps.clock.monotonicMs() + GATE_PAUSE_MS;
  for (const entry of entries) finish(state, entry, { kind: "unsent", reason, error: undefined });
}

function toLaunch(
  state: SubmitterState,
  { entries, gas: ownGas, simulated }: Prepared,
  before: readonly Launch[],
): Omit<Launch, "release"> {
  // A doubtful transaction may fail, so no other relies on its client updates, and it relies on none.
  const isDoubtful = entries.some((entry) => groupOf(state, entry) !== "");
  const reliable = isDoubtful ? [] : [...state.sent, ...before].filter((one) => !one.isDoubtful);
  const carried = new Set(reliable.flatMap(({ slots }) => updateKeys(slots)));
  const isNeeded = (key: string): boolean => !state.included.has(key) && !carried.has(key);
  const slots = layOut(entries, ({ key }) => isNeeded(key));
  const reliesOn = new Set(
    entries.flatMap(({ result: { update } }) =>
      update !== undefined && !state.included.has(update.key) && carried.has(update.key) ? [update.key] : [],
    ),
  );
  const updates = slotItems(slots.filter(({ kind }) => kind === "update"));
  const gas = updates.reduce((sum, item) => sum + state.gas.estimate(item), ownGas);
  const adjusted = (gas * state.options.gasAdjustmentPermille) / 1_000n + 1n;
  // The parts of a transaction are estimates. With all of its parts it used what the simulation says.
  const whole = (simulated * DRIFT_PERMILLE) / 1_000n;
  const gasLimit = adjusted > whole ? adjusted : whole;
  const messages = toMessages(slots, state.options.submitTypeUrl);
  return { slots, draft: { messages, gasLimit }, gas, reliesOn, isDoubtful };
}

/** How much more than its simulation a transaction may use, since the state has changed. */
const DRIFT_PERMILLE = 1_100n;

function updateKeys(slots: readonly Slot[]): readonly string[] {
  return slots.flatMap((slot) => (slot.kind === "update" ? [slot.update.key] : []));
}

/** The gas limit by owner, in proportion to the expected gas of their results. */
function gasByOwner(
  state: SubmitterState,
  { slots, draft }: Pick<Launch, "slots" | "draft">,
): ReadonlyMap<string, bigint> {
  const entries = entriesOf(slots);
  const total = entries.reduce((sum, entry) => sum + state.gas.estimate(gasItem(entry)), 0n);
  const gas = new Map<string, bigint>();
  for (const entry of entries) {
    const { owner } = entry.result.query;
    const share = (draft.gasLimit * state.gas.estimate(gasItem(entry))) / (total > 0n ? total : 1n);
    gas.set(owner, (gas.get(owner) ?? 0n) + share);
  }
  return gas;
}

function noteBroadcast(state: SubmitterState, one: Launch, result: BroadcastResult | undefined): void {
  const entries = entriesOf(one.slots);
  if (result?.kind === "in-flight") {
    state.stopped = undefined;
    const { draft: _draft, ...sent } = one;
    state.sent = [...state.sent, { ...sent, tx: result.tx }];
    return;
  }
  one.release();
  if (result?.kind !== "refused") return putBack(state, entries);
  state.deps.metrics.transactions.inc({ outcome: "refused" });
  state.deps.logger.info("the node refused a transaction", { results: entries.length, reason: result.log });
  applyBlame(state, { failure: result, slots: one.slots, where: "node" });
}
