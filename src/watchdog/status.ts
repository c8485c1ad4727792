import { type AlertStatus, alertStatuses } from "./api/alert-json.ts";
import type { AlertRule } from "./conditions/condition.ts";
import type { BlockCounts } from "./ledger/block-counts.ts";
import { countsOf } from "./ledger/ledger.ts";
import { type Month, monthOf } from "./ledger/month.ts";
import type { Delivery } from "./notify/outbox.ts";
import { formatPercent, type SuccessRate, successRate, type Tier, tierOf } from "./policy/reward-tier.ts";
import { VALIDATOR } from "./poll-observation.ts";
import { type Poll, type Scrape, scrapesOf, type SourceName } from "./sources/poller.ts";
import type { WatchdogState } from "./state/state-store.ts";

/** State of one source at the last poll. */
export interface SourceStatus {
  readonly name: SourceName;
  /** The last scrape succeeded. */
  readonly up: boolean;
  /** Empty when the source is up. */
  readonly error: string;
  /** Undefined when no scrape of this process has succeeded. */
  readonly lastSuccessMs: number | undefined;
  readonly durationMs: number;
}

/** Block counts of one month, and what follows from them. */
export interface MonthStatus {
  readonly month: Month;
  readonly counts: BlockCounts;
  /** Undefined when no block is counted. */
  readonly rate: SuccessRate | undefined;
  readonly tier: Tier | undefined;
}

/** Whether the sidecar has prices. "unknown": the watchdog cannot read them. */
type PricesState = "present" | "missing" | "unknown";

/** Everything that the API, the page and the metrics show. */
export interface WatchdogStatus {
  /** Undefined before the first reading of the node. */
  readonly chainId: string | undefined;
  readonly startedAtMs: number;
  /** End of the last poll; undefined before the first one. */
  readonly polledAtMs: number | undefined;
  readonly current: MonthStatus;
  /** All months with blocks, newest first. */
  readonly months: readonly MonthStatus[];
  readonly prices: PricesState;
  /** Pairs that have a price, sorted. Empty when the last scrape of the prices failed. */
  readonly pairs: readonly string[];
  /** All alerts, also inactive ones. */
  readonly alerts: readonly AlertStatus[];
  /** Empty before the first poll. */
  readonly sources: readonly SourceStatus[];
  /** Deliveries that are not accepted yet, by channel. */
  readonly pending: ReadonlyMap<string, number>;
  /** Silences that have begun and not ended. */
  readonly activeSilences: number;
}

export interface StatusInput {
  readonly state: WatchdogState;
  readonly rules: readonly AlertRule[];
  /** Names of all channels that have an outbox. */
  readonly channels: readonly string[];
  readonly startedAtMs: number;
  readonly nowMs: number;
  /** Time of the last successful scrape by source. */
  readonly lastSuccessMs: ReadonlyMap<SourceName, number>;
  /** The last poll and its evaluation; undefined before the first poll. */
  readonly last: { readonly poll: Poll } | undefined;
}

export function toStatus(input: StatusInput): WatchdogStatus {
  const { state, rules, channels, startedAtMs, nowMs, lastSuccessMs, last } = input;
  const { ledger, alerting } = state;
  const prices = last?.poll.prices.outcome;
  const scrapes = last === undefined ? [] : scrapesOf(last.poll);
  const month = monthOf(nowMs);
  return {
    chainId: ledger.baseline?.chainId,
    startedAtMs,
    polledAtMs: last?.poll.atMs,
    current: toMonthStatus(month, countsOf(ledger, month)),
    months: [...ledger.months]
      .toSorted(([a], [b]) => (a < b ? 1 : -1))
      .map(([name, counts]) => toMonthStatus(name, counts)),
    prices: pricesState(prices),
    pairs: prices?.ok === true ? prices.value.pairs : [],
    alerts: alertStatuses(alerting.alerts, rules, [VALIDATOR]),
    sources: scrapes.map(([name, scrape]) => toSourceStatus(name, scrape, lastSuccessMs.get(name))),
    pending: countByChannel(alerting.outbox, channels),
    activeSilences: alerting.silences.filter(
      ({ startsAtMs, endsAtMs }) => startsAtMs <= nowMs && nowMs < endsAtMs,
    ).length,
  };
}

/** Encodes the status as the JSON of `GET /api/status`. Block counts are numbers, times are ISO 8601. */
export function statusJson(status: WatchdogStatus): Readonly<Record<string, unknown>> {
  return {
    chain_id: status.chainId ?? null,
    started_at: isoTime(status.startedAtMs),
    polled_at: isoTime(status.polledAtMs),
    ...monthJson(status.current),
    months: status.months.map(monthJson),
    prices: { state: status.prices, pairs: status.pairs },
    alerts: status.alerts.map(alertJson),
    pending_notifications: [...status.pending.values()].reduce((sum, count) => sum + count, 0),
    sources: status.sources.map((source) => ({
      name: source.name,
      up: source.up,
      error: source.error === "" ? null : source.error,
      last_success_at: isoTime(source.lastSuccessMs),
      duration_ms: Math.round(source.durationMs),
    })),
  };
}

function toMonthStatus(month: Month, counts: BlockCounts): MonthStatus {
  const rate = successRate(counts);
  return { month, counts, rate, tier: rate === undefined ? undefined : tierOf(rate) };
}

function toSourceStatus(
  name: SourceName,
  { outcome, durationMs }: Scrape<unknown>,
  lastSuccessMs: number | undefined,
): SourceStatus {
  return { name, up: outcome.ok, error: outcome.ok ? "" : outcome.error.text, lastSuccessMs, durationMs };
}

function monthJson({ month, counts, rate, tier }: MonthStatus): Readonly<Record<string, unknown>> {
  return {
    month,
    success_rate_percent: rate === undefined ? null : formatPercent(rate),
    tier: tier ?? null,
    blocks: { good: Number(counts.good), bad: Number(counts.bad), unknown: Number(counts.unknown) },
  };
}

/** The short form of an alert; `GET /api/alerts` has all of it. */
function alertJson({ validator, rule, state }: AlertStatus): Readonly<Record<string, unknown>> {
  return {
    name: rule.condition.name,
    validator,
    severity: rule.severity,
    state: state?.phase ?? "inactive",
    since: isoTime(state?.sinceMs),
    reason: state?.reason ?? null,
    quiet: state?.quietReason ?? null,
  };
}

function pricesState(outcome: Poll["prices"]["outcome"] | undefined): PricesState {
  if (outcome?.ok !== true) return "unknown";
  return outcome.value.pairs.length > 0 ? "present" : "missing";
}

function countByChannel(
  outbox: readonly Delivery[],
  channels: readonly string[],
): ReadonlyMap<string, number> {
  return new Map(channels.map((name) => [name, outbox.filter(({ channel }) => channel === name).length]));
}

function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
