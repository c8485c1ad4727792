import { monthOf, monthStartMs } from "../../platform/base/month.ts";
import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { sumsBy } from "../result/amounts.ts";
import { type CostLedger, type QuerySum, SPANS } from "./cost-ledger.ts";

/** The time windows for costs, as named in JSON, commands and metrics. "month" is the current UTC calendar month. */
export const COST_WINDOWS = ["1h", "24h", "7d", "30d", "month"] as const;

export type CostWindowName = (typeof COST_WINDOWS)[number];

export interface CostWindow {
  readonly name: CostWindowName;
  /** Start of the first stored time span in the window, as Unix time in ms. */
  readonly fromMs: number;
  /** Time from which the window's costs are complete: `fromMs` or the time at which recording began, whichever is later. */
  readonly coveredFromMs: number;
  /** Each query's total cost in the window. */
  readonly queries: readonly QuerySum[];
  /** Total fee in the fee denom's base unit. */
  readonly fee: bigint;
}

/** Returns a window's start and the length of its time spans: five minutes for "1h", an hour for "24h", otherwise a day. */
export function windowStart(
  name: CostWindowName,
  nowMs: number,
): { readonly span: number; readonly fromMs: number } {
  const last = (span: number, count: number) => ({
    span,
    fromMs: Math.floor(nowMs / span) * span - (count - 1) * span,
  });
  switch (name) {
    case "1h":
      return last(SPANS.minutes, HOUR_MS / SPANS.minutes);
    case "24h":
      return last(SPANS.hour, DAY_MS / HOUR_MS);
    case "7d":
      return last(SPANS.day, 7);
    case "30d":
      return last(SPANS.day, 30);
    case "month":
      return { span: SPANS.day, fromMs: monthStartMs(monthOf(nowMs)) };
  }
}

/** Reads all windows. The ledger's costs are complete from `sinceMs` on. */
export async function readWindows(
  ledger: Pick<CostLedger, "byQuery">,
  nowMs: number,
  sinceMs: number | undefined,
): Promise<readonly CostWindow[]> {
  const windows: CostWindow[] = [];
  for (const name of COST_WINDOWS) {
    const { span, fromMs } = windowStart(name, nowMs);
    const queries = await ledger.byQuery(span, fromMs);
    const fee = queries.reduce((sum, one) => sum + one.fee, 0n);
    windows.push({ name, fromMs, coveredFromMs: Math.max(fromMs, sinceMs ?? nowMs), queries, fee });
  }
  return windows;
}

export interface OwnerSum extends Omit<QuerySum, "queryId"> {
  readonly queries: number;
}

/** Sums costs by owner, most expensive first. Costs that belong to no query go to the owner "". */
export function byOwner(queries: readonly QuerySum[]): readonly OwnerSum[] {
  const sums = sumsBy(
    queries,
    ({ owner }) => owner,
    ({ queryId, results, gas, fee, updateFee, failedFee }) => ({
      queries: queryId === 0n ? 0 : 1,
      results,
      gas,
      fee,
      updateFee,
      failedFee,
    }),
  );
  return [...sums].map(([owner, sum]) => ({ owner, ...sum })).toSorted(mostExpensive);
}

/** Compares costs for sorting by descending fee, then by owner. */
export function mostExpensive(
  a: { readonly fee: bigint; readonly owner: string },
  b: { readonly fee: bigint; readonly owner: string },
): number {
  if (a.fee === b.fee) return a.owner < b.owner ? -1 : 1;
  return a.fee > b.fee ? -1 : 1;
}
