import { isoTimeOrNull } from "../../platform/base/time.ts";
import { type Month, monthOf } from "../../platform/base/month.ts";
import { type AlertStatus, alertStatuses } from "../alerts/alert-status.ts";
import type { AlertRule } from "../conditions/condition.ts";
import { EMPTY_HISTORY } from "../conditions/poll-history.ts";
import { type BlockCounts, NO_BLOCKS } from "../ledger/block-counts.ts";
import type { MonthRecord } from "../ledger/ledger-view.ts";
import { EMPTY_LEDGER } from "../ledger/ledger.ts";
import { deadLetters, pendingDeliveries } from "../alerts/outbox.ts";
import type { Assessment, Forecast, Headroom } from "../policy/assessment.ts";
import { formatPercent, successRate, type SuccessRate, type Tier, tierOf } from "../policy/reward-tier.ts";
import {
  compareAll,
  comparisonsJson,
  type ComparedPrices,
  DEFAULT_MAX_AGE_MS,
} from "../policy/price-comparison.ts";
import { paymentJson } from "../policy/payment-texts.ts";
import type { Payment } from "../sources/payment-result.ts";
import {
  countdownJson,
  countdownTo,
  headSeenMs,
  type UpgradeCountdown,
} from "../policy/upgrade-countdown.ts";
import { type Standing, standingOf } from "../policy/standing.ts";
import { standingJson } from "../policy/standing-json.ts";
import type { EndpointState, Observation } from "../sources/observation.ts";
import type { SourceName } from "../sources/targets.ts";
import type { WatchdogState } from "../state/state-store.ts";
import type { Evaluation } from "./evaluation.ts";
import { type SeenSource, seenSources } from "./poller.ts";
import type { ValidatorConfig } from "../policy/policy-config.ts";

/** State of one source as of the last poll. */
export interface SourceStatus {
  readonly name: SourceName;
  /** Name of the node. Undefined for chain sources. */
  readonly node: string | undefined;
  /** True if the last scrape succeeded, even if it showed that the chain has no such module. */
  readonly up: boolean;
  /** True if the chain has no such module. */
  readonly isAbsent?: true;
  /** Empty if the source is up. */
  readonly error: string;
  /** Undefined if no scrape in this process has succeeded. */
  readonly lastSuccessMs: number | undefined;
  readonly durationMs: number;
  /** The source's URLs in order of preference. Absent if there is only one. */
  readonly endpoints?: readonly EndpointState[];
}

/** Counts of one month's blocks, and what follows from them. */
export interface MonthStatus {
  readonly month: Month;
  readonly counts: BlockCounts;
  /** The part of `counts` for which the month is an estimate. */
  readonly estimated: BlockCounts;
  /** The part of `counts` that was read from Prometheus after a gap. Absent if there is none. */
  readonly backfilled?: BlockCounts;
  /** Undefined until a block has been counted. */
  readonly rate: SuccessRate | undefined;
  readonly tier: Tier | undefined;
  /** Undefined while the month can still change. */
  readonly hash: string | undefined;
}

/** Everything that the API, the page and the metrics show about one validator. */
export interface WatchdogStatus {
  readonly validator: string;
  /** Undefined before a node's first reading. */
  readonly chainId: string | undefined;
  readonly startedAtMs: number;
  /** End of the last poll; undefined before the first one. */
  readonly polledAtMs: number | undefined;
  /** How late the last poll started compared with its schedule, in ms. */
  readonly lateMs?: number;
  /** Why this machine's clock is not trusted; undefined while it is. */
  readonly clockProblem?: string | undefined;
  readonly current: MonthStatus;
  /** All months that have blocks, newest first. */
  readonly months: readonly MonthStatus[];
  /** Undefined before the first poll. */
  readonly assessment: Assessment | undefined;
  /** As of the last poll. Absent if the chain is not read. */
  readonly standing?: Standing;
  /** Whether any sidecar has prices. "unknown" means that the watchdog cannot read them. */
  readonly prices: "present" | "missing" | "unknown";
  /** Pairs that have a price on any node, sorted. Empty if the last attempt to scrape the prices failed. */
  readonly pairs: readonly string[];
  /** The sidecars' prices compared with the chain's and with each other, as of the last poll. Absent before the first poll. */
  readonly compared?: ComparedPrices;
  /** The chain's planned upgrade. Absent if none is known. */
  readonly upgrade?: UpgradeCountdown;
  /** Payments for closed months, oldest first. Absent if no search for payments was made. */
  readonly payments?: readonly Payment[];
  /** All alerts, including inactive ones. */
  readonly alerts: readonly AlertStatus[];
  /** Empty before the first poll. */
  readonly sources: readonly SourceStatus[];
  /** Number of deliveries not accepted yet, by channel, for all validators. */
  readonly pending: ReadonlyMap<string, number>;
  /** Number of deliveries no longer attempted, by channel, for all validators. */
  readonly deadLetters: ReadonlyMap<string, number>;
  /** Number of silences currently in effect. */
  readonly activeSilences: number;
  /** Since when and why the state of all validators cannot be stored; undefined while storing works. */
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
  readonly last: LastPoll | undefined;
  /** Pairs compared between sidecars, in addition to the chain's pairs. */
  readonly majorPairs?: readonly string[];
  readonly storeProblem?: string | undefined;
  readonly lateMs?: number;
}

type LastPoll = Pick<Evaluation, "observation" | "assessment"> &
  Partial<Pick<Evaluation, "peers" | "blockTime">>;

/** Identifies one of a validator's sources. */
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
    ...standingAt(last),
    ...pricesOf(last),
    ...(last === undefined ? {} : { compared: comparedOf(input, last) }),
    ...upgradeOf(input),
    ...(payments === undefined ? {} : { payments }),
    alerts: alertStatuses(alerting.alerts, rules, [name]),
    sources:
      last === undefined
        ? []
        : seenSources(last.observation).map((seen) => toSourceStatus(seen, lastSuccessMs, last.observation)),
    pending: new Map(channels.map((own) => [own, pendingDeliveries(alerting.outbox, own).length])),
    deadLetters: new Map(channels.map((own) => [own, dead.filter(({ channel }) => channel === own).length])),
    activeSilences: alerting.silences.filter(
      ({ startsAtMs, endsAtMs }) => startsAtMs <= nowMs && nowMs < endsAtMs,
    ).length,
    storeProblem: input.storeProblem,
  };
}

/** Encodes the status as JSON. Block counts are numbers; times are in ISO 8601. */
export function statusJson(status: WatchdogStatus): Readonly<Record<string, unknown>> {
  return {
    validator: status.validator,
    chain_id: status.chainId ?? null,
    started_at: isoTimeOrNull(status.startedAtMs),
    polled_at: isoTimeOrNull(status.polledAtMs),
    ...monthJson(status.current),
    assessment: status.assessment === undefined ? null : assessmentJson(status.assessment),
    standing: status.standing === undefined ? null : standingJson(status.standing),
    months: status.months.map(monthJson),
    prices: { state: status.prices, pairs: status.pairs },
    price_comparisons: status.compared === undefined ? [] : comparisonsJson(status.compared),
    upgrade: status.upgrade === undefined ? null : countdownJson(status.upgrade),
    payments: (status.payments ?? []).map(paymentJson),
    alerts: status.alerts.map(alertJson),
    store_error: status.storeProblem ?? null,
    clock_error: status.clockProblem ?? null,
    pending_notifications: [...status.pending.values()].reduce((sum, count) => sum + count, 0),
    sources: status.sources.map((source) => ({
      name: source.name,
      node: source.node ?? null,
      up: source.up,
      ...(source.isAbsent ? { absent: true } : {}),
      error: source.error === "" ? null : source.error,
      last_success_at: isoTimeOrNull(source.lastSuccessMs),
      duration_ms: Math.round(source.durationMs),
      ...(source.endpoints === undefined
        ? {}
        : {
            endpoints: source.endpoints.map(({ host, isUsed, isUp }) => ({ host, used: isUsed, up: isUp })),
          }),
    })),
  };
}

/** Joins all validators' JSON into the reply to `GET /api/status`: the first validator and a list of all. `config` is JSON. */
export function allStatusText(all: readonly string[], config: string): string {
  const [first] = all;
  return `{${first === undefined ? "" : `${first.slice(1, -1)},`}"validators":[${all.join(",")}],"config":${config}}`;
}

/** Empty while neither the chain nor other validators' votes are read. */
function standingAt(last: LastPoll | undefined): Pick<WatchdogStatus, "standing"> {
  if (last === undefined) return {};
  const { observation, assessment } = last;
  const { slashing } = observation.chain;
  const standing = standingOf(observation, assessment.blockTimeMs);
  const isRead =
    slashing?.state === "up" ||
    slashing?.state === "error" ||
    standing.votes !== undefined ||
    standing.peers.comparisons.length > 0;
  return isRead ? { standing } : {};
}

function pricesOf(last: LastPoll | undefined): Pick<WatchdogStatus, "prices" | "pairs"> {
  const pages = (last?.observation.nodes ?? []).flatMap(({ prices }) =>
    prices.state === "up" ? [prices.value] : [],
  );
  const pairs = [...new Set(pages.flatMap((page) => page.pairs))].toSorted();
  if (pages.length === 0) return { prices: "unknown", pairs };
  return { prices: pairs.length > 0 ? "present" : "missing", pairs };
}

function upgradeOf({ state, validator, last }: StatusInput): Pick<WatchdogStatus, "upgrade"> {
  const history = state.pollHistories.get(validator.target.name);
  if (history === undefined || last === undefined) return {};
  const upgrade = countdownTo(history, headSeenMs(last.observation), last.blockTime);
  return upgrade === undefined ? {} : { upgrade };
}

function comparedOf(
  { state, validator, rules, majorPairs = [] }: StatusInput,
  { observation, peers = [] }: LastPoll,
): ComparedPrices {
  const history = state.pollHistories.get(validator.target.name) ?? EMPTY_HISTORY;
  const maxAgeMs = (alert: string): number =>
    rules.find(({ condition }) => condition.name === alert)?.limits["max_age"] ?? DEFAULT_MAX_AGE_MS;
  return compareAll(
    { observation, history, peers, pairs: majorPairs },
    { chain: maxAgeMs("prices-differ-from-chain"), sidecars: maxAgeMs("prices-differ-from-sidecars") },
  );
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
  { endpoints = [] }: Observation,
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

function monthJson({ month, counts, estimated, backfilled = NO_BLOCKS, rate, tier, hash }: MonthStatus) {
  return {
    month,
    success_rate_percent: rate === undefined ? null : formatPercent(rate),
    tier: tier ?? null,
    blocks: { good: Number(counts.good), bad: Number(counts.bad), unknown: Number(counts.unknown) },
    estimated_blocks: { good: Number(estimated.good), bad: Number(estimated.bad) },
    backfilled_blocks: { good: Number(backfilled.good), bad: Number(backfilled.bad) },
    hash: hash ?? null,
  };
}

/** Encodes the short form of an alert; `GET /api/alerts` returns all details. */
function alertJson({ validator, rule, state }: AlertStatus): Readonly<Record<string, unknown>> {
  return {
    name: rule.condition.name,
    validator,
    severity: rule.severity,
    state: state?.phase ?? "inactive",
    since: isoTimeOrNull(state?.sinceMs),
    reason: state?.reason ?? null,
    quiet: state?.quietReason ?? null,
  };
}

/** Encodes an assessment as JSON. Money is in hundredths of the currency unit, blocks are numbers, and times are in seconds. */
function assessmentJson(assessment: Assessment): Readonly<Record<string, unknown>> {
  const { policy, rate, bounds, tier, rewardCents, blockTimeMs, remainingBlocks, rotation } = assessment;
  return {
    policy: { curve: policy.curve, source: policy.source, full_reward_cents: Number(policy.fullRewardCents) },
    success_rate_percent: rate === undefined ? null : formatPercent(rate),
    success_rate_bounds_percent:
      bounds === undefined ? null : { low: formatPercent(bounds.low), high: formatPercent(bounds.high) },
    tier: tier ?? null,
    reward_cents: rewardCents === undefined ? null : Number(rewardCents),
    block_time_seconds: blockTimeMs === undefined ? null : blockTimeMs / 1000,
    remaining_blocks: remainingBlocks === undefined ? null : Number(remainingBlocks),
    headroom: assessment.headroom.map(headroomJson),
    forecast: assessment.forecast === undefined ? null : forecastJson(assessment.forecast),
    rotation: {
      state: rotation.state,
      months_in_a_row: rotation.inARow,
      months_in_window: rotation.inWindow,
      months: rotation.months,
    },
  };
}

function headroomJson(headroom: Headroom): Readonly<Record<string, unknown>> {
  const { boundary, state, misses, outageMs, lostInMs, requiredRate, burnRates } = headroom;
  return {
    boundary,
    state,
    misses: Number(misses),
    outage_seconds: outageMs === undefined ? null : outageMs / 1000,
    lost_in_seconds: lostInMs === undefined ? null : lostInMs / 1000,
    required_rate: Number.isFinite(requiredRate) ? requiredRate : null,
    burn_rates: Object.fromEntries(
      Object.entries(burnRates).map(([window, rate]) => [`last_${window}`, rate]),
    ),
  };
}

function forecastJson(forecast: Forecast): Readonly<Record<string, unknown>> {
  const part = (name: "low" | "middle" | "high") => ({
    success_rate_percent: formatPercent(forecast[name]),
    tier: forecast.tiers[name],
    reward_cents: Number(forecast.rewardCents[name]),
  });
  return {
    basis: forecast.basis,
    low: part("low"),
    middle: part("middle"),
    high: part("high"),
    regimes: forecast.regimes.map(({ name, badShare, end, tier }) => ({
      name,
      bad_share: badShare,
      success_rate_percent: formatPercent(end),
      tier,
    })),
  };
}
