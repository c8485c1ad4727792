import { HOUR_MS } from "../../platform/base/time.ts";
import { counted } from "../../platform/base/text.ts";
import type { BlockCounts } from "../ledger/block-counts.ts";
import { monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import type { Assessment, BurnWindow, Headroom } from "../policy/assessment.ts";
import { formatPercent } from "../policy/reward-tier.ts";
import { active, cannotSee, clear, type ConditionResult, type ConditionInput } from "./condition.ts";

/** A boundary of the tiers. */
export type Boundary = Headroom["boundary"];

const ONE = 10n ** 18n;

function evaluateHeadroom(
  assessment: Assessment | undefined,
  boundary: Boundary,
  evaluate: (headroom: Headroom) => ConditionResult | undefined,
): ConditionResult {
  const headroom = assessment?.headroom.find((one) => one.boundary === boundary);
  if (headroom === undefined) return cannotSee("no block of this month is counted yet");
  return evaluate(headroom) ?? clear(headroomText(headroom));
}

/** Error of the number of blocks that the chain is expected to make until the end of the month. */
const BLOCKS_ERROR = 0.01;

/** Evaluates whether a month is lost. Certain only when the loss is greater than the error of the expected number of blocks. */
export function evaluateLost(assessment: Assessment | undefined, boundary: Boundary): ConditionResult {
  return evaluateHeadroom(assessment, boundary, (headroom) => {
    const { state, misses } = headroom;
    if (state !== "lost") return undefined;
    const remaining = Number(assessment?.remainingBlocks ?? 0n);
    // The expected number of blocks is rounded, which alone can be one miss.
    const margin =
      remaining === 0 ? 0 : Math.max(1, remaining * allowedShare(assessment, boundary) * BLOCKS_ERROR);
    return Number(-misses) > margin
      ? active(headroomText(headroom))
      : cannotSee(`${headroomText(headroom)}, which the expected number of blocks can be wrong by`);
  });
}

/** Share of bad blocks that a boundary allows. */
function allowedShare(assessment: Assessment | undefined, boundary: Boundary): number {
  const least = assessment?.policy.least[boundary] ?? 0n;
  return Number(ONE - least) / Number(ONE);
}

function headroomText({ state, misses, outageMs }: Headroom): string {
  if (state === "lost") return `the month is ${counted(Number(-misses), "block")} below the boundary`;
  if (state === "clinched") return "the month stays above the boundary whatever happens";
  const time = outageMs === undefined ? "" : `, ${(outageMs / HOUR_MS).toFixed(1)} h of a total outage`;
  return `${misses} more missed blocks are allowed${time}`;
}

/** Evaluates the rate of the month so far. */
export function evaluateRate(
  assessment: Assessment | undefined,
  boundary: Boundary,
  minBlocks: number,
): ConditionResult {
  const { rate, tier } = assessment ?? {};
  if (rate === undefined || tier === undefined) return cannotSee("no block of this month is counted yet");
  const reason = `the rate is ${formatPercent(rate)} %`;
  const isLow = boundary === "full" ? tier !== "full" : tier === "none";
  if (isLow && rate.total < BigInt(minBlocks)) return cannotSee(`${reason}, of only ${rate.total} blocks`);
  return isLow ? active(reason, 100 - Number(formatPercent(rate))) : clear(reason);
}

/** Evaluates the forecast and the headroom of the month. */
export function evaluateRisk(
  assessment: Assessment | undefined,
  boundary: Boundary,
  limit: (key: "min_headroom" | "min_blocks") => number,
): ConditionResult {
  return evaluateHeadroom(assessment, boundary, (headroom) => {
    const { forecast, rate } = assessment ?? {};
    const { state, outageMs } = headroom;
    if (rate === undefined || rate.total < BigInt(limit("min_blocks")))
      return cannotSee("the month has too few blocks");
    if (state === "lost") return active(headroomText(headroom));
    if (state === "clinched") return undefined;
    const tier = forecast?.tiers.middle;
    const isForecast = boundary === "full" ? tier !== undefined && tier !== "full" : tier === "none";
    if (forecast !== undefined && isForecast)
      return active(`the month will end at ${formatPercent(forecast.middle)} %; ${headroomText(headroom)}`);
    return outageMs !== undefined && outageMs < limit("min_headroom") * knownShare(assessment)
      ? active(headroomText(headroom))
      : undefined;
  });
}

/**
 * Share of the month whose blocks are counted or still to come. Watching that began late in a month knows a part of its misses
 * and a part of its allowance, so a smaller headroom is normal.
 */
function knownShare(assessment: Assessment | undefined): number {
  const { month, rate, remainingBlocks, blockTimeMs } = assessment ?? {};
  if (month === undefined || rate === undefined || remainingBlocks === undefined || blockTimeMs === undefined)
    return 1;
  const startMs = monthStartMs(month);
  const knownMs = Number(rate.total + remainingBlocks) * blockTimeMs;
  return Math.min(1, knownMs / (nextMonthMs(startMs) - startMs));
}

/** Evaluates the burn rates of the last hours. `factors` has the threshold of each window. */
export function evaluateBurn(
  { assessment, recent }: ConditionInput,
  boundary: Boundary,
  factors: readonly (readonly [BurnWindow, number])[],
): ConditionResult {
  return evaluateHeadroom(assessment, boundary, ({ burnRates }) => {
    const burning = factors.flatMap(([window, factor]) => {
      const rate = burnRates[window];
      return rate !== undefined && rate >= factor ? [{ window, factor, rate }] : [];
    });
    const [first] = burning;
    if (first === undefined) return undefined;
    const now = badShare(recent["5m"]) / allowedShare(assessment, boundary);
    const reason = `the last ${first.window} burned the month's allowance ${first.rate.toFixed(1)} times too fast`;
    // Over the last minutes the loss has ended: the window still shows it, but nobody can do anything.
    return now >= Math.min(...burning.map(({ factor }) => factor))
      ? active(reason, first.rate)
      : clear(`${reason}, but not the last 5 minutes`);
  });
}

/** Share of the threshold below which a slow burn is over. */
const CLEAR_SHARE = 0.9;

/** Evaluates the burn rate of the last three days. */
export function evaluateSlowBurn(
  assessment: Assessment | undefined,
  boundary: Boundary,
  factor: number,
): ConditionResult {
  return evaluateHeadroom(assessment, boundary, ({ burnRates }) => {
    const days = burnRates["3d"];
    const hours = burnRates["6h"];
    if (days === undefined || hours === undefined || days < factor * CLEAR_SHARE) return undefined;
    const reason = `the last 3 days burned the month's allowance ${days.toFixed(2)} times too fast`;
    // A rate at the threshold would begin and end the alert several times a day.
    if (hours >= factor * CLEAR_SHARE && (days < factor || hours < factor))
      return cannotSee(`${reason}, which is close to the threshold`);
    return hours >= factor ? active(reason, days) : clear(`${reason}, but not the last 6 hours`);
  });
}

/** Share of bad blocks; 0 without a block. */
function badShare({ good, bad }: BlockCounts): number {
  const total = Number(good + bad);
  return total === 0 ? 0 : Number(bad) / total;
}

/** Evaluates the months below the lower boundary. */
export function evaluateRotation(assessment: Assessment | undefined): ConditionResult {
  if (assessment === undefined) return cannotSee("no month is counted yet");
  const { rotation, tier, forecast } = assessment;
  const months = rotation.months.join(", ");
  if (rotation.state === "due") return active(`it was below the lower boundary in ${months}`);
  if (rotation.state === "none") return clear("one bad month would not lead to rotation");
  const endsBelow = (forecast?.tiers.middle ?? tier) === "none";
  return endsBelow
    ? active(`it was below the lower boundary in ${months}, and this month will be too`)
    : clear(`it was below the lower boundary in ${months}, but this month will not be`);
}
