import { DAY_MS } from "../../platform/base/time.ts";
import { type BlockCounts, NO_BLOCKS } from "../ledger/block-counts.ts";
import type { LedgerSource, LedgerView, Rollup } from "../ledger/ledger-view.ts";
import { isAtLeast, type LeastRates, successRate, type SuccessRate } from "../policy/reward-tier.ts";

/** Number of days on the page, including today. */
export const SHOWN_DAYS = 90;

/**
 * State of a day. "good", "weak" and "bad": the rate of the known blocks is at or above the full-reward boundary, between the
 * boundaries, or below both. "unknown": most of the day is unknown.
 */
export const DAY_STATES = ["good", "weak", "bad", "unknown"] as const;

export type DayState = (typeof DAY_STATES)[number];

/** One day (UTC) of one component. */
export interface PublicDay {
  readonly dayMs: number;
  readonly state: DayState;
  /** Success rate of the blocks with a known result. Undefined if there are none. */
  readonly rate: SuccessRate | undefined;
  /** Fraction of the day so far with unknown results, from 0 to 1. */
  readonly unknownShare: number;
}

/** The times between which results are known. */
export interface SeenTimes {
  /** When counting began. Undefined if nothing is counted. */
  readonly fromMs: number | undefined;
  /** Time of the last reading of a node. Undefined if there is none. */
  readonly untilMs: number | undefined;
}

export function firstDayMs(nowMs: number): number {
  return startOfDay(nowMs) - (SHOWN_DAYS - 1) * DAY_MS;
}

/** Returns when counting began for a source; undefined if nothing is counted. */
export function countedFromMs(ledger: LedgerView, source: LedgerSource): number | undefined {
  const times = ledger.months(source).map(({ coveredFromMs }) => coveredFromMs);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Returns all days shown on the page, oldest first. Blocks with estimated times are treated as unknown. */
export function publicDays(
  rollups: readonly Rollup[],
  seen: SeenTimes,
  least: LeastRates,
  nowMs: number,
): readonly PublicDay[] {
  const byDay = new Map(rollups.map((day) => [day.startMs, day]));
  const fromMs = firstDayMs(nowMs);
  return Array.from({ length: SHOWN_DAYS }, (_, index) => {
    const dayMs = fromMs + index * DAY_MS;
    return publicDay(dayMs, knownCounts(byDay.get(dayMs)), unseenShare(dayMs, seen, nowMs), least);
  });
}

function publicDay(
  dayMs: number,
  { good, bad, unknown }: BlockCounts,
  unseen: number,
  least: LeastRates,
): PublicDay {
  const rate = successRate({ good, bad, unknown });
  if (rate === undefined) return { dayMs, state: "unknown", rate, unknownShare: 1 };
  const ofSeen = Number(unknown) / Number(rate.total + unknown);
  const unknownShare = unseen + (1 - unseen) * ofSeen;
  return { dayMs, state: unknownShare > 0.5 ? "unknown" : stateOf(rate, least), rate, unknownShare };
}

export function stateOf(rate: SuccessRate, least: LeastRates): "good" | "weak" | "bad" {
  if (isAtLeast(rate, least.full)) return "good";
  return isAtLeast(rate, least.none) ? "weak" : "bad";
}

/** Counts estimated results as unknown blocks. */
function knownCounts(day: Rollup | undefined): BlockCounts {
  if (day === undefined) return NO_BLOCKS;
  const { good, bad } = day.estimated;
  const { counts } = day;
  return { good: counts.good - good, bad: counts.bad - bad, unknown: counts.unknown + good + bad };
}

/** Returns the fraction of a day, up to now, that is before counting began or after the last reading. */
function unseenShare(dayMs: number, { fromMs, untilMs }: SeenTimes, nowMs: number): number {
  const endMs = Math.min(dayMs + DAY_MS, nowMs);
  if (endMs <= dayMs || fromMs === undefined || untilMs === undefined) return 1;
  const seenMs = Math.min(endMs, untilMs) - Math.max(dayMs, fromMs);
  return 1 - Math.max(0, seenMs) / (endMs - dayMs);
}

export interface Uptime {
  /** Success rate of all blocks with known results; undefined if there are none. */
  readonly rate: SuccessRate | undefined;
  /** Number of days for which most results are known. */
  readonly knownDays: number;
}

export function uptimeOf(days: readonly PublicDay[]): Uptime {
  const rates = days.flatMap(({ rate }) => rate ?? []);
  const good = rates.reduce((sum, rate) => sum + rate.good, 0n);
  const total = rates.reduce((sum, rate) => sum + rate.total, 0n);
  const knownDays = days.filter(({ state }) => state !== "unknown").length;
  return { rate: total === 0n ? undefined : { good, total }, knownDays };
}

/** Returns the start of the day (UTC). */
export function startOfDay(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}
