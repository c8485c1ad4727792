import { DAY_MS, MINUTE_MS } from "../../platform/base/time.ts";
import { NO_BLOCKS } from "../ledger/ledger-view.ts";
import type { BlockCounts, LedgerSource, LedgerView, Rollup } from "../ledger/ledger-view.ts";
import { type LeastRates, type SuccessRate, successRate, tierOf } from "../policy/reward-tier.ts";
import { monthOf } from "../../platform/base/month.ts";
import { incidentsOf, joinIncidents } from "../alerts/incidents.ts";
import { type Incident, type IncidentSource, SCATTERED } from "../alerts/miss-causes.ts";
import { COMPONENT_SOURCES } from "./status-page-config.ts";

/** Number of days shown on the status page, including today. */
export const SHOWN_DAYS = 90;

/**
 * A day's state, based on the success rate of the blocks with known results. The state is "good" at or above the full-reward
 * boundary, "weak" between the boundaries, and "bad" below both boundaries. The state is "unknown" if most of the day has no known
 * results.
 */
export const DAY_STATES = ["good", "weak", "bad", "unknown"] as const;

export type DayState = (typeof DAY_STATES)[number];

/** One UTC day of a row on the status page. */
export interface PublicDay {
  readonly dayMs: number;
  readonly state: DayState;
  /** Success rate of the blocks with known results; undefined if there are no such blocks. */
  readonly rate: SuccessRate | undefined;
  /** Fraction of the day without known results, from 0 to 1. For today, only the time until now is included. */
  readonly unknownShare: number;
}

/** The period for which results are known. */
export interface SeenTimes {
  /** The time when counting began; undefined if nothing has been counted. */
  readonly fromMs: number | undefined;
  /** The time when a node was last read; undefined if no node has been read. */
  readonly untilMs: number | undefined;
}

export function firstDayMs(nowMs: number): number {
  return startOfDay(nowMs) - (SHOWN_DAYS - 1) * DAY_MS;
}

/** Returns when counting began for a source, or undefined if nothing has been counted. */
export function countedFromMs(ledger: LedgerView, source: LedgerSource): number | undefined {
  const times = ledger.months(source).map(({ coveredFromMs }) => coveredFromMs);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Returns the last {@link SHOWN_DAYS} days, oldest first. The results of blocks with estimated times are treated as unknown. */
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
  return {
    dayMs,
    state: unknownShare > 0.5 ? "unknown" : TIER_STATES[tierOf(rate, least)],
    rate,
    unknownShare,
  };
}

const TIER_STATES = { full: "good", proportional: "weak", none: "bad" } as const;

/** Returns a day's counts, with estimated results treated as unknown. */
function knownCounts(day: Rollup | undefined): BlockCounts {
  if (day === undefined) return NO_BLOCKS;
  const { good, bad } = day.estimated;
  const { counts } = day;
  return { good: counts.good - good, bad: counts.bad - bad, unknown: counts.unknown + good + bad };
}

/** Returns the fraction of a day that is before counting began or after the last reading. Today ends at `nowMs`. */
function unseenShare(dayMs: number, { fromMs, untilMs }: SeenTimes, nowMs: number): number {
  const endMs = Math.min(dayMs + DAY_MS, nowMs);
  if (endMs <= dayMs || fromMs === undefined || untilMs === undefined) return 1;
  const seenMs = Math.min(endMs, untilMs) - Math.max(dayMs, fromMs);
  return 1 - Math.max(0, seenMs) / (endMs - dayMs);
}

export interface Uptime {
  /** Success rate of all blocks with known results; undefined if there are no such blocks. */
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

export function startOfDay(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}

export interface PublicHistory {
  readonly days: ReadonlyMap<LedgerSource, readonly Rollup[]>;
  /** Incidents, halts and gaps, oldest first. */
  readonly incidents: readonly Incident[];
}

export const NO_HISTORY: PublicHistory = { days: new Map(), incidents: [] };

/** Minimum length of the halts and gaps that are shown as incidents. */
const LEAST_EVENT_MS = 5 * MINUTE_MS;

/** Reads the incidents, halts and gaps in [fromMs, toMs). Omits scattered bad blocks, which the public page does not show. */
export function readHistory(source: IncidentSource, fromMs: number, toMs: number): PublicHistory {
  const { ledger } = source;
  const incidents = incidentsOf(source, fromMs, toMs).filter(({ cause }) => cause !== SCATTERED);
  const events = ledger.events(fromMs, toMs).flatMap((event): readonly Incident[] => {
    const { kind } = event;
    const begin = event.fromMs;
    if ((kind !== "halt" && kind !== "gap") || begin < fromMs || event.toMs - begin < LEAST_EVENT_MS)
      return [];
    const isKnown = incidents.some((one) => one.fromMs < event.toMs && begin < one.toMs);
    return isKnown ? [] : [{ fromMs: begin, toMs: event.toMs, month: monthOf(begin), bad: 0n, cause: kind }];
  });
  return {
    days: new Map(
      Object.values(COMPONENT_SOURCES).map((name) => [name, ledger.days(fromMs, toMs, name)] as const),
    ),
    incidents: [...incidents, ...events].toSorted((a, b) => a.fromMs - b.fromMs),
  };
}

/** Joins the histories before and after a point in time. Merges the two parts of an incident that spans this time. */
export function joinHistories(
  past: PublicHistory,
  recent: PublicHistory,
  quietMs: number,
  nowMs: number,
): PublicHistory {
  const sources = new Set([...past.days.keys(), ...recent.days.keys()]);
  const days = new Map(
    [...sources].map((source) => [
      source,
      [...(past.days.get(source) ?? []), ...(recent.days.get(source) ?? [])],
    ]),
  );
  return { days, incidents: joinIncidents(past.incidents, recent.incidents, quietMs, nowMs) };
}
