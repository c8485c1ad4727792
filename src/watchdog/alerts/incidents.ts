import { HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";
import { monthOf } from "../../platform/base/month.ts";
import { type BlockCounts, NO_BLOCKS } from "../ledger/block-counts.ts";
import type { LedgerEvent, LedgerView, Rollup } from "../ledger/ledger-view.ts";
import { type MissRange, missesWithin } from "../ledger/miss-ranges.ts";
import { type Policy, rewardCents } from "../policy/assessment.ts";
import type { PastAlert } from "./alert-state.ts";
import type { AlertStatus } from "./alert-status.ts";

/** Time with many bad blocks. */
export interface Incident {
  readonly fromMs: number;
  readonly toMs: number;
  /** First and last block with a bad one among them; absent when only hours are known. */
  readonly blocks?: { readonly from: bigint; readonly to: bigint };
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
export interface ExplainingAlert {
  /** Name of the condition. */
  readonly alert: string;
  /** First evaluation that found the condition active. */
  readonly sinceMs: number;
  /** Absent while it fires. */
  readonly resolvedAtMs?: number | undefined;
  /** Names of the alerts that it causes. */
  readonly inhibits: readonly string[];
}

/** Returns the alerts of a validator that explain its bad blocks. */
export function explainingAlerts(
  { validator, alerts }: { readonly validator: string; readonly alerts: readonly AlertStatus[] },
  history: readonly PastAlert[],
): readonly ExplainingAlert[] {
  const inhibits = new Map(alerts.map(({ rule }) => [rule.condition.name, rule.condition.inhibits]));
  return history
    .filter((past) => past.validator === validator)
    .map(({ alert, sinceMs, resolvedAtMs }) => ({
      alert,
      sinceMs,
      resolvedAtMs,
      inhibits: inhibits.get(alert) ?? [],
    }));
}

/** Alerts and events that explain bad blocks, and which blocks those are. */
export interface Explanations {
  readonly alerts: readonly ExplainingAlert[];
  readonly events: readonly LedgerEvent[];
  /** Blocks of the time in question; those of older times are not known. */
  readonly misses: readonly MissRange[];
  /** Minutes of the time in question. Used where `misses` are not known. */
  readonly minutes: readonly Rollup[];
}

/** Reads what explains the bad blocks of a range of time. */
export function explanationsOf(
  ledger: LedgerView,
  alerts: readonly ExplainingAlert[],
  fromMs: number,
  toMs: number,
): Explanations {
  return {
    alerts,
    // A sidecar that stops costs blocks before its event.
    events: ledger.events(fromMs - HOUR_MS, toMs),
    misses: ledger.misses(fromMs, toMs),
    minutes: ledger.minutes(fromMs, toMs),
  };
}

/** Share of bad blocks that makes an hour part of an incident: the budget of the full tier is 2 %. */
const INCIDENT_PERCENT = 2n;

/**
 * Joins consecutive hours with at least 2 % bad blocks. Oldest first. An incident is as long as the blocks that are known to be bad, or
 * else as its hours.
 */
export function incidentsOf(hours: readonly Rollup[], explanations: Explanations): readonly Incident[] {
  const runs: Rollup[][] = [];
  for (const hour of hours) {
    const { good, bad } = hour.counts;
    if (bad === 0n || bad * 100n < INCIDENT_PERCENT * (good + bad)) continue;
    const last = runs.at(-1);
    if (last?.at(-1)?.startMs === hour.startMs - HOUR_MS) last.push(hour);
    else runs.push([hour]);
  }
  const rangesIn = rangesByHour(explanations.misses);
  return runs.map((run) => {
    const bad = run.reduce((sum, { counts }) => sum + counts.bad, 0n);
    const ranges = run.flatMap(({ startMs }) => rangesIn(startMs, HOUR_MS));
    return {
      fromMs: run[0]?.startMs ?? 0,
      toMs: (run.at(-1)?.startMs ?? 0) + HOUR_MS,
      ...(badOf(ranges) === bad ? extentOf(ranges) : {}),
      bad,
      cause: causesOf(run, explanations)[0]?.cause ?? NO_CAUSE,
    };
  });
}

function extentOf(ranges: readonly MissRange[]): Partial<Pick<Incident, "fromMs" | "toMs" | "blocks">> {
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (first === undefined || last === undefined) return {};
  const hasBlocks = first.blocks !== undefined && last.blocks !== undefined;
  return {
    fromMs: first.fromMs,
    toMs: last.toMs,
    ...(hasBlocks ? { blocks: { from: first.blocks.from, to: last.blocks.to } } : {}),
  };
}

/**
 * Assigns bad blocks to causes, range of blocks by range of blocks; by minute where these are not known, and by hour where those are not
 * either. A cause gets no more of the bad blocks than the blocks that came while it lasted, in the order of {@link rangesOf}; what is left
 * has no known cause. Greatest count first. `spanMs` is the length of the rollups.
 */
export function causesOf(
  rollups: readonly Rollup[],
  explanations: Explanations,
  spanMs: number = HOUR_MS,
): readonly CauseCount[] {
  const sums = new Map<string, bigint>();
  const causes = rangesOf(explanations);
  const add = (part: Blocks): void => {
    for (const { cause, bad } of assign(part, causes)) sums.set(cause, (sums.get(cause) ?? 0n) + bad);
  };
  const rangesIn = rangesByHour(explanations.misses);
  for (const rollup of rollups) {
    const { startMs, counts } = rollup;
    if (counts.bad === 0n) continue;
    const ranges = rangesIn(startMs, spanMs);
    const minutes = explanations.minutes.filter(
      (minute) => minute.startMs >= startMs && minute.startMs < startMs + spanMs,
    );
    const badByMinute = minutes.reduce((sum, minute) => sum + minute.counts.bad, 0n);
    if (badOf(ranges) === counts.bad) ranges.forEach(add);
    else if (badByMinute === counts.bad) for (const minute of minutes) add(blocksOf(minute, MINUTE_MS));
    else add(blocksOf(rollup, spanMs));
  }
  return [...sums]
    .map(([cause, bad]) => ({ cause, bad }))
    .toSorted((a, b) => (a.bad === b.bad ? (a.cause < b.cause ? -1 : 1) : a.bad > b.bad ? -1 : 1));
}

/** Blocks of a time, some of them bad. */
type Blocks = Omit<MissRange, "blocks">;

function blocksOf({ startMs, counts: { good, bad } }: Rollup, spanMs: number): Blocks {
  return { fromMs: startMs, toMs: startMs + spanMs, good, bad };
}

function badOf(ranges: readonly MissRange[]): bigint {
  return ranges.reduce((sum, { bad }) => sum + bad, 0n);
}

/** Returns a function that finds the ranges that end in a span of at most an hour. */
function rangesByHour(
  ranges: readonly MissRange[],
): (startMs: number, spanMs: number) => readonly MissRange[] {
  const byHour = new Map<number, MissRange[]>();
  for (const range of ranges) {
    const hour = Math.floor(range.toMs / HOUR_MS);
    const own = byHour.get(hour);
    if (own === undefined) byHour.set(hour, [range]);
    else own.push(range);
  }
  return (startMs, spanMs) =>
    missesWithin(byHour.get(Math.floor(startMs / HOUR_MS)) ?? [], startMs, startMs + spanMs);
}

/** Returns what bad blocks cost a month: its pay if they had been good, less its pay. */
export function costCents(policy: Policy, { good, bad }: BlockCounts, missed: bigint): bigint {
  const total = good + bad;
  if (total === 0n) return 0n;
  const own = missed < bad ? missed : bad;
  return rewardCents(policy, { good: good + own, total }) - rewardCents(policy, { good, total });
}

/** An incident, and the pay that its month would have had without its bad blocks, less the pay that it has. */
export type CostedIncident = Incident & {
  readonly costCents: bigint;
  /** Absent: the currency has no name. */
  readonly currency?: string;
};

/** Returns the incidents of some hours with their cost. */
export function costedIncidents(
  { ledger, policy }: { readonly ledger: LedgerView; readonly policy: Policy },
  hours: readonly Rollup[],
  explanations: Explanations,
): readonly CostedIncident[] {
  const months = new Map(ledger.months().map(({ month, counts }) => [month, counts]));
  return incidentsOf(hours, explanations).map((incident) => {
    const counts = months.get(monthOf(incident.fromMs)) ?? NO_BLOCKS;
    const { currency } = policy;
    return {
      ...incident,
      costCents: costCents(policy, counts, incident.bad),
      ...(currency === undefined ? {} : { currency }),
    };
  });
}

function assign(
  { fromMs: beginMs, toMs: endMs, good, bad }: Blocks,
  causes: readonly CauseRange[],
): readonly CauseCount[] {
  const blocks = Number(good + bad);
  // All blocks of a reading can have come in one instant.
  const spanMs = Math.max(1, endMs - beginMs);
  let left = bad;
  const found: CauseCount[] = [];
  for (const { cause, fromMs, toMs } of causes) {
    const overlapMs = Math.min(toMs, beginMs + spanMs) - Math.max(fromMs, beginMs);
    if (left === 0n || overlapMs <= 0) continue;
    const capacity = BigInt(Math.ceil((blocks * overlapMs) / spanMs));
    const part = left < capacity ? left : capacity;
    found.push({ cause, bad: part });
    left -= part;
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
function rangesOf({ alerts, events }: Pick<Explanations, "alerts" | "events">): readonly CauseRange[] {
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

const SYMPTOM = /^(any|full)-reward-|^rotation-risk$|^cannot-see-|^jail-|^prices-differ-|^upgrade-|^payment-/;

/** True for alerts about the count, about what cannot be seen, and about prices, upgrades and payments, which lose no block. */
export function isSymptom(alert: string): boolean {
  return SYMPTOM.test(alert);
}
