import { type Entry, type ExpectedEntry, isProven } from "./pipeline.ts";
import { ascending } from "../../platform/base/order.ts";
import { GAS_PER_CLIENT_UPDATE, GAS_PER_TRANSACTION } from "../result/proven-result.ts";

export interface BatchLimits {
  readonly gas: bigint;
  /** Total encoded size of a transaction's messages, in bytes. */
  readonly bytes: number;
  readonly results: number;
}

export interface PlanOptions {
  readonly limits: BatchLimits;
  /** Maximum gas and bytes of all planned transactions together. */
  readonly capacity: { readonly gas: bigint; readonly bytes: number };
  readonly gasOf: (entry: Entry | ExpectedEntry) => bigint;
  /** Entries in different groups are sent in different transactions. */
  readonly groupOf: (entry: Entry) => string;
}

/**
 * Packs entries into transactions of about equal size. `entries` must be in order of need. Entries beyond the capacity are omitted.
 *
 * - A result that is still being read takes up capacity but is not put into a transaction. Without this reserved capacity, a faster
 *   connection's results would be sent before results that have been due longer.
 * - A transaction contains at most one result of a KV query.
 * - All planned results of a TX query are in one transaction. The query's other results follow once the transaction is included.
 * - An entry that alone exceeds a limit gets its own transaction.
 */
export function planTransactions(
  entries: readonly (Entry | ExpectedEntry)[],
  options: PlanOptions,
): readonly (readonly Entry[])[] {
  const groups = new Map<string, Entry[]>();
  const fitting = withinCapacity(entries, options);
  for (const entry of fitting) {
    if (!isProven(entry)) continue;
    const name = options.groupOf(entry);
    const group = groups.get(name) ?? [];
    group.push(entry);
    groups.set(name, group);
  }
  // A truncated plan may still be too large for the block, so the first transactions must contain the longest-due results.
  const isCut = fitting.length < entries.length;
  const planned = [...groups.values()].flatMap((group) =>
    isCut
      ? splitEvenly(group, options).map((transaction) => transaction.toSorted(byConnection))
      : splitEvenly(group.toSorted(byConnection), options),
  );
  return oneTransactionPerQuery(planned);
}

/** Returns the longest prefix that fits the capacity together with its transactions' fixed gas, but at least one entry. */
function withinCapacity(
  entries: readonly (Entry | ExpectedEntry)[],
  options: PlanOptions,
): readonly (Entry | ExpectedEntry)[] {
  const { capacity, gasOf } = options;
  const capacityGas = (capacity.gas * PLANNED_PERCENT) / 100n;
  const updates = new Set<string>();
  let gas = 0n;
  let bytes = 0;
  let weight = 0;
  const end = entries.findIndex((entry, index) => {
    gas += gasOf(entry);
    if (isProven(entry)) {
      bytes += entry.result.message.length;
      if (entry.result.update !== undefined) updates.add(entry.result.update.key);
    }
    weight += weightOf(entry, options);
    const fixed = fixedGas(weight, updates.size);
    return index > 0 && (gas + fixed > capacityGas || bytes > capacity.bytes);
  });
  return end < 0 ? entries : entries.slice(0, end);
}

/**
 * Percentage of the capacity that a plan uses. Simulations may report slightly more gas than expected, and a transaction that
 * then no longer fits would wait for the next block.
 */
const PLANNED_PERCENT = 99n;

/**
 * Returns the gas of transactions and client updates, excluding results. Each transaction has fixed gas, and each connection needs
 * at least one client update per block.
 */
function fixedGas(weight: number, updates: number): bigint {
  return (
    GAS_PER_TRANSACTION * BigInt(Math.ceil(weight)) + GAS_PER_CLIENT_UPDATE * BigInt(Math.max(1, updates))
  );
}

/** Returns the capacity at which a plan includes all of these entries, with at most this number of client updates. */
export function capacityFor(
  entries: readonly (Entry | ExpectedEntry)[],
  updates: number,
  options: Pick<PlanOptions, "limits" | "gasOf">,
): bigint {
  const gas = entries.reduce((sum, entry) => sum + options.gasOf(entry), 0n);
  const weight = entries.reduce((sum, entry) => sum + weightOf(entry, options), 0);
  return ((gas + fixedGas(weight, updates)) * 100n) / PLANNED_PERCENT + 1n;
}

/** Sorts results so that results with the same client update are adjacent. The sort is stable, so TX results keep their order. */
function byConnection({ result: a }: Entry, { result: b }: Entry): number {
  return (
    ascending(a.query.connectionId, b.query.connectionId) ||
    ascending(a.update?.key ?? "", b.update?.key ?? "")
  );
}

/**
 * Splits entries, in order, into transactions of about equal size. The transactions are broadcast concurrently, so a small last
 * transaction would arrive first, and the node would refuse its sequence.
 */
function splitEvenly(entries: readonly Entry[], options: PlanOptions): readonly (readonly Entry[])[] {
  const weights = entries.map((entry) => weightOf(entry, options));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const target = total / Math.max(1, Math.ceil(total));
  const transactions: Entry[][] = [];
  let open: Entry[] = [];
  let filled = 0;
  for (const [index, entry] of entries.entries()) {
    const weight = weights[index] ?? 0;
    if (open.length > 0 && (filled + weight > 1 || filled + weight / 2 > target)) {
      transactions.push(open);
      [open, filled] = [[], 0];
    }
    open.push(entry);
    filled += weight;
  }
  return open.length > 0 ? [...transactions, open] : transactions;
}

/** Returns the fraction of a transaction that an entry takes up, in terms of the scarcest limit. */
function weightOf(
  entry: Entry | ExpectedEntry,
  { limits, gasOf }: Pick<PlanOptions, "limits" | "gasOf">,
): number {
  const gas = limits.gas - GAS_PER_TRANSACTION - GAS_PER_CLIENT_UPDATE;
  return Math.max(
    Number(gasOf(entry)) / Math.max(1, Number(gas)),
    isProven(entry) ? entry.result.message.length / limits.bytes : 0,
    1 / limits.results,
  );
}

/**
 * Keeps each TX query's results in one transaction, because in separate transactions, the first result could fail while later
 * results are included.
 */
function oneTransactionPerQuery(planned: readonly (readonly Entry[])[]): readonly (readonly Entry[])[] {
  const seen = new Set<bigint>();
  return planned
    .map((entries) => {
      const fresh = entries.filter(({ result }) => !seen.has(result.query.id));
      for (const { result } of fresh) seen.add(result.query.id);
      return fresh;
    })
    .filter((entries) => entries.length > 0);
}
