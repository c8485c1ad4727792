import { z } from "zod";
import { ALERT_PHASE, type AlertStatus } from "../alerts/alert-status.ts";
import { type BlockCounts, NO_BLOCKS } from "../ledger/ledger-view.ts";
import { type Assessment, CURVES, type Forecast, type Headroom, isEarly } from "../policy/assessment.ts";
import type { Policy, Regime } from "../policy/assessment.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";
import { monthName, paymentView } from "../policy/payment-texts.ts";
import { allResults, comparisonView } from "../policy/price-comparison.ts";
import { BOUNDARIES, formatPercent, TIERS } from "../policy/reward-tier.ts";
import { standingJson, standingSchema } from "../policy/standing-json.ts";
import { countdownView } from "../policy/upgrade-countdown.ts";
import { SOURCE_NAMES } from "../sources/targets.ts";
import type { MonthStatus, SourceStatus, WatchdogStatus } from "./watchdog-status.ts";

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

const tier = z.enum(TIERS);
/** A percentage as a decimal string without the percent sign, such as "98.0582". */
const percent = z.string().regex(/^\d+\.\d+$/);

const resultView = jsonView<BlockCounts>(({ value }) => ({
  good: value(z.int(), ({ good }) => Number(good)),
  bad: value(z.int(), ({ bad }) => Number(bad)),
}));

const countsView = jsonView<BlockCounts>(({ value }) => ({
  ...resultView.within((counts) => counts),
  unknown: value(z.int(), ({ unknown }) => Number(unknown)),
}));

const monthView = jsonView<MonthStatus>(({ value, orNull, part }) => ({
  month: value(monthName, (one) => one.month),
  success_rate_percent: orNull(percent, ({ rate }) => rate && formatPercent(rate)),
  tier: orNull(tier, (one) => one.tier),
  blocks: part(countsView, ({ counts }) => counts),
  estimated_blocks: part(resultView, ({ estimated }) => estimated),
  backfilled_blocks: part(resultView, ({ backfilled = NO_BLOCKS }) => backfilled),
  hash: orNull(words, ({ hash }) => hash),
}));

const headroomView = jsonView<Headroom>(({ value, orNull }) => ({
  boundary: value(z.enum(BOUNDARIES), ({ boundary }) => boundary),
  state: value(words, ({ state }) => state),
  misses: value(z.int(), ({ misses }) => Number(misses)),
  outage_seconds: orNull(z.number(), ({ outageMs }) => toSeconds(outageMs)),
  lost_in_seconds: orNull(z.number(), ({ lostInMs }) => toSeconds(lostInMs)),
  required_rate: orNull(z.number(), ({ requiredRate }) =>
    Number.isFinite(requiredRate) ? requiredRate : undefined,
  ),
  burn_rates: value(z.record(words, z.number()), ({ burnRates }) =>
    Object.fromEntries(Object.entries(burnRates).map(([window, rate]) => [`last_${window}`, rate])),
  ),
}));

function estimateView(name: "low" | "middle" | "high") {
  return jsonView<Forecast>(({ value }) => ({
    success_rate_percent: value(percent, (forecast) => formatPercent(forecast[name])),
    tier: value(tier, ({ tiers }) => tiers[name]),
    reward_cents: value(z.int(), ({ rewardCents }) => Number(rewardCents[name])),
  }));
}

const regimeView = jsonView<Regime>(({ value }) => ({
  name: value(words, ({ name }) => name),
  bad_share: value(z.number(), ({ badShare }) => badShare),
  success_rate_percent: value(percent, ({ end }) => formatPercent(end)),
  tier: value(tier, (one) => one.tier),
}));

const forecastView = jsonView<Forecast>(({ value, part, list }) => ({
  basis: value(words, ({ basis }) => basis),
  low: part(estimateView("low"), (forecast) => forecast),
  middle: part(estimateView("middle"), (forecast) => forecast),
  high: part(estimateView("high"), (forecast) => forecast),
  regimes: list(regimeView, ({ regimes }) => regimes),
}));

const policyView = jsonView<Policy>(({ value }) => ({
  curve: value(z.enum(CURVES), ({ curve }) => curve),
  source: value(words, ({ source }) => source),
  full_reward_cents: value(z.int(), ({ fullRewardCents }) => Number(fullRewardCents)),
}));

const boundsView = jsonView<NonNullable<Assessment["bounds"]>>(({ value }) => ({
  low: value(percent, ({ low }) => formatPercent(low)),
  high: value(percent, ({ high }) => formatPercent(high)),
}));

const rotationView = jsonView<Assessment["rotation"]>(({ value, values }) => ({
  state: value(z.enum(["none", "next", "due"]), ({ state }) => state),
  months_in_a_row: value(z.int(), ({ inARow }) => inARow),
  months_in_window: value(z.int(), ({ inWindow }) => inWindow),
  months: values(monthName, ({ months }) => months),
}));

/** An assessment as the API shows it. Amounts of money are in hundredths of the currency unit. */
const assessmentView = jsonView<Assessment>(({ value, orNull, part, partOrNull, list }) => ({
  policy: part(policyView, ({ policy }) => policy),
  success_rate_percent: orNull(percent, ({ rate }) => rate && formatPercent(rate)),
  success_rate_bounds_percent: partOrNull(boundsView, ({ bounds }) => bounds),
  tier: orNull(tier, (one) => one.tier),
  too_early: value(z.boolean(), isEarly),
  reward_cents: orNull(z.number(), ({ rewardCents }) => toNumber(rewardCents)),
  block_time_seconds: orNull(z.number(), ({ blockTimeMs }) => toSeconds(blockTimeMs)),
  remaining_blocks: orNull(z.number(), ({ remainingBlocks }) => toNumber(remainingBlocks)),
  headroom: list(headroomView, ({ headroom }) => headroom),
  forecast: partOrNull(forecastView, ({ forecast }) => forecast),
  rotation: part(rotationView, ({ rotation }) => rotation),
}));

const pricesView = jsonView<WatchdogStatus>(({ value, values }) => ({
  state: value(z.enum(["present", "missing", "unknown"]), ({ prices }) => prices),
  pairs: values(words, ({ pairs }) => pairs),
}));

/** An alert as the status shows it. `GET /api/alerts` returns the alert with all details. */
const alertView = jsonView<AlertStatus>(({ value, orNull, timeOrNull }) => ({
  name: value(words, ({ rule }) => rule.condition.name),
  validator: value(words, ({ validator }) => validator),
  severity: value(words, ({ rule }) => rule.severity),
  state: value(ALERT_PHASE, ({ state }) => state?.phase ?? "inactive"),
  since: timeOrNull(({ state }) => state?.sinceMs),
  reason: orNull(words, ({ state }) => state?.reason),
  quiet: orNull(words, ({ state }) => state?.quietReason),
}));

const endpoint = z.strictObject({ host: words, used: z.boolean(), up: z.boolean() });

const sourceView = jsonView<SourceStatus>(({ value, orNull, timeOrNull }) => ({
  name: value(z.enum(SOURCE_NAMES), ({ name }) => name),
  node: orNull(words, ({ node }) => node),
  up: value(z.boolean(), ({ up }) => up),
  absent: value(z.literal(true).optional(), ({ isAbsent }) => isAbsent),
  error: orNull(words, ({ error }) => error || undefined),
  last_success_at: timeOrNull(({ lastSuccessMs }) => lastSuccessMs),
  duration_ms: value(z.int(), ({ durationMs }) => Math.round(durationMs)),
  endpoints: value(z.array(endpoint).optional(), ({ endpoints }) =>
    endpoints?.map(({ host, isUsed, isUp }) => ({ host, used: isUsed, up: isUp })),
  ),
}));

/** One validator's status, as in `GET /api/status` and `GET /api/validators/:name`. */
export const statusView = jsonView<WatchdogStatus>(
  ({ value, orNull, timeOrNull, part, partOrNull, list }) => ({
    validator: value(words, ({ validator }) => validator),
    chain_id: orNull(words, ({ chainId }) => chainId),
    started_at: timeOrNull(({ startedAtMs }) => startedAtMs),
    polled_at: timeOrNull(({ polledAtMs }) => polledAtMs),
    ...monthView.within(({ current }) => current),
    assessment: partOrNull(assessmentView, ({ assessment }) => assessment),
    standing: partOrNull({ schema: standingSchema, json: standingJson }, ({ standing }) => standing),
    months: list(monthView, ({ months }) => months),
    prices: part(pricesView, (status) => status),
    price_comparisons: list(comparisonView, ({ compared }) =>
      compared === undefined ? [] : allResults(compared),
    ),
    upgrade: partOrNull(countdownView, ({ upgrade }) => upgrade),
    payments: list(paymentView, ({ payments = [] }) => payments),
    alerts: list(alertView, ({ alerts }) => alerts),
    store_error: orNull(words, ({ storeProblem }) => storeProblem),
    clock_error: orNull(words, ({ clockProblem }) => clockProblem),
    pending_notifications: value(z.int(), ({ pending }) =>
      [...pending.values()].reduce((sum, count) => sum + count, 0),
    ),
    sources: list(sourceView, ({ sources }) => sources),
  }),
);

/**
 * Builds the reply to `GET /api/status` from all validators' JSON: the first validator's fields, then a list of all validators.
 * `config` is JSON.
 */
export function allStatusText(all: readonly string[], config: string): string {
  const [first] = all;
  return `{${first === undefined ? "" : `${first.slice(1, -1)},`}"validators":[${all.join(",")}],"config":${config}}`;
}
