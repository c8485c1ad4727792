import type { Month } from "../../platform/base/month.ts";
import { MINUTE_MS } from "../../platform/base/time.ts";
import { type BlockCounts, sumCounts } from "./block-counts.ts";
import type { MissRange } from "./miss-ranges.ts";

/**
 * Joins what is in memory with what is older than it. Memory has every month, and of the rollups all since its oldest one. It is
 * never behind; the state file is while its disk fails. `stored` is read only for a range that begins before memory does.
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

/** Memory has the newest events, and the present length of one that goes on. */
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
 * Counted results. "calls": the node's calls to its sidecar. "votes": vote extensions with a price, as the blocks have them.
 * "revenue": what the chain's revenue module counted, by which it pays.
 */
export const LEDGER_SOURCES = ["calls", "votes", "revenue"] as const;

/** One of {@link LEDGER_SOURCES}. */
export type LedgerSource = (typeof LEDGER_SOURCES)[number];

/** Counted blocks of one period. */
export interface Tally {
  /** All blocks, measured and estimated. */
  readonly counts: BlockCounts;
  /** The part of `counts` whose period is an estimate: blocks before the first reading. */
  readonly estimated: BlockCounts;
  /** The part of `counts` that was read from Prometheus after a gap. Absent: none. */
  readonly backfilled?: BlockCounts;
}

/** Counted blocks of one minute, hour or day (UTC). */
export interface Rollup extends Tally {
  readonly startMs: number;
}

/** Counted blocks of one month (UTC, by block time). */
export interface MonthRecord extends Tally {
  readonly month: Month;
  /** Start of the time that the counts cover; later than the start of the month when the watchdog came later. */
  readonly coveredFromMs: number;
  /** Present when the month is over and its counts can no longer change. */
  readonly finalized?: Finalization;
}

/** A closed month. */
interface Finalization {
  readonly atMs: number;
  /** SHA-256 of the record's canonical text, hex; see `finalizeMonths`. */
  readonly hash: string;
}

/**
 * Something that happened to a node, the chain or the watchdog.
 * "node-restart": `fromMs` is the last reading before it, `toMs` the start of the new process.
 * "sidecar-restart": `fromMs` is the last poll that showed the sidecar's process before. "version-change": the page of a node or
 * its sidecar shows another version.
 * "watchdog-start": the watchdog began to run. "first-reading": counting began; blocks from `fromMs` on are estimated.
 * "gap": no reading of any node. "backfill": the part of a gap that was filled from Prometheus.
 * "halt": the chain made no block while its nodes could be read. "clock-jump": the clock of this machine was set or is wrong; with `node`: the clock of the node's machine was set.
 * "two-nodes": two nodes answered at one URL, so that neither was counted.
 * "parameter-change": the chain's reward parameters changed. "month-sealed": a month was closed. "month-reopened": it was
 * closed by a wrong clock, and is open again.
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

/** One of {@link LEDGER_EVENT_KINDS}. */
type LedgerEventKind = (typeof LEDGER_EVENT_KINDS)[number];

/** One event. An instant has equal times. */
export interface LedgerEvent {
  readonly kind: LedgerEventKind;
  readonly fromMs: number;
  readonly toMs: number;
  /** Name of the node; absent for events of the validator or the chain. */
  readonly node?: string;
  /** The event in one sentence, with values. */
  readonly text: string;
}

/** Reads the counts of one validator. Times are UTC, ms; ranges are [fromMs, toMs). Lists are oldest first. */
export interface LedgerView {
  readonly validator: string;
  /** Undefined before the first reading. */
  readonly chainId: string | undefined;
  /** Months without a block are absent. */
  readonly months: (source?: LedgerSource) => readonly MonthRecord[];
  /** Days without a block are absent. Stored for ever. */
  readonly days: (fromMs: number, toMs: number, source?: LedgerSource) => readonly Rollup[];
  /** Stored for 400 days. Counted for "calls" only. */
  readonly hours: (fromMs: number, toMs: number) => readonly Rollup[];
  /** Stored for 12 hours. Counted for "calls" only. */
  readonly minutes: (fromMs: number, toMs: number) => readonly Rollup[];
  /** Ranges of blocks with bad ones among them whose last block is in the range of time. The newest 50,000 are stored. */
  readonly misses: (fromMs: number, toMs: number) => readonly MissRange[];
  /** Events that overlap the range. */
  readonly events: (fromMs: number, toMs: number) => readonly LedgerEvent[];
}

/** Returns the blocks of the last five minutes, to the minute. */
export function recentBlocks(ledger: LedgerView | undefined, nowMs: number): BlockCounts {
  return sumCounts(ledger?.minutes(nowMs - 5 * MINUTE_MS, nowMs + 1) ?? []);
}
