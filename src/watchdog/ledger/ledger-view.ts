import type { Month } from "../../platform/base/month.ts";
import { MINUTE_MS } from "../../platform/base/time.ts";

/**
 * Combines the counts in memory with older counts from the state file. Memory holds every month and the recent rollups, and stays
 * up to date even if the disk fails. `stored` is read only if the requested range begins before the oldest rollup in memory.
 */
export function joinedView(memory: LedgerView, stored: LedgerView): LedgerView {
  const { validator, chainId, months } = memory;
  const joined = (
    span: "days" | "hours" | "minutes",
    ...[fromMs, toMs, source]: Parameters<LedgerView["days"]>
  ): readonly Rollup[] => {
    const [oldest] = memory[span](0, toMs, source);
    const beginMs = oldest?.startMs ?? toMs;
    const older = fromMs < beginMs ? stored[span](fromMs, beginMs, source) : [];
    return [...older, ...memory[span](fromMs, toMs, source)];
  };
  return {
    validator,
    chainId,
    months,
    days: (...range) => joined("days", ...range),
    hours: (...range) => joined("hours", ...range),
    minutes: (...range) => joined("minutes", ...range),
    misses: (fromMs, toMs) => {
      const beginMs = Math.min(memory.misses(0, toMs)[0]?.toMs ?? toMs, toMs);
      const older = fromMs < beginMs ? stored.misses(fromMs, beginMs) : [];
      return [...older, ...memory.misses(fromMs, toMs)];
    },
    events: (fromMs, toMs) => joinedEvents(memory.events(fromMs, toMs), stored.events(fromMs, toMs)),
  };
}

/** Combines stored events with events from memory, which include the newest events and an ongoing event's current end. */
function joinedEvents(
  recent: readonly LedgerEvent[],
  stored: readonly LedgerEvent[],
): readonly LedgerEvent[] {
  const known = new Set(recent.map(keyOf));
  return [...stored.filter((event) => !known.has(keyOf(event))), ...recent].toSorted(
    (a, b) => a.fromMs - b.fromMs,
  );
}

function keyOf({ kind, fromMs, node }: LedgerEvent): string {
  return `${kind} ${fromMs} ${node ?? ""}`;
}

/**
 * The sources from which oracle results are counted. "calls": the node's calls to its sidecar. "votes": the vote extensions with a price,
 * as found in blocks. "revenue": the revenue module's own count, on which the chain bases its payments.
 */
export const LEDGER_SOURCES = ["calls", "votes", "revenue"] as const;
export type LedgerSource = (typeof LEDGER_SOURCES)[number];

/** Counts of the blocks in one period. */
export interface Tally {
  /** Counts of all blocks in the period, measured and estimated. */
  readonly counts: BlockCounts;
  /** The blocks in `counts` that were made before the first reading, so that their times are only estimates. */
  readonly estimated: BlockCounts;
  /** The blocks in `counts` that were read from Prometheus after a gap; absent if no such blocks were read. */
  readonly backfilled?: BlockCounts;
}

/** Counts of the blocks in one minute, hour or day (UTC). */
export interface Rollup extends Tally {
  readonly startMs: number;
}

/** Counts of the blocks in one month (UTC, by block time). */
export interface MonthRecord extends Tally {
  readonly month: Month;
  /** When the counts begin, which is after the start of the month if the watchdog was started during the month. */
  readonly coveredFromMs: number;
  /** Set once the month has ended and its counts can no longer change. `hash` is the SHA-256 hash of the month's record, in hex. */
  readonly finalized?: { readonly atMs: number; readonly hash: string };
}

/**
 * Consecutive blocks, at least one of them bad, that were counted by one or more polls. A range belongs to the minute, hour and day
 * in which it ends. The ranges add up to a rollup's bad blocks unless readings were over a minute apart.
 */
export interface MissRange {
  /** Times of the block before the range and of the range's last block, in ms. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Heights of the range's first and last blocks; absent if the node reports no height. */
  readonly blocks?: { readonly from: bigint; readonly to: bigint };
  readonly good: bigint;
  readonly bad: bigint;
}

/**
 * Kinds of events at a node, the chain or the watchdog:
 *
 * - "node-restart": from the last reading before the restart (`fromMs`) to the start of the new process (`toMs`).
 * - "sidecar-restart": `fromMs` is the last poll that showed the previous sidecar process.
 * - "version-change": the page of a node or its sidecar shows another version.
 * - "watchdog-start": the watchdog started.
 * - "first-reading": counting began; blocks from `fromMs` on are estimated.
 * - "gap": no node could be read.
 * - "backfill": the part of a gap that was filled from Prometheus.
 * - "halt": the chain made no blocks although its nodes could be read.
 * - "clock-jump": this machine's clock was set or is wrong; with `node`: the clock of the node's machine was set.
 * - "two-nodes": two nodes responded at one URL, so neither was counted.
 * - "parameter-change": the chain's reward parameters changed.
 * - "month-sealed": a month was closed.
 * - "month-reopened": a month that a wrong clock had closed is open again.
 */
export const LEDGER_EVENT_KINDS = [
  "node-restart",
  "sidecar-restart",
  "version-change",
  "watchdog-start",
  "first-reading",
  "gap",
  "backfill",
  "halt",
  "clock-jump",
  "two-nodes",
  "parameter-change",
  "month-sealed",
  "month-reopened",
] as const;
type LedgerEventKind = (typeof LEDGER_EVENT_KINDS)[number];

/** An event that spans an interval or, if both times are equal, happened at an instant. */
export interface LedgerEvent {
  readonly kind: LedgerEventKind;
  readonly fromMs: number;
  readonly toMs: number;
  /** Name of the node; absent for events about the validator or the chain. */
  readonly node?: string;
  /** Describes the event in one sentence, with its values. */
  readonly text: string;
}

/** Reads one validator's counts. Times are UTC, in ms; ranges are [fromMs, toMs). All lists are in time order, oldest first. */
export interface LedgerView {
  readonly validator: string;
  /** The id of the validator's chain; undefined before the first reading. */
  readonly chainId: string | undefined;
  /** Returns all stored months in which blocks were counted. */
  readonly months: (source?: LedgerSource) => readonly MonthRecord[];
  /** Returns the days in which blocks were counted. Daily counts are stored forever. */
  readonly days: (fromMs: number, toMs: number, source?: LedgerSource) => readonly Rollup[];
  /** Returns the hours in which blocks were counted. Hourly counts are stored for 400 days, and only for the source "calls". */
  readonly hours: (fromMs: number, toMs: number) => readonly Rollup[];
  /** Returns the minutes in which blocks were counted. Counts by minute are stored for 12 hours, and only for the source "calls". */
  readonly minutes: (fromMs: number, toMs: number) => readonly Rollup[];
  /** Returns the stored ranges with bad blocks that end within the given time; at most the newest 50,000 are stored. */
  readonly misses: (fromMs: number, toMs: number) => readonly MissRange[];
  /** Returns the events that overlap the given time. */
  readonly events: (fromMs: number, toMs: number) => readonly LedgerEvent[];
}

/** Returns the block counts of the last five minutes, including the current minute. */
export function recentBlocks(ledger: LedgerView | undefined, nowMs: number): BlockCounts {
  return sumCounts(ledger?.minutes(nowMs - 5 * MINUTE_MS, nowMs + 1) ?? []);
}

/** Block counts by result of the oracle call. */
export interface BlockCounts {
  readonly good: bigint;
  readonly bad: bigint;
  /** Blocks whose results were lost in a node restart, because they were made after the last reading. */
  readonly unknown: bigint;
}

export const NO_BLOCKS: BlockCounts = { good: 0n, bad: 0n, unknown: 0n };

export function addCounts(a: BlockCounts, b: BlockCounts): BlockCounts {
  return { good: a.good + b.good, bad: a.bad + b.bad, unknown: a.unknown + b.unknown };
}

/** Returns the total number of good, bad and unknown blocks. */
export function allBlocks({ good, bad, unknown }: BlockCounts = NO_BLOCKS): bigint {
  return good + bad + unknown;
}

export function sumCounts(tallies: Iterable<{ readonly counts: BlockCounts }>): BlockCounts {
  let sum = NO_BLOCKS;
  for (const { counts } of tallies) sum = addCounts(sum, counts);
  return sum;
}

export function isNoBlocks(counts: BlockCounts): boolean {
  return counts.good === 0n && counts.bad === 0n && counts.unknown === 0n;
}

export function subtractCounts(a: BlockCounts, b: BlockCounts): BlockCounts {
  return { good: a.good - b.good, bad: a.bad - b.bad, unknown: a.unknown - b.unknown };
}

/** Returns the counts multiplied by `numerator / denominator`, with each count rounded down. */
export function partOfCounts(counts: BlockCounts, numerator: bigint, denominator: bigint): BlockCounts {
  const part = (count: bigint): bigint => (count * numerator) / denominator;
  return { good: part(counts.good), bad: part(counts.bad), unknown: part(counts.unknown) };
}

/** Returns the share of blocks that are bad; undefined if there are no blocks. */
export function badShare({ good, bad }: BlockCounts): number | undefined {
  return good + bad === 0n ? undefined : Number(bad) / Number(good + bad);
}
