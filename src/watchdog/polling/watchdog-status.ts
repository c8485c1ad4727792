import { type Month, monthOf } from "../../platform/base/month.ts";
import { type AlertStatus, alertStatuses } from "../alerts/alert-status.ts";
import type { AlertRule } from "../conditions/condition.ts";
import { EMPTY_HISTORY } from "../conditions/poll-history.ts";
import { type BlockCounts, NO_BLOCKS } from "../ledger/block-counts.ts";
import type { MonthRecord } from "../ledger/ledger-view.ts";
import { EMPTY_LEDGER } from "../ledger/ledger.ts";
import { deadLetters, pendingDeliveries } from "../alerts/outbox.ts";
import type { Assessment } from "../policy/assessment.ts";
import { successRate, type SuccessRate, type Tier, tierOf } from "../policy/reward-tier.ts";
import { compareAll, type ComparedPrices, DEFAULT_MAX_AGE_MS } from "../policy/price-comparison.ts";
import type { Payment } from "../sources/payment-result.ts";
import { countdownTo, headSeenMs, type UpgradeCountdown } from "../policy/upgrade-countdown.ts";
import { type Standing, standingOf } from "../policy/standing.ts";
import type { EndpointState, Observation } from "../sources/observation.ts";
import type { SourceName } from "../sources/targets.ts";
import type { WatchdogState } from "../state/state-store.ts";
import type { Evaluation } from "./evaluation.ts";
import { type SeenSource, seenSources } from "./poller.ts";
import type { ValidatorConfig } from "../policy/policy-config.ts";
import { isActive } from "../alerts/silence.ts";

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
  /** True if any sidecar has prices. "unknown" means that the watchdog cannot read them. */
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
    activeSilences: alerting.silences.filter((silence) => isActive(silence, nowMs)).length,
    storeProblem: input.storeProblem,
  };
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
