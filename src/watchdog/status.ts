import type { AlertState, PricesVerdict } from "./conditions/alert-state.ts";
import { ALL_PRICES_MISSING } from "./conditions/alert-state.ts";
import type { BlockCounts } from "./ledger/block-counts.ts";
import { countsOf } from "./ledger/ledger.ts";
import { type Month, monthOf } from "./ledger/month.ts";
import { formatPercent, type SuccessRate, successRate, type Tier, tierOf } from "./policy/reward-tier.ts";
import { type Look, type Observation, type SourceName } from "./sources/poller.ts";
import type { WatchdogState } from "./state/state-store.ts";

/** How one source does. */
export interface SourceStatus {
  readonly name: SourceName;
  readonly up: boolean;
  /** Empty when it is up. */
  readonly problem: string;
  readonly lastGoodMs: number | undefined;
  readonly tookMs: number;
}

/** One month's count. */
export interface MonthStatus {
  readonly month: Month;
  readonly counts: BlockCounts;
  /** Undefined when nothing has been counted. */
  readonly rate: SuccessRate | undefined;
  readonly tier: Tier | undefined;
}

/** What the watchdog knows. */
export interface WatchdogStatus {
  readonly chainId: string | undefined;
  readonly startedAtMs: number;
  /** Undefined before the first look. */
  readonly observedAtMs: number | undefined;
  readonly current: MonthStatus;
  /** All months, newest first. */
  readonly months: readonly MonthStatus[];
  readonly verdict: PricesVerdict | undefined;
  readonly alert: AlertState;
  readonly sources: readonly SourceStatus[];
  readonly pairs: readonly string[];
  readonly waitingNotices: number;
}

/** Last times at which sources were good. */
type LastGood = ReadonlyMap<SourceName, number>;

/** What a status is made of. */
export interface StatusFacts {
  readonly state: WatchdogState;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly lastGood: LastGood;
  readonly seen: Observation | undefined;
  readonly verdict: PricesVerdict | undefined;
}

/** Puts a status together. */
export function toStatus({
  state,
  startedAtMs,
  nowMs,
  lastGood,
  seen,
  verdict,
}: StatusFacts): WatchdogStatus {
  const { ledger, alert, notices } = state;
  const prices = seen?.prices.outcome;
  return {
    chainId: ledger.mark?.chainId,
    startedAtMs,
    observedAtMs: seen?.atMs,
    current: toMonthStatus(monthOf(nowMs), countsOf(ledger, monthOf(nowMs))),
    months: [...ledger.months]
      .toSorted(([a], [b]) => (a < b ? 1 : -1))
      .map(([month, counts]) => toMonthStatus(month, counts)),
    verdict,
    alert,
    sources:
      seen === undefined ? [] : looksOf(seen).map(([name, look]) => toSourceStatus(name, look, lastGood)),
    pairs: prices?.ok === true ? prices.value.pairs : [],
    waitingNotices: notices.length,
  };
}

/** The looks of an observation by source; a source without URL is left out. */
export function looksOf(seen: Observation): readonly (readonly [SourceName, Look<unknown>])[] {
  return [
    ["node", seen.node],
    ["prices", seen.prices],
    ...(seen.oracleMetrics === undefined ? [] : [["oracle-metrics", seen.oracleMetrics] as const]),
    ...(seen.sidecarMetrics === undefined ? [] : [["sidecar-metrics", seen.sidecarMetrics] as const]),
  ];
}

/** The status as the JSON of `GET /api/status`: block counts are numbers, times ISO 8601. */
export function statusJson(status: WatchdogStatus): Readonly<Record<string, unknown>> {
  return {
    chain_id: status.chainId ?? null,
    started_at: isoTime(status.startedAtMs),
    observed_at: isoTime(status.observedAtMs),
    ...monthJson(status.current),
    months: status.months.map(monthJson),
    prices: { state: status.verdict?.kind ?? "unseen", pairs: status.pairs },
    alerts: [alertJson(status.alert)],
    waiting_notices: status.waitingNotices,
    sources: status.sources.map((source) => ({
      name: source.name,
      up: source.up,
      problem: source.problem === "" ? null : source.problem,
      last_good_at: isoTime(source.lastGoodMs),
      took_ms: Math.round(source.tookMs),
    })),
  };
}

function toMonthStatus(month: Month, counts: BlockCounts): MonthStatus {
  const rate = successRate(counts);
  return { month, counts, rate, tier: rate === undefined ? undefined : tierOf(rate) };
}

function toSourceStatus(
  name: SourceName,
  { outcome, tookMs }: Look<unknown>,
  lastGood: LastGood,
): SourceStatus {
  return {
    name,
    up: outcome.ok,
    problem: outcome.ok ? "" : outcome.error.text,
    lastGoodMs: lastGood.get(name),
    tookMs,
  };
}

function monthJson({ month, counts, rate, tier }: MonthStatus): Readonly<Record<string, unknown>> {
  return {
    month,
    success_rate_percent: rate === undefined ? null : formatPercent(rate),
    tier: tier ?? null,
    blocks: { good: Number(counts.good), bad: Number(counts.bad), unknown: Number(counts.unknown) },
  };
}

function alertJson(alert: AlertState): Readonly<Record<string, unknown>> {
  if (alert.phase === "inactive")
    return { name: ALL_PRICES_MISSING, state: "inactive", since: null, reason: null };
  return {
    name: ALL_PRICES_MISSING,
    state: alert.phase,
    since: isoTime(alert.sinceMs),
    reason: alert.reason,
  };
}

function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
