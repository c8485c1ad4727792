import { HOUR_MS } from "../../platform/base/time.ts";
import { counted, formatCount } from "../../platform/base/text.ts";
import { badShare } from "../ledger/ledger-view.ts";
import { monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import type { Assessment, BurnWindow, Headroom } from "../policy/assessment.ts";
import { allowedShare, type Boundary, formatPercent, timeToLossMs } from "../policy/reward-tier.ts";
import { active, cannotSee, clear, type ConditionResult, type ConditionInput } from "./condition.ts";

const NOT_COUNTED = cannotSee("no block of this month has been counted yet");

/** Evaluates a condition on a boundary's headroom. If `evaluate` returns undefined, returns a clear result that states the headroom. */
function evaluateHeadroom(
  assessment: Assessment | undefined,
  boundary: Boundary,
  evaluate: (headroom: Headroom, assessment: Assessment) => ConditionResult | undefined,
): ConditionResult {
  const headroom = assessment?.headroom.find((one) => one.boundary === boundary);
  if (assessment === undefined || headroom === undefined) return NOT_COUNTED;
  return evaluate(headroom, assessment) ?? clear(headroomText(headroom));
}

/** Assumed maximum error of the expected number of remaining blocks, as a fraction. */
const BLOCKS_ERROR = 0.01;

/** Evaluates whether a boundary is lost even if the expected number of remaining blocks is off by {@link BLOCKS_ERROR}. */
export function evaluateLost(assessment: Assessment | undefined, boundary: Boundary): ConditionResult {
  return evaluateHeadroom(assessment, boundary, (headroom, month) => {
    if (headroom.state !== "lost") return undefined;
    return isCertain(headroom, month)
      ? active(headroomText(headroom))
      : cannotSee(
          `${headroomText(headroom)}, which is within the margin of error for the expected number of blocks`,
        );
  });
}

function isCertain({ misses, boundary }: Headroom, assessment: Assessment): boolean {
  const remaining = Number(assessment.remainingBlocks ?? 0n);
  // Allow for an error of one miss, which rounding the expected number of blocks can cause.
  const margin =
    remaining === 0
      ? 0
      : Math.max(1, remaining * allowedShare(assessment.policy.least[boundary]) * BLOCKS_ERROR);
  return Number(-misses) > margin;
}

function headroomText({ state, misses, outageMs }: Headroom): string {
  if (state === "lost") return `the month is ${counted(Number(-misses), "block")} below the boundary`;
  if (state === "clinched") return "the month stays above the boundary whatever happens";
  const time = outageMs === undefined ? "" : `, ${hoursText(outageMs)} of a total outage`;
  return `${formatCount(misses)} more missed blocks are allowed${time}`;
}

export function evaluateRate(
  assessment: Assessment | undefined,
  boundary: Boundary,
  minBlocks: number,
): ConditionResult {
  const { rate, tier } = assessment ?? {};
  if (rate === undefined || tier === undefined) return NOT_COUNTED;
  const reason = `the month's rate is ${formatPercent(rate)} %`;
  const isLow = boundary === "full" ? tier !== "full" : tier === "none";
  if (isLow && rate.total < BigInt(minBlocks)) return cannotSee(`${reason}, from only ${rate.total} blocks`);
  return isLow ? active(reason, 100 - Number(formatPercent(rate))) : clear(reason);
}

/**
 * Evaluates whether the ongoing loss will soon cross the boundary. A crossing within `lost_within` must follow from both the
 * six-hour and the three-day rate. A crossing within `min_headroom` must follow from both the one-hour and the five-minute rate. A
 * loss that has ended, or that nobody can prevent any more, is not a risk.
 */
export function evaluateRisk(
  { assessment, recent }: ConditionInput,
  boundary: Boundary,
  limit: (key: "lost_within" | "min_headroom" | "min_blocks") => number,
): ConditionResult {
  return evaluateHeadroom(assessment, boundary, (headroom, month) => {
    const { rate, remainingBlocks: remaining = 0n, blockTimeMs } = month;
    const { state, misses, lostInMs } = headroom;
    if (rate === undefined || rate.total < BigInt(limit("min_blocks")))
      return cannotSee("the month has too few blocks");
    if (state !== "open" || blockTimeMs === undefined) return undefined;
    const shareOf = (window: BurnWindow): number =>
      (headroom.burnRates[window] ?? 0) * allowedShare(month.policy.least[boundary]);
    const now = badShare(recent["5m"]) ?? 0;
    const acuteMs = timeToLossMs({ misses, remaining }, Math.min(shareOf("1h"), now), blockTimeMs);
    if (acuteMs !== undefined && acuteMs < limit("min_headroom")) return active(riskText(acuteMs, headroom));
    if (lostInMs === undefined || lostInMs >= limit("lost_within")) return undefined;
    const lasting = Math.min(shareOf("6h"), shareOf("3d"));
    if (now >= lasting * GOES_ON_SHARE && now > 0) return active(riskText(lostInMs, headroom));
    // Also check the last 30 minutes, because a few minutes without misses may be a coincidence.
    return (badShare(recent["30m"]) ?? 0) >= lasting * GOES_ON_SHARE
      ? cannotSee("hardly any blocks were missed in the last 5 minutes")
      : clear("the loss of the last few hours has ended");
  });
}

/** A loss is treated as ongoing if the last minutes' bad share is at least this fraction of the bad share over hours. */
const GOES_ON_SHARE = 0.25;

function riskText(lossMs: number, headroom: Headroom): string {
  return `at the current loss, the boundary is crossed in ${hoursText(lossMs)}; ${headroomText(headroom)}`;
}

function hoursText(timeMs: number): string {
  return `${(timeMs / HOUR_MS).toFixed(1)} h`;
}

/** Evaluates whether a total outage of length `min_headroom` would cross the boundary. */
export function evaluateLittleLeft(
  assessment: Assessment | undefined,
  boundary: Boundary,
  limit: (key: "min_headroom" | "min_blocks") => number,
): ConditionResult {
  return evaluateHeadroom(assessment, boundary, (headroom, month) => {
    const { rate } = month;
    const { state, outageMs } = headroom;
    if (rate === undefined || rate.total < BigInt(limit("min_blocks")))
      return cannotSee("the month has too few blocks");
    // The number of remaining blocks is an estimate, so a boundary that appears lost by a few blocks may still be reached.
    if (state === "lost") return isCertain(headroom, month) ? undefined : active(headroomText(headroom));
    const isLittle = outageMs !== undefined && outageMs < limit("min_headroom") * knownShare(month);
    return state === "open" && isLittle ? active(headroomText(headroom)) : undefined;
  });
}

/**
 * Returns the share of the month whose blocks have been counted or are still to come. A watchdog that was started during the month
 * knows only part of the allowance, so a smaller headroom is normal.
 */
function knownShare({ month, rate, remainingBlocks, blockTimeMs }: Assessment): number {
  if (rate === undefined || remainingBlocks === undefined || blockTimeMs === undefined) return 1;
  const startMs = monthStartMs(month);
  const knownMs = Number(rate.total + remainingBlocks) * blockTimeMs;
  return Math.min(1, knownMs / (nextMonthMs(startMs) - startMs));
}

const WINDOW_WORDS: Readonly<Record<BurnWindow, string>> = { "1h": "hour", "6h": "6 hours", "3d": "3 days" };

/** Evaluates the burn rates over the given windows. `factors` lists each window with its threshold. */
export function evaluateBurn(
  { assessment, recent }: ConditionInput,
  boundary: Boundary,
  factors: readonly (readonly [BurnWindow, number])[],
): ConditionResult {
  return evaluateHeadroom(assessment, boundary, ({ burnRates, state }, month) => {
    // Once the boundary is lost, further misses change nothing this month.
    if (state === "lost") return undefined;
    const burning = factors.flatMap(([window, factor]) => {
      const rate = burnRates[window];
      return rate !== undefined && rate >= factor ? [{ window, factor, rate }] : [];
    });
    const [first] = burning;
    if (first === undefined) return undefined;
    const now = (badShare(recent["5m"]) ?? 0) / allowedShare(month.policy.least[boundary]);
    const reason = `the last ${WINDOW_WORDS[first.window]} burned the month's allowance ${first.rate.toFixed(1)} times too fast`;
    // The windows still contain losses that ended minutes ago, although the operator cannot act on such losses any more.
    return now >= Math.min(...burning.map(({ factor }) => factor))
      ? active(reason, first.rate)
      : clear("the loss of the last few hours has ended");
  });
}

/** The slow-burn alert ends once the rate falls below this fraction of its threshold. */
const CLEAR_SHARE = 0.9;

/** Evaluates the burn rate over the last three days. */
export function evaluateSlowBurn(
  assessment: Assessment | undefined,
  boundary: Boundary,
  factor: number,
): ConditionResult {
  return evaluateHeadroom(assessment, boundary, ({ burnRates, state }) => {
    if (state === "lost") return undefined;
    const days = burnRates["3d"];
    const hours = burnRates["6h"];
    if (days === undefined || hours === undefined || days < factor * CLEAR_SHARE) return undefined;
    const reason = `the last 3 days burned the month's allowance ${days.toFixed(2)} times too fast`;
    // Return unknown near the threshold. Otherwise, a fluctuating rate would start and end the alert several times a day.
    if (hours >= factor * CLEAR_SHARE && (days < factor || hours < factor))
      return cannotSee(`${reason}, which is close to the threshold`);
    return hours >= factor ? active(reason, days) : clear("the current loss is small enough for the month");
  });
}
