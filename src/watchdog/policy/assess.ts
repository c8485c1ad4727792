import { type Observation, readingOf } from "../sources/observation.ts";
import { type Month, monthOf, monthsBefore, monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { NO_BLOCKS, sumCounts } from "../ledger/ledger-view.ts";
import type { BlockCounts, LedgerView, MonthRecord } from "../ledger/ledger-view.ts";
import { type Assessment, type Policy, rewardCents, chainPolicy, type PolicyChoice } from "./assessment.ts";
import { forecastOf, headroomOf, type OpenMonth } from "./month-forecast.ts";
import { rateBounds, successRate, type SuccessRate, tierOf } from "./reward-tier.ts";

export interface AssessmentInput {
  readonly ledger: LedgerView;
  readonly nowMs: number;
  readonly policy: Policy;
  /** The chain's mean block time, in ms; undefined until it is known. */
  readonly blockTimeMs: number | undefined;
  /** The share of this month's blocks that the validator signed, according to the chain. */
  readonly signed?: SuccessRate | undefined;
}

const FORECAST_DAYS = 28;

export function assess(input: AssessmentInput): Assessment {
  const { ledger, nowMs, policy, blockTimeMs, signed } = input;
  const month = monthOf(nowMs);
  const records = ledger.months();
  const record = records.find((each) => each.month === month);
  const counts = record?.counts ?? NO_BLOCKS;
  const rate = successRate(counts);
  const remainingBlocks = blocksUntil(nextMonthMs(nowMs) - nowMs, blockTimeMs);
  const open =
    rate === undefined || remainingBlocks === undefined
      ? undefined
      : {
          good: counts.good,
          bad: counts.bad,
          remaining: remainingBlocks,
          unseen: counts.unknown + unseenBefore(record, blockTimeMs),
        };
  return {
    month,
    policy,
    counts,
    estimated: record?.estimated ?? NO_BLOCKS,
    rate,
    bounds: rateBounds(counts),
    tier: rate && tierOf(rate, policy.least),
    rewardCents: rate && rewardCents(policy, rate, signed),
    blockTimeMs,
    remainingBlocks,
    ...outlook(input, open),
    rotation: rotationRisk(
      month,
      records.filter((each) => each.month < month),
      policy,
    ),
  };
}

/**
 * Applies the policy to the month in which the poll took place. If the policy follows the chain, the chain's parameters apply
 * whenever they can be read.
 */
export function assessObservation(
  ledger: LedgerView,
  { atMs, chain: { revenue } }: Observation,
  { policy, fromChain, blockTimeMs }: PolicyChoice & Pick<AssessmentInput, "blockTimeMs">,
): Assessment {
  const paid = readingOf(revenue);
  const stats = paid?.stats;
  return assess({
    ledger,
    nowMs: atMs,
    policy: fromChain && paid !== undefined ? chainPolicy(paid.params, policy) : policy,
    blockTimeMs,
    signed:
      stats === undefined || stats.inActiveSet === 0n
        ? undefined
        : { good: stats.committedBlocks, total: stats.inActiveSet },
  });
}

/** Returns how many blocks a chain makes in a given time; undefined if the block time is unknown. */
export function blocksUntil(timeMs: number, blockTimeMs: number | undefined): bigint | undefined {
  if (blockTimeMs === undefined || !(blockTimeMs > 0)) return undefined;
  return BigInt(Math.floor(timeMs / blockTimeMs));
}

/** Estimates how many of the month's blocks were made before counting began, from the mean block time. */
function unseenBefore(record: MonthRecord | undefined, blockTimeMs: number | undefined): bigint {
  if (record === undefined) return 0n;
  return blocksUntil(record.coveredFromMs - monthStartMs(record.month), blockTimeMs) ?? 0n;
}

function outlook(
  { ledger, nowMs, policy, blockTimeMs }: AssessmentInput,
  open: OpenMonth | undefined,
): Pick<Assessment, "headroom" | "forecast"> {
  if (open === undefined || blockTimeMs === undefined) return { headroom: [], forecast: undefined };
  const hours = ledger.hours(nowMs - 3 * DAY_MS, nowMs + 1);
  const minutes = (sinceMs: number): BlockCounts => sumCounts(ledger.minutes(nowMs - sinceMs, nowMs + 1));
  const windows = {
    "1h": minutes(HOUR_MS),
    "6h": minutes(6 * HOUR_MS),
    "3d": sumCounts(hours),
  };
  const days = ledger.days(nowMs - FORECAST_DAYS * DAY_MS, nowMs + 1);
  const lastDay = sumCounts(hours.filter(({ startMs }) => startMs > nowMs - DAY_MS - HOUR_MS));
  return {
    headroom: headroomOf(open, policy, blockTimeMs, windows),
    forecast: forecastOf(open, { days, hours, last: { ...windows, "24h": lastDay } }, policy),
  };
}

/** A validator may be rotated out after this many consecutive months below the lower boundary. */
const IN_A_ROW = 2;
/** A validator may also be rotated out after this many months below the lower boundary within `WINDOW` months. */
const IN_WINDOW = 3;
const WINDOW = 6;

/**
 * Counts the closed months before `current` that were below the lower boundary. A month without a record, or with mostly estimated
 * blocks, does not count and ends a series of consecutive months.
 */
export function rotationRisk(
  current: Month,
  records: readonly MonthRecord[],
  policy: Policy,
): Assessment["rotation"] {
  const below = new Set(records.filter((record) => isBelow(record, policy)).map(({ month }) => month));
  const before = monthsBefore(current, WINDOW);
  const row = before.findIndex((month) => !below.has(month));
  const inARow = row < 0 ? WINDOW : row;
  const inLast = (count: number): number => before.slice(0, count).filter((month) => below.has(month)).length;
  return {
    inARow,
    // Omit the oldest of the six months, because it leaves the window when the current month closes.
    inWindow: inLast(WINDOW - 1),
    state: riskOf(inARow, inLast),
    months: before.filter((month) => below.has(month)).toReversed(),
  };
}

function riskOf(inARow: number, inLast: (count: number) => number): Assessment["rotation"]["state"] {
  if (inARow >= IN_A_ROW || inLast(WINDOW) >= IN_WINDOW) return "due";
  return inARow >= IN_A_ROW - 1 || inLast(WINDOW - 1) >= IN_WINDOW - 1 ? "next" : "none";
}

function isBelow({ counts, estimated }: MonthRecord, policy: Policy): boolean {
  const rate = successRate(counts);
  if (rate === undefined || (estimated.good + estimated.bad) * 2n > rate.total) return false;
  return tierOf(rate, policy.least) === "none";
}
