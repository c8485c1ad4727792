import type { TxDraft } from "../../cosmos/client/tx/tx-types.ts";
import { feeFor } from "../../cosmos/client/tx/tx-queries.ts";
import type { Dec18 } from "../../platform/base/decimal.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { GAS_OF_PAYOUT } from "./gas-estimates.ts";
import { groupOf, layOut, stop, toMessages } from "./apply-failure.ts";
import type { Entry } from "./pipeline.ts";
import {
  entriesOf,
  gasOf,
  gasOfEntries,
  type Prepared,
  requeue,
  resolve,
  type SentTransaction,
  type Slot,
  slotItems,
  type SubmitterState,
  urgentRule,
} from "./submitter-state.ts";

const GATE_PAUSE_MS = 2_000;

/** A transaction that may be broadcast now. */
export interface AdmittedTransaction extends Omit<SentTransaction, "tx" | "sentAt"> {
  readonly draft: TxDraft;
}

/** Asks the gate for admission. Omits the results of owners that the gate refuses. Returns undefined if nothing may be sent. */
export async function admit(
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
      // These results are no longer urgent, so they wait like the others.
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
  // A transaction with isolated results may fail. No other transaction relies on its client updates, and it relies on none.
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
  const gas = updates.reduce((sum, item) => sum + state.gas.estimate(item), ownGas);
  // The parts of a transaction are estimates. A transaction with all of its client updates uses the simulated gas. It uses less if
  // a block already includes one of the updates.
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

/** Returns the fee for urgent results by rule, in proportion to their expected gas. Contains only rules with their own budget. */
function feeByRule(state: SubmitterState, { entries }: Prepared, fee: bigint): ReadonlyMap<string, bigint> {
  const total = maxInt(gasOf(state, entries), 1n);
  const gas = new Map<string, bigint>();
  for (const entry of entries) {
    const rule = urgentRule(state, entry.result.query);
    if (rule?.daily_fee !== undefined) gas.set(rule.name, (gas.get(rule.name) ?? 0n) + gasOf(state, [entry]));
  }
  return new Map([...gas].map(([rule, part]) => [rule, (fee * part) / total]));
}

export function cutTo(state: SubmitterState, prepared: Prepared, entries: readonly Entry[]): Prepared {
  if (entries.length === prepared.entries.length) return prepared;
  const gas = gasOfEntries(state, entries);
  return { entries, gas, simulated: prepared.simulated - prepared.gas + gas, isWhole: false };
}
