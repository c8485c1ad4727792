import {
  addCounts,
  type BlockCounts,
  type LedgerEvent,
  type LedgerView,
  type MonthRecord,
  NO_BLOCKS,
  type Rollup,
} from "../../../src/watchdog/ledger/ledger-view.ts";
import { type Month, monthOf, monthStartMs, nextMonthMs } from "../../../src/platform/base/month.ts";
import { assess } from "../../../src/watchdog/policy/assess.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import type { AlertEpisode, ValidatorData } from "../../../src/watchdog/report/validator-data.ts";
import { ledgerViewOf } from "../watchdog/ledger-view.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** One block a second. */
const BLOCKS_PER_HOUR = 3600;

/** A time with bad or unknown blocks. */
interface Trouble {
  readonly fromMs: number;
  readonly hours: number;
  /** Bad blocks of each hour. */
  readonly bad?: number;
  readonly unknown?: number;
  /** The blocks were counted so: before the first reading, or from Prometheus after a gap. */
  readonly origin?: "estimated" | "backfilled";
  /** An alert that fires for this time. */
  readonly alert?: Pick<AlertEpisode, "alert" | "title" | "inhibits">;
}

const SIDECAR_DOWN = { alert: "sidecar-down", title: "Sidecar down", inhibits: ["all-prices-missing"] };
const NO_PRICES = { alert: "all-prices-missing", title: "All prices missing", inhibits: [] };

/** October 2026, on this day and hour. */
function october(day: number, hour: number): number {
  return Date.UTC(2026, 9, day, hour);
}

/** What happens to the first validators in October 2026; the others only miss single blocks. */
const TROUBLES: readonly (readonly Trouble[])[] = [
  [],
  [{ fromMs: october(12, 3), hours: 20, bad: 3600, alert: SIDECAR_DOWN }],
  [{ fromMs: october(5, 0), hours: 40, bad: 3400, alert: SIDECAR_DOWN }],
  [
    { fromMs: october(8, 9), hours: 8, bad: 3600, alert: NO_PRICES },
    { fromMs: october(20, 9), hours: 8, bad: 3600, alert: NO_PRICES },
  ],
  [
    { fromMs: october(15, 12), hours: 6, unknown: 3600 },
    { fromMs: october(16, 12), hours: 13, bad: 3590 },
  ],
  [
    { fromMs: october(3, 7), hours: 1, bad: 22 },
    { fromMs: october(20, 2), hours: 4, bad: 5, origin: "backfilled" },
    { fromMs: october(1, 0), hours: 9, origin: "estimated" },
  ],
];

/** Index of a validator that stays at exactly 98 %, and of one at exactly 95 %. */
const EXACT: Readonly<Record<number, number>> = { 6: 72, 7: 180 };

/** Creates a store with months of data for some validators, one block a second. Months before the last are sealed. */
export function sampleValidators(count: number, months: number, endMs: number): readonly ValidatorData[] {
  return Array.from({ length: count }, (_, index) => sampleValidator(index, months, endMs));
}

function sampleValidator(index: number, months: number, endMs: number): ValidatorData {
  const troubles = TROUBLES[index] ?? [];
  const random = createRandom(index + 1);
  const first = new Date(endMs);
  const startMs = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() - (months - 1), 1);
  const hours: Rollup[] = [];
  for (let atMs = startMs; atMs < endMs; atMs += HOUR) hours.push(hourOf(index, troubles, atMs, random));
  const days = sumBy(hours, (atMs) => Math.floor(atMs / DAY) * DAY);
  const view = ledgerViewOf(
    {
      hours,
      days,
      months: sumBy(days, (atMs) => monthStartMs(monthOf(atMs))).map((month) => monthRecord(month, endMs)),
      minutes: lastMinutes(hours, endMs),
      events: eventsOf(index, troubles),
    },
    `validator-${String(index + 1).padStart(2, "0")}`,
  );
  const ledger = indexed(view, hours, days);
  return {
    ledger,
    policy: SPECIFIED_POLICY,
    assessment: assess({ ledger, nowMs: endMs, policy: SPECIFIED_POLICY, blockTimeMs: 1000 }),
    alerts: troubles.flatMap(episode),
  };
}

/** Reads ranges by position: a real store has an index. */
function indexed(view: LedgerView, hours: readonly Rollup[], days: readonly Rollup[]): LedgerView {
  const slice =
    (rollups: readonly Rollup[], unitMs: number) =>
    (fromMs: number, toMs: number): readonly Rollup[] => {
      const originMs = rollups[0]?.startMs ?? 0;
      return rollups.slice(
        Math.max(0, Math.ceil((fromMs - originMs) / unitMs)),
        Math.ceil((toMs - originMs) / unitMs),
      );
    };
  return { ...view, hours: slice(hours, HOUR), days: slice(days, DAY) };
}

function hourOf(index: number, troubles: readonly Trouble[], atMs: number, random: () => number): Rollup {
  const trouble = troubles.find(({ fromMs, hours }) => atMs >= fromMs && atMs < fromMs + hours * HOUR);
  const noise = index > 7 && random() < 0.2 ? 1 + Math.floor(random() * 3) : 0;
  const bad = EXACT[index] ?? trouble?.bad ?? noise;
  const unknown = trouble?.unknown ?? 0;
  const counts: BlockCounts = {
    good: BigInt(BLOCKS_PER_HOUR - bad - unknown),
    bad: BigInt(bad),
    unknown: BigInt(unknown),
  };
  return {
    startMs: atMs,
    counts,
    estimated: trouble?.origin === "estimated" ? counts : NO_BLOCKS,
    ...(trouble?.origin === "backfilled" ? { backfilled: counts } : {}),
  };
}

function sumBy(rollups: readonly Rollup[], startOf: (atMs: number) => number): readonly Rollup[] {
  const sums = new Map<number, Rollup>();
  for (const { startMs: atMs, counts, estimated, backfilled } of rollups) {
    const startMs = startOf(atMs);
    const sum = sums.get(startMs) ?? { startMs, counts: NO_BLOCKS, estimated: NO_BLOCKS };
    const filled =
      backfilled === undefined ? sum.backfilled : addCounts(sum.backfilled ?? NO_BLOCKS, backfilled);
    sums.set(startMs, {
      startMs,
      counts: addCounts(sum.counts, counts),
      estimated: addCounts(sum.estimated, estimated),
      ...(filled === undefined ? {} : { backfilled: filled }),
    });
  }
  return [...sums.values()];
}

function monthRecord({ startMs, ...tally }: Rollup, endMs: number): MonthRecord {
  const month: Month = monthOf(startMs);
  const endOfMonth = nextMonthMs(startMs);
  const finalized = { atMs: endOfMonth + 60_000, hash: `${month.replace("-", "")}${"0".repeat(58)}` };
  return { month, ...tally, coveredFromMs: startMs, ...(endOfMonth <= endMs ? { finalized } : {}) };
}

/** Twelve hours of minutes, which repeat what the hours say. */
function lastMinutes(hours: readonly Rollup[], endMs: number): readonly Rollup[] {
  return hours
    .filter(({ startMs }) => startMs >= endMs - 12 * HOUR)
    .flatMap(({ startMs, counts: { good, bad, unknown } }) =>
      Array.from({ length: 60 }, (_, minute) => ({
        startMs: startMs + minute * 60_000,
        counts: { good: part(good, minute), bad: part(bad, minute), unknown: part(unknown, minute) },
        estimated: NO_BLOCKS,
      })),
    );
}

/** The share of one minute; the shares of an hour add up. */
function part(count: bigint, minute: number): bigint {
  return (count * BigInt(minute + 1)) / 60n - (count * BigInt(minute)) / 60n;
}

/** A deployment on October 12: the watchdog, a sidecar, then its node, each of the two with another version. */
const DEPLOYMENT: readonly LedgerEvent[] = [
  { ...deployed(3, 0), kind: "watchdog-start", text: "the watchdog started running" },
  { ...deployed(10, 26_000), kind: "sidecar-restart", node: "main", text: "the sidecar restarted" },
  {
    ...deployed(11, 0),
    kind: "version-change",
    node: "main",
    text: "the sidecar's version changed from v1.2.2 to v1.3.1",
  },
  {
    ...deployed(20, 41_000),
    kind: "node-restart",
    node: "main",
    text: "the node restarted",
  },
  {
    ...deployed(21, 0),
    kind: "version-change",
    node: "main",
    text: "the node's version changed from go1.23.12 to go1.24.1",
  },
];

function deployed(minute: number, forMs: number) {
  const fromMs = october(12, 7) + minute * 60_000;
  return { fromMs, toMs: fromMs + forMs };
}

function eventsOf(index: number, troubles: readonly Trouble[]): readonly LedgerEvent[] {
  const gaps = troubles
    .filter(({ unknown }) => unknown !== undefined)
    .map(({ fromMs, hours }): LedgerEvent => {
      return { kind: "gap", fromMs, toMs: fromMs + hours * HOUR, text: "no node could be read" };
    });
  if (index === 3) return [...gaps, ...DEPLOYMENT];
  if (index !== 5) return gaps;
  const atMs = october(3, 7) + 600_000;
  const filled = { fromMs: october(20, 2), toMs: october(20, 6) };
  return [
    {
      kind: "first-reading",
      fromMs: october(1, 0),
      toMs: october(1, 9),
      node: "main",
      text: "counting begins; 32400 blocks before it are dated by the node's start, which is an estimate",
    },
    {
      kind: "node-restart",
      fromMs: atMs,
      toMs: atMs + 24_000,
      node: "main",
      text: "the node restarted; the results of 14 blocks are not known",
    },
    {
      kind: "parameter-change",
      fromMs: october(18, 4),
      toMs: october(18, 4),
      text: "the chain's reward parameters changed: pay of a full month from 3000 to 2500",
    },
    { ...filled, kind: "gap", text: "no node could be read" },
    { ...filled, kind: "backfill", text: "the counts for this time were read from Prometheus" },
  ];
}

function episode({ alert, fromMs, hours, bad }: Trouble): readonly AlertEpisode[] {
  if (alert === undefined) return [];
  return [
    {
      ...alert,
      severity: "critical",
      sinceMs: fromMs,
      firedAtMs: fromMs + 300_000,
      resolvedAtMs: fromMs + hours * HOUR,
      reason: `${bad} misses an hour`,
    },
  ];
}

/** The mulberry32 generator. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
