import { answerOf } from "../../cosmos/client/answers.ts";
import { feeFor, planGasPrice } from "../../cosmos/client/tx/tx-queries.ts";
import type { BroadcastResult, TxDraft } from "../../cosmos/client/tx/tx-types.ts";
import { type Dec18, DEC18_ONE } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import { isLackOfFunds } from "../result/submit-gate.ts";
import { applyFailure, groupOf, stop } from "./apply-failure.ts";
import { choosePrepared } from "./choose.ts";
import type { Entry } from "./pipeline.ts";
import {
  gasInFlight,
  recordReach,
  requeue,
  resolve,
  type SubmitterState,
  urgentRule,
} from "./submitter-state.ts";
import {
  cutTo,
  entriesOf,
  gasItem,
  gasOf,
  layOut,
  type Prepared,
  type SentTransaction,
  type Slot,
  slotItems,
  toMessages,
} from "./transaction.ts";
import { GAS_OF_PAYOUT } from "./budgets.ts";

/**
 * Broadcasts as many prepared transactions as fit in the block, if their queries have nothing in flight. Throws `ClientError` if
 * the account or the price cannot be read, and the signal's reason on abort.
 */
export async function broadcastPrepared(state: SubmitterState, signal: AbortSignal): Promise<void> {
  const { window, height, clock } = state.deps;
  const { stoppedUntilMs, heldBelow, offered } = state.pace;
  const isTooCheap = height.now() < heldBelow && (state.market.latestPrice() ?? 0n) <= offered;
  if (clock.monotonicMs() < stoppedUntilMs || isTooCheap) return;
  const open = window.isOpen(height.now());
  if (!open || state.prepared.length === 0) return;
  const chosen = choosePrepared(state);
  if (chosen.length === 0) return;
  try {
    await broadcast(state, chosen, signal);
  } catch (error) {
    // Nothing was broadcast, because the account or the price could not be read.
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
  // Measure from the start of the broadcast, because a node that never responds is unreachable, too.
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

/** Returns true if the node is reachable: it accepted the transaction or rejected it because of the transaction itself. */
function hasReached(result: BroadcastResult): boolean {
  if (result.kind === "in-flight") return result.isUncertain !== true;
  return result.kind === "refused" && (result.cause === undefined || answerOf(result.cause) === "final");
}

function depart(state: SubmitterState, entry: Entry): void {
  const gas = state.gas.estimate(gasItem(entry));
  state.pipeline.apply([entry], { kind: "broadcast", sentAt: state.deps.height.now(), gas });
}

/** Fraction by which the offer exceeds the predicted price, in case the price rises unexpectedly. */
const PRICE_RESERVE = DEC18_ONE / 100n;

/**
 * Returns the gas price to offer. If there is a fee market, the offer is the market's price for the next block, plus the possible
 * rise until the following block. Without a fee market, the offer is a price read at this or the previous height, times the price
 * multiplier.
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

/** Returns the highest price that all of the results may pay: the ceiling or, for urgent results, the price of their rule. */
function highestPrice(state: SubmitterState, chosen: readonly Prepared[]): Dec18 {
  const { cap } = state.options.gasPrice;
  const ceiling = minInt(state.market.ceiling() ?? cap, cap);
  return chosen
    .flatMap(({ entries }) => entries)
    .map(({ result }) => urgentRule(state, result.query))
    .reduce((least, rule) => minInt(least, rule === undefined ? ceiling : (rule.max_price ?? cap)), cap);
}

/** Returns true if the price was read at this or the previous height. */
export function isPriceGood({ pace: { price } }: SubmitterState, height: bigint): boolean {
  return price !== undefined && price.height + 1n >= height && price.height <= height;
}

const GATE_PAUSE_MS = 2_000;

/** A transaction that may be broadcast now. */
interface AdmittedTransaction extends Omit<SentTransaction, "tx" | "sentAt"> {
  readonly draft: TxDraft;
}

/** Requests admission for a transaction, if necessary without the results of refused owners. Returns undefined if nothing may be sent. */
async function admit(
  state: SubmitterState,
  {
    prepared,
    before,
    gasPrice,
  }: {
    readonly prepared: Prepared;
    readonly before: readonly AdmittedTransaction[];
    readonly gasPrice: Dec18;
  },
  signal: AbortSignal,
): Promise<AdmittedTransaction | undefined> {
  let left = prepared;
  while (left.entries.length > 0) {
    const one = toTransaction(state, left, before);
    const { gasLimit } = one.draft;
    const fee = feeFor(gasPrice, gasLimit);
    const admission = await state.deps.gate.admit(
      { gas: gasLimit, fee, gasByOwner: gasByOwner(state, one), feeByRule: feeByRule(state, left, fee) },
      signal,
    );
    if (admission.admitted) return { ...one, release: admission.release };
    const { rules = [] } = admission;
    if (rules.length > 0) {
      // Requeue the results, because without their rule's budget they are no longer urgent.
      for (const rule of rules) state.deps.urgency.markUsedUp(rule, state.deps.clock.nowMs());
      state.deps.logger.warn("the budget of urgent results is used up", { rules });
      requeue(state, left.entries);
      return undefined;
    }
    const owners = new Set(admission.owners);
    const refused = left.entries.filter(({ result }) => owners.has(result.query.owner));
    if (refused.length === 0) {
      const { reason } = admission;
      if (state.pace.stopped !== reason) state.deps.logger.warn("nothing may be sent", { reason });
      stop(state, left.entries, reason, GATE_PAUSE_MS);
      return undefined;
    }
    const error = { code: "over-budget", reason: admission.reason } as const;
    for (const entry of refused) resolve(state, entry, { kind: "refused", error });
    const entries = left.entries.filter((entry) => !refused.includes(entry));
    left = cutTo(state, left, entries);
  }
  return undefined;
}

function toTransaction(
  state: SubmitterState,
  { entries, gas: ownGas, simulated, isWhole }: Prepared,
  before: readonly AdmittedTransaction[],
): Omit<AdmittedTransaction, "release"> {
  // A transaction with isolated results may fail, so no other transaction relies on its client updates. A transaction with isolated
  // results also contains every client update that it needs, except for updates that a block already includes.
  const isIsolated = entries.some((entry) => groupOf(state, entry) !== "");
  const reliable = isIsolated ? [] : [...state.sent, ...before].filter((one) => !one.isIsolated);
  const carried = new Set(reliable.flatMap(({ slots }) => updateKeys(slots)));
  const isNeeded = (key: string): boolean => !state.included.has(key) && !carried.has(key);
  const slots = layOut(entries, ({ key }) => isNeeded(key));
  const reliesOn = new Set(
    entries.flatMap(({ result: { update } }) =>
      update !== undefined && !state.included.has(update.key) && carried.has(update.key) ? [update.key] : [],
    ),
  );
  const updates = slotItems(slots.filter(({ kind }) => kind === "update"));
  const gas = ownGas + state.gas.sum(updates);
  // Use at least the simulated gas, because the gas of the single messages is only estimated. The transaction uses less gas only if
  // a block already includes one of its client updates.
  const gasLimit = maxInt(state.margin.limit(gas, isWhole), simulated + GAS_OF_PAYOUT);
  const messages = toMessages(slots, state.options.submitTypeUrl);
  return { slots, draft: { messages, gasLimit }, gas, isWhole, reliesOn, isIsolated };
}

function updateKeys(slots: readonly Slot[]): readonly string[] {
  return slots.flatMap((slot) => (slot.kind === "update" ? [slot.update.key] : []));
}

/** Divides the gas limit among owners, in proportion to their results' expected gas. */
function gasByOwner(
  state: SubmitterState,
  { slots, draft }: Pick<AdmittedTransaction, "slots" | "draft">,
): ReadonlyMap<string, bigint> {
  const entries = entriesOf(slots);
  const total = gasOf(state, entries);
  const gas = new Map<string, bigint>();
  for (const entry of entries) {
    const { owner } = entry.result.query;
    const share = (draft.gasLimit * gasOf(state, [entry])) / (total > 0n ? total : 1n);
    gas.set(owner, (gas.get(owner) ?? 0n) + share);
  }
  return gas;
}

/** Returns each budgeted rule's share of the fee, in proportion to the expected gas of the rule's urgent results. */
function feeByRule(state: SubmitterState, { entries }: Prepared, fee: bigint): ReadonlyMap<string, bigint> {
  const total = maxInt(gasOf(state, entries), 1n);
  const gas = new Map<string, bigint>();
  for (const entry of entries) {
    const rule = urgentRule(state, entry.result.query);
    if (rule?.daily_fee !== undefined) gas.set(rule.name, (gas.get(rule.name) ?? 0n) + gasOf(state, [entry]));
  }
  return new Map([...gas].map(([rule, part]) => [rule, (fee * part) / total]));
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
  // For a lack of funds, use a lower log level, because the rejection recurs until the account receives coins. The problem
  // "account-cannot-pay" is still logged once.
  state.deps.logger[isLackOfFunds(result.log) ? "debug" : "info"]("the node refused a transaction", {
    results: entries.length,
    reason: result.log,
  });
  applyFailure(state, { failure: result, slots: one.slots, where: "node" });
}
