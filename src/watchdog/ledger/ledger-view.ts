import type { Month } from "../../platform/base/month.ts";
import { MINUTE_MS } from "../../platform/base/time.ts";
import { type BlockCounts, sumCounts } from "./block-counts.ts";
import type { MissRange } from "./miss-ranges.ts";

/**
 * Joins data in memory with older stored data. Memory contains every month, and all rollups since its oldest one. Memory is never
 * behind; the state file is while its disk fails. Rollups are read from `stored` only for a range that starts before memory does.
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

/** Joins the events: memory contains the newest ones, and the current length of an ongoing event. */
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
 * What is counted. "calls": the node's calls to its sidecar. "votes": vote extensions with a price, as found in blocks.
 * "revenue": the counts of the chain's revenue module, on which the chain bases its payments.
 */
export const LEDGER_SOURCES = ["calls", "votes", "revenue"] as const;
export type LedgerSource = (typeof LEDGER_SOURCES)[number];

/** Counts of the blocks in one period. */
export interface Tally {
  /** All blocks, measured and estimated. */
  readonly counts: BlockCounts;
  /** The part of `counts` whose period is estimated: blocks made before the first reading. */
  readonly estimated: BlockCounts;
  /** The part of `counts` that was read from Prometheus after a gap. Absent if there is none. */
  readonly backfilled?: BlockCounts;
}

/** Counts of the blocks in one minute, hour or day (UTC). */
export interface Rollup extends Tally {
  readonly startMs: number;
}

/** Counts of the blocks in one month (UTC, by block time). */
export interface MonthRecord extends Tally {
  readonly month: Month;
  /** Start of the time that the counts cover. Later than the start of the month if the watchdog was started later. */
  readonly coveredFromMs: number;
  /** Present once the month has ended and its counts can no longer change. `hash` is the hex SHA-256 of its text. */
  readonly finalized?: { readonly atMs: number; readonly hash: string };
}

/**
 * Something that happened to a node, the chain or the watchdog. "node-restart": from the last reading before the restart
 * (`fromMs`) to the start of the new process (`toMs`). "sidecar-restart": `fromMs` is the last poll that showed the previous
 * sidecar process. "version-change": the page of a node or its sidecar shows another version. "watchdog-start": the watchdog
 * started. "first-reading": counting began; blocks from `fromMs` on are estimated. "gap": no node could be read. "backfill": the
 * part of a gap that was filled from Prometheus. "halt": the chain made no blocks although its nodes could be read. "clock-jump":
 * this machine's clock was set or is wrong; with `node`: the clock of the node's machine was set. "two-nodes": two nodes
 * responded at one URL, so neither was counted. "parameter-change": the chain's reward parameters changed. "month-sealed": a
 * month was closed. "month-reopened": a month that a wrong clock had closed is open again.
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

/** One event. If it is an instant, both times are equal. */
export interface LedgerEvent {
  readonly kind: LedgerEventKind;
  readonly fromMs: number;
  readonly toMs: number;
  /** Name of the node. Absent for events about the validator or the chain. */
  readonly node?: string;
  /** The event described in one sentence, including values. */
  readonly text: string;
}

/** Reads the counts for one validator. Times are UTC, in ms; ranges are [fromMs, toMs). Lists are ordered oldest first. */
export interface LedgerView {
  readonly validator: string;
  /** Undefined before the first reading. */
  readonly chainId: string | undefined;
  /** Months without blocks are absent. */
  readonly months: (source?: LedgerSource) => readonly MonthRecord[];
  /** Days without blocks are absent. Stored forever. */
  readonly days: (fromMs: number, toMs: number, source?: LedgerSource) => readonly Rollup[];
  /** Hours are stored for 400 days, and only for the source "calls". */
  readonly hours: (fromMs: number, toMs: number) => readonly Rollup[];
  /** Minutes are stored for 12 hours, and only for the source "calls". */
  readonly minutes: (fromMs: number, toMs: number) => readonly Rollup[];
  /** Block ranges that contain bad blocks and whose last block is within the time range. The newest 50,000 ranges are stored. */
  readonly misses: (fromMs: number, toMs: number) => readonly MissRange[];
  /** Events that overlap the time range. */
  readonly events: (fromMs: number, toMs: number) => readonly LedgerEvent[];
}

/** Returns the counts of blocks from the last five minutes, to the minute. */
export function recentBlocks(ledger: LedgerView | undefined, nowMs: number): BlockCounts {
  return sumCounts(ledger?.minutes(nowMs - 5 * MINUTE_MS, nowMs + 1) ?? []);
}
