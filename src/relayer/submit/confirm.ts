import type { FinalTx } from "../../cosmos/client/tx/tx-types.ts";
import { applyFailure, attributeError, failureText, isOutOfGas } from "./apply-failure.ts";
import type { Entry } from "./pipeline.ts";
import { entriesOf, gasItem, type SentTransaction, type Slot, slotItems, updateItem } from "./transaction.ts";
import { type PaidShare, recordReach, requeue, resolve, type SubmitterState } from "./submitter-state.ts";
import { minInt } from "../../platform/base/integers.ts";
import { upperHex } from "../../platform/base/bytes.ts";
import { GAS_PER_TRANSACTION } from "../result/proven-result.ts";
import { isPaid } from "../result/submit-gate.ts";

/** Maximum number of included client updates that are remembered. A result needs only an update from the last few heights. */
const MAX_INCLUDED = 1_000;

/** Asks the node which transactions in flight are final and resolves their results. Throws the same errors as `TxWindow.confirm`. */
export async function confirm(state: SubmitterState, signal: AbortSignal): Promise<void> {
  const finals = await state.deps.window.confirm(state.deps.height.now(), signal);
  for (const final of finals) {
    const sent = state.sent.find(({ tx }) => tx === final.tx);
    if (sent === undefined) {
      // This transaction contains client updates from the upkeep (`ClientRefresh`), which no longer waits for the outcome.
      recordPayment(state, [], final);
      continue;
    }
    state.sent = state.sent.filter((other) => other !== sent);
    if (final.confirmation.kind !== "lost") recordReach(state, true);
    const { kind } = final.confirmation;
    state.deps.metrics.transactions.inc({ outcome: kind === "lost" ? "not-included" : kind });
    recordFinal(state, sent, final);
  }
  if (finals.length > 0) state.deps.height.wake();
}

/** Records the height up to which all of the relayer's transactions in blocks are known. */
export function recordComplete({ sent, market, deps }: SubmitterState): void {
  market.recordComplete(sent.reduce((least, { sentAt }) => minInt(least, sentAt), deps.height.now()));
}

function recordFinal(state: SubmitterState, sent: SentTransaction, { tx, confirmation }: FinalTx): void {
  const { logger, metrics } = state.deps;
  if (isPaid(confirmation)) {
    countFees(state, sent);
    state.market.recordOwn(confirmation.height, confirmation.gasUsed, sent.tx.feeAmount);
    recordPayment(state, sent.slots, { tx, confirmation });
  }
  // After an uncertain loss, a later block may still include the transaction, so its fee still counts toward the daily limit.
  else if (confirmation.kind !== "lost" || confirmation.isUncertain !== true) sent.release();
  if (confirmation.kind === "included") return recordIncluded(state, sent, confirmation);
  const entries = entriesOf(sent.slots);
  const found = confirmation.kind === "failed" ? attributeError(confirmation, sent.slots) : undefined;
  for (const entry of entries)
    if (found?.kind !== "redundant" || found.entry !== entry)
      metrics.results.inc({ connection_id: entry.result.query.connectionId, outcome: "not-included" });
  const fields = { results: entries.length, hash: upperHex(tx.hash) };
  if (confirmation.kind === "lost") {
    logger.warn("transaction was in no block, its results are sent again", {
      ...fields,
      reason: confirmation.reason,
    });
    return requeue(state, entries);
  }
  const reason = failureText(confirmation);
  if (isOutOfGas(confirmation)) state.margin.learn(sent.gas, sent.isWhole, undefined);
  logger[found?.kind === "redundant" ? "debug" : "warn"]("transaction failed in its block", {
    ...fields,
    localHeight: confirmation.height,
    reason,
  });
  // No result caused this failure, because the consensus state that the transaction relied on does not exist.
  if ([...sent.reliesOn].some((key) => !state.included.has(key))) return requeue(state, entries);
  const paid = isPaid(confirmation) ? { paid: sharesOf(state, sent, confirmation.gasUsed) } : {};
  applyFailure(state, { failure: confirmation, slots: sent.slots, where: "block", ...paid });
}

/** Passes a paid transaction to the cost ledger, with the expected gas of each result and client update. */
function recordPayment(state: SubmitterState, slots: readonly Slot[], { tx, confirmation }: FinalTx): void {
  const { payments } = state.deps;
  if (payments === undefined || !isPaid(confirmation)) return;
  payments.record({
    hash: upperHex(tx.hash),
    height: confirmation.height,
    fee: tx.feeAmount,
    gasUsed: confirmation.gasUsed,
    isFailed: confirmation.kind === "failed",
    results: entriesOf(slots).map((entry) => {
      const { id, owner, connectionId } = entry.result.query;
      return { queryId: id, owner, connectionId, gas: state.gas.estimate(gasItem(entry)) };
    }),
    updates: slots.flatMap((slot) =>
      slot.kind === "update"
        ? [{ connectionId: slot.update.connectionId, gas: state.gas.estimate(updateItem(slot.update)) }]
        : [],
    ),
  });
}

function recordIncluded(
  state: SubmitterState,
  sent: SentTransaction,
  { height, gasUsed }: { readonly height: bigint; readonly gasUsed: bigint },
): void {
  const { slots, tx } = sent;
  const paid = sharesOf(state, sent, gasUsed);
  state.gas.learn(slotItems(slots), gasUsed - GAS_PER_TRANSACTION);
  state.margin.learn(sent.gas, sent.isWhole, gasUsed);
  state.block.grow();
  state.batch.grow();
  for (const slot of slots) if (slot.kind === "update") recordUpdate(state, slot);
  countConnections(state, sent, gasUsed);
  state.deps.logger.debug("results included", {
    results: entriesOf(slots).length,
    localHeight: height,
    gasUsed,
    bytes: tx.size,
  });
  for (const entry of entriesOf(slots)) {
    const { query, dueHeight } = entry.result;
    state.queries.isolated.delete(query.id);
    const labels = { connection_id: query.connectionId };
    state.deps.metrics.results.inc({ ...labels, outcome: "included" });
    state.deps.metrics.lastIncluded.set(labels, state.deps.clock.nowMs() / 1_000);
    state.deps.metrics.lateBlocks.observe(labels, Math.max(0, Number(height - dueHeight)));
    resolve(state, entry, { kind: "included", height }, paid(entry));
  }
}

function recordUpdate(state: SubmitterState, { update }: Extract<Slot, { readonly kind: "update" }>): void {
  state.included.add(update.key);
  state.deps.metrics.clientUpdates.inc({ connection_id: update.connectionId });
  if (state.included.size <= MAX_INCLUDED) return;
  for (const oldest of state.included) {
    state.included.delete(oldest);
    break;
  }
}

/**
 * Returns each result's share of its transaction's cost, in proportion to its expected gas. The shares are computed together, so
 * that they add up to the cost even if the estimates change later.
 */
function sharesOf(
  state: SubmitterState,
  { slots, tx }: SentTransaction,
  gasUsed: bigint,
): (entry: Entry) => PaidShare {
  const parts = new Map(entriesOf(slots).map((entry) => [entry, state.gas.estimate(gasItem(entry))]));
  const total = [...parts.values()].reduce((sum, part) => sum + part, 0n);
  const txHash = upperHex(tx.hash);
  return (entry) => {
    const part = parts.get(entry) ?? 0n;
    const divisor = total > 0n ? total : 1n;
    return { txHash, gas: (gasUsed * part) / divisor, fee: (tx.feeAmount * part) / divisor };
  };
}

/** Returns the number of each connection's results in a transaction, and their share of all results. */
function byConnection({ slots }: SentTransaction): readonly {
  readonly connection_id: string;
  readonly count: number;
  readonly share: number;
}[] {
  const entries = entriesOf(slots);
  const counts = new Map<string, number>();
  for (const { result } of entries)
    counts.set(result.query.connectionId, (counts.get(result.query.connectionId) ?? 0) + 1);
  return [...counts].map(([connection_id, count]) => ({
    connection_id,
    count,
    share: count / entries.length,
  }));
}

/** Counts the whole fee, which the chain charges even if a transaction fails in its block. */
function countFees({ deps: { metrics } }: SubmitterState, sent: SentTransaction): void {
  for (const { connection_id, share } of byConnection(sent))
    metrics.fees.inc({ connection_id }, Number(sent.tx.feeAmount) * share);
}

function countConnections(
  { deps: { metrics } }: SubmitterState,
  sent: SentTransaction,
  gasUsed: bigint,
): void {
  for (const { connection_id, count, share } of byConnection(sent)) {
    metrics.batchSize.observe({ connection_id }, count);
    metrics.gasUsed.inc({ connection_id }, Number(gasUsed) * share);
    metrics.txBytes.inc({ connection_id }, sent.tx.size * share);
  }
}
