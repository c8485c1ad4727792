import { type EndpointState, type Observation, readingOf } from "../sources/observation.ts";
import { type Month, monthOf } from "../../platform/base/month.ts";
import { type AlertStatus, alertStatuses } from "../alerts/alert-status.ts";
import type { AlertRule } from "../conditions/condition.ts";
import { type BlockCounts, type MonthRecord, NO_BLOCKS } from "../ledger/ledger-view.ts";
import { EMPTY_LEDGER } from "../ledger/ledger.ts";
import { deadLetters, pendingDeliveries } from "../alerts/outbox.ts";
import type { Assessment } from "../policy/assessment.ts";
import { successRate, type SuccessRate, type Tier, tierOf } from "../policy/reward-tier.ts";
import type { ComparedPrices } from "../policy/price-comparison.ts";
import type { Payment } from "../sources/payment-result.ts";
import type { UpgradeCountdown } from "../policy/upgrade-countdown.ts";
import type { Standing } from "../policy/standing.ts";
import type { SourceName } from "../sources/targets.ts";
import type { WatchdogState } from "../state/state-store.ts";
import type { SeenSource } from "../sources/seen-sources.ts";
import type { Evaluation } from "./evaluation.ts";
import type { ValidatorConfig } from "../policy/policy-config.ts";
import { isActive } from "../alerts/silence.ts";

/** State of one source as of the last poll. */
export interface SourceStatus {
  readonly name: SourceName;
  /** Name of the node; undefined for chain sources. */
  readonly node: string | undefined;
  /** True if the last scrape succeeded, even if the chain lacks the module. */
  readonly up: boolean;
  /** True if the chain lacks the module. */
  readonly isAbsent?: true;
  /** The last scrape's error; empty if the scrape succeeded. */
  readonly error: string;
  /** When a scrape last succeeded; undefined if no scrape in this process has succeeded. */
  readonly lastSuccessMs: number | undefined;
  readonly durationMs: number;
  /** The source's URLs in order of preference; absent if there is only one URL. */
  readonly endpoints?: readonly EndpointState[];
}

/** One month's block counts, with the resulting rate and tier. */
export interface MonthStatus {
  readonly month: Month;
  readonly counts: BlockCounts;
  /** The part of `counts` for blocks from before the first reading, whose times are estimated. */
  readonly estimated: BlockCounts;
  /** The part of `counts` that was read from Prometheus after a gap; absent if nothing was read. */
  readonly backfilled?: BlockCounts;
  /** The month's success rate; undefined until a block has been counted. */
  readonly rate: SuccessRate | undefined;
  readonly tier: Tier | undefined;
  /** Hash of the finalized month; undefined while the month can still change. */
  readonly hash: string | undefined;
}

/** One validator's data for the API, the page and the metrics. */
export interface WatchdogStatus {
  readonly validator: string;
  /** The id of the validator's chain; undefined before a node's first reading. */
  readonly chainId: string | undefined;
  readonly startedAtMs: number;
  /** When the last poll ended; undefined before the first poll. */
  readonly polledAtMs: number | undefined;
  /** How late the last poll started compared with its schedule, in ms. */
  readonly lateMs?: number;
  /** Why this machine's clock is not trusted; undefined while it is trusted. */
  readonly clockProblem?: string | undefined;
  readonly current: MonthStatus;
  /** All months that have blocks, newest first. */
  readonly months: readonly MonthStatus[];
  /** The current month's assessment; undefined before the first poll. */
  readonly assessment: Assessment | undefined;
  /** The validator's jail state, signing window and comparisons at the last poll; absent if the chain is not read. */
  readonly standing?: Standing;
  /** "present" if any sidecar has prices; "unknown" if the watchdog cannot read the prices. */
  readonly prices: "present" | "missing" | "unknown";
  /** Pairs for which any node's sidecar has a price, sorted; empty if the last poll could not read the prices. */
  readonly pairs: readonly string[];
  /** The sidecars' prices at the last poll, compared with the chain's and with each other; absent before the first poll. */
  readonly compared?: ComparedPrices;
  /** The chain's planned upgrade; absent if no upgrade is known. */
  readonly upgrade?: UpgradeCountdown;
  /** Payments for closed months, oldest first; absent if no search for payments was made. */
  readonly payments?: readonly Payment[];
  /** The states of all enabled alerts, including inactive alerts. */
  readonly alerts: readonly AlertStatus[];
  /** The states of all configured sources; empty before the first poll. */
  readonly sources: readonly SourceStatus[];
  /** Number of pending deliveries by channel, for all validators together. */
  readonly pending: ReadonlyMap<string, number>;
  /** Number of dead letters by channel, for all validators together. */
  readonly deadLetters: ReadonlyMap<string, number>;
  /** Number of silences in effect at the time of the poll. */
  readonly activeSilences: number;
  /** Since when and why state cannot be stored (for all validators alike); undefined while storing works. */
  readonly storeProblem?: string | undefined;
}

export interface StatusInput {
  readonly validator: ValidatorConfig;
  readonly state: WatchdogState;
  readonly rules: readonly AlertRule[];
  /** Names of all channels that have an outbox. */
  readonly channels: readonly string[];
  readonly startedAtMs: number;
  readonly nowMs: number;
  /** Time of the last successful scrape, by {@link sourceKey}. */
  readonly lastSuccessMs: ReadonlyMap<string, number>;
  /** The last evaluation; undefined before the first poll. */
  readonly last: Evaluation | undefined;
  readonly storeProblem?: string | undefined;
  readonly lateMs?: number;
}

/** Returns a key that identifies one of a validator's sources. */
export function sourceKey({ source, node = "" }: Pick<SeenSource, "source" | "node">): string {
  return `${node}/${source}`;
}

export function toStatus(input: StatusInput): WatchdogStatus {
  const { state, rules, channels, startedAtMs, nowMs, lastSuccessMs, last, validator } = input;
  const { alerting } = state;
  const { name } = validator.target;
  const ledger = state.ledgers.get(name) ?? EMPTY_LEDGER;
  const payments = state.payments?.get(name);
  const dead = deadLetters(alerting.outbox);
  const { months } = ledger.sources.calls.rollups;
  const month = monthOf(nowMs);
  const toMonth = (of: Month): MonthStatus => toMonthStatus(of, months.get(of));
  return {
    validator: name,
    chainId: ledger.chainId,
    startedAtMs,
    polledAtMs: last?.observation.atMs,
    lateMs: input.lateMs ?? 0,
    clockProblem: last?.observation.clock?.problem || undefined,
    current: toMonth(month),
    months: [...months.keys()].toSorted((a, b) => (a < b ? 1 : -1)).map(toMonth),
    assessment: last?.assessment,
    ...(last?.standing === undefined ? {} : { standing: last.standing }),
    ...pricesOf(last),
    ...(last === undefined ? {} : { compared: last.compared }),
    ...(last?.upgrade === undefined ? {} : { upgrade: last.upgrade }),
    ...(payments === undefined ? {} : { payments }),
    alerts: alertStatuses(alerting.alerts, rules, [name]),
    sources:
      last?.sources.map((source) => toSourceStatus(source, lastSuccessMs, last.observation.endpoints)) ?? [],
    pending: new Map(channels.map((own) => [own, pendingDeliveries(alerting.outbox, own).length])),
    deadLetters: new Map(channels.map((own) => [own, dead.filter(({ channel }) => channel === own).length])),
    activeSilences: alerting.silences.filter((silence) => isActive(silence, nowMs)).length,
    storeProblem: input.storeProblem,
  };
}

function pricesOf(last: Evaluation | undefined): Pick<WatchdogStatus, "prices" | "pairs"> {
  const readings = (last?.observation.nodes ?? []).flatMap(({ prices }) => readingOf(prices) ?? []);
  const pairs = [...new Set(readings.flatMap((reading) => reading.pairs))].toSorted();
  if (readings.length === 0) return { prices: "unknown", pairs };
  return { prices: pairs.length > 0 ? "present" : "missing", pairs };
}

function toMonthStatus(month: Month, record: Partial<MonthRecord> = {}): MonthStatus {
  const { counts = NO_BLOCKS, estimated = NO_BLOCKS, backfilled, finalized } = record;
  const rate = successRate(counts);
  return {
    month,
    counts,
    estimated,
    ...(backfilled === undefined ? {} : { backfilled }),
    rate,
    tier: rate && tierOf(rate),
    hash: finalized?.hash,
  };
}

function toSourceStatus(
  source: SeenSource,
  lastSuccessMs: ReadonlyMap<string, number>,
  endpoints: Observation["endpoints"] = [],
): SourceStatus {
  const { seen } = source;
  const own = endpoints.find((one) => one.source === source.source && one.node === source.node)?.endpoints;
  return {
    name: source.source,
    node: source.node,
    up: seen.state !== "error",
    error: seen.state === "error" ? seen.failure.text : "",
    ...(seen.state === "absent" ? { isAbsent: true } : {}),
    lastSuccessMs: lastSuccessMs.get(sourceKey(source)),
    durationMs: seen.durationMs,
    ...(own === undefined ? {} : { endpoints: own }),
  };
}
