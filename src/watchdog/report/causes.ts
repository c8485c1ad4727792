import { HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";
import type { BlockCounts } from "../ledger/block-counts.ts";
import type { LedgerEvent, Rollup } from "../ledger/ledger-view.ts";
import { type Policy, rewardCents } from "../policy/assessment.ts";
import type { AlertEpisode } from "./validator-data.ts";

/** Time with many bad blocks. */
export interface Incident {
  readonly fromMs: number;
  readonly toMs: number;
  readonly bad: bigint;
  /** The cause of most of its bad blocks. */
  readonly cause: string;
}

/** Bad blocks with one cause. */
export interface CauseCount {
  readonly cause: string;
  readonly bad: bigint;
}

/** Cause of bad blocks that nothing explains. */
export const NO_CAUSE = "no known cause";

/** The part of an alert that explains bad blocks. */
export type ExplainingAlert = Pick<AlertEpisode, "alert" | "sinceMs" | "inhibits"> & {
  /** Absent while it fires. */
  readonly resolvedAtMs?: number | undefined;
};

/** Alerts and events that explain bad blocks. */
export interface Explanations {
  readonly alerts: readonly ExplainingAlert[];
  readonly events: readonly LedgerEvent[];
}

/** Share of bad blocks that makes an hour part of an incident: the budget of the full tier is 2 %. */
const INCIDENT_PERCENT = 2n;

/** Joins consecutive hours with at least 2 % bad blocks. Oldest first. */
export function incidentsOf(hours: readonly Rollup[], explanations: Explanations): readonly Incident[] {
  const runs: Rollup[][] = [];
  for (const hour of hours) {
    const { good, bad } = hour.counts;
    if (bad === 0n || bad * 100n < INCIDENT_PERCENT * (good + bad)) continue;
    const last = runs.at(-1);
    if (last?.at(-1)?.startMs === hour.startMs - HOUR_MS) last.push(hour);
    else runs.push([hour]);
  }
  return runs.map((run) => ({
    fromMs: run[0]?.startMs ?? 0,
    toMs: (run.at(-1)?.startMs ?? 0) + HOUR_MS,
    bad: run.reduce((sum, { counts }) => sum + counts.bad, 0n),
    cause: causesOf(run, explanations)[0]?.cause ?? NO_CAUSE,
  }));
}

/**
 * Assigns bad blocks to causes, those of an hour whose minutes are known minute by minute. A cause gets no more of an hour's bad blocks
 * than the blocks that came while it lasted, in the order of {@link rangesOf}; what is left has no known cause. Greatest count first.
 */
export function causesOf(
  hours: readonly Rollup[],
  explanations: Explanations,
  minutes: readonly Rollup[] = [],
): readonly CauseCount[] {
  const sums = new Map<string, bigint>();
  const ranges = rangesOf(explanations);
  const add = (rollup: Rollup, spanMs: number): void => {
    for (const { cause, bad } of assign(rollup, spanMs, ranges))
      sums.set(cause, (sums.get(cause) ?? 0n) + bad);
  };
  // Minutes alone, without their hours.
  if (hours.length === 0) for (const minute of minutes) add(minute, MINUTE_MS);
  for (const hour of hours) {
    const own = minutes.filter(({ startMs }) => startMs >= hour.startMs && startMs < hour.startMs + HOUR_MS);
    const isWhole = own.reduce((sum, { counts }) => sum + counts.bad, 0n) === hour.counts.bad;
    if (isWhole) for (const minute of own) add(minute, MINUTE_MS);
    else add(hour, HOUR_MS);
  }
  return [...sums]
    .map(([cause, bad]) => ({ cause, bad }))
    .toSorted((a, b) => (a.bad === b.bad ? (a.cause < b.cause ? -1 : 1) : a.bad > b.bad ? -1 : 1));
}

/** Returns what bad blocks cost a month: its pay if they had been good, less its pay. */
export function costCents(policy: Policy, { good, bad }: BlockCounts, missed: bigint): bigint {
  const total = good + bad;
  if (total === 0n) return 0n;
  const own = missed < bad ? missed : bad;
  return rewardCents(policy, { good: good + own, total }) - rewardCents(policy, { good, total });
}

/** Cost of an hour of an incident, rounded down. */
export function costPerHour(cents: bigint, timeMs: number): bigint {
  return timeMs <= 0 ? cents : (cents * BigInt(HOUR_MS)) / BigInt(Math.round(timeMs));
}

function assign(
  { startMs, counts }: Rollup,
  spanMs: number,
  ranges: readonly CauseRange[],
): readonly CauseCount[] {
  const blocks = Number(counts.good + counts.bad);
  let left = counts.bad;
  const found: CauseCount[] = [];
  for (const { cause, fromMs, toMs } of ranges) {
    const overlapMs = Math.min(toMs, startMs + spanMs) - Math.max(fromMs, startMs);
    if (left === 0n || overlapMs <= 0) continue;
    const capacity = BigInt(Math.ceil((blocks * overlapMs) / spanMs));
    const bad = left < capacity ? left : capacity;
    found.push({ cause, bad });
    left -= bad;
  }
  return left === 0n ? found : [...found, { cause: NO_CAUSE, bad: left }];
}

/** A time in which a cause explains bad blocks. */
interface CauseRange {
  readonly cause: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A poll sees a failure up to this time after its begin. */
const SEEN_LATE_MS = 30_000;
/** Calls fail before a sidecar that stops is gone, and after it or the node is back (measured on a real node). */
const DRAIN_MS = 8000;
const RECONNECT_MS = 11_000;

/**
 * Times of causes, the most exact first: what failed by the alerts about it, then restarts, halts and gaps, and last calls that fail for
 * another reason. An alert about the count (rate, burn, risk), or about what the watchdog cannot see, follows from something else and is
 * no cause. Nor is an alert that another one in the same time explains. While a node restarts its blocks are unknown, not bad: it
 * explains those after its start.
 */
function rangesOf({ alerts, events }: Explanations): readonly CauseRange[] {
  const own = alerts.filter(({ alert }) => !isSymptom(alert));
  const roots = own.filter(
    (one) => !own.some((other) => other.inhibits.includes(one.alert) && overlaps(other, one)),
  );
  const ofAlerts = roots.map(({ alert, sinceMs, resolvedAtMs = Infinity }) => {
    return { cause: alert, fromMs: sinceMs - SEEN_LATE_MS, toMs: resolvedAtMs };
  });
  const isCalls = ({ cause }: CauseRange): boolean => cause === "oracle-calls-failing";
  return [
    ...ofAlerts.filter((range) => !isCalls(range)),
    ...EVENT_RANGES.flatMap(([kind, before, after]) =>
      events
        .filter((event) => event.kind === kind)
        .map(({ fromMs, toMs }) => ({ cause: kind, fromMs: before(fromMs, toMs), toMs: toMs + after })),
    ),
    ...ofAlerts.filter(isCalls),
  ];
}

const EVENT_RANGES: readonly (readonly [
  LedgerEvent["kind"],
  (fromMs: number, toMs: number) => number,
  number,
])[] = [
  ["sidecar-restart", (fromMs) => fromMs - DRAIN_MS, RECONNECT_MS],
  ["node-restart", (_fromMs, toMs) => toMs, RECONNECT_MS],
  ["halt", (fromMs) => fromMs, SEEN_LATE_MS],
  ["gap", (fromMs) => fromMs, 0],
  ["two-nodes", (fromMs) => fromMs, 0],
];

function overlaps(a: ExplainingAlert, b: ExplainingAlert): boolean {
  return a.sinceMs < (b.resolvedAtMs ?? Infinity) && b.sinceMs < (a.resolvedAtMs ?? Infinity);
}

const SYMPTOM = /^(any|full)-reward-|^rotation-risk$|^cannot-see-/;

/** True for alerts about the count, and about what cannot be seen. */
export function isSymptom(alert: string): boolean {
  return SYMPTOM.test(alert);
}
