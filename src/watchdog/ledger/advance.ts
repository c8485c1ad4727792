import type { NodeReading } from "../sources/node-reading.ts";
import { type BlockCounts, NO_BLOCKS } from "./block-counts.ts";
import { monthOf } from "./month.ts";

/** The last reading that was counted, and when it was taken. */
export interface CounterMark extends NodeReading {
  readonly atMs: number;
}

/** What a reading adds to the ledger. */
export interface LedgerStep {
  readonly counts: BlockCounts;
  /** Beginning of the time in which these blocks passed. */
  readonly fromMs: number;
  /** The node began to count anew since the mark. */
  readonly restarted: boolean;
  readonly mark: CounterMark;
}

/** The kernel's boot time, from which the start is computed, may move by a second. */
const START_TOLERANCE_MS = 2000;

/**
 * Blocks between the mark and a new reading of the same chain.
 *
 * Counters only grow within one life of the node. After a restart of the node (a value fell, or its process start moved)
 * the new values count in full, and blocks that neither life counted are unknown: the growth of the height, less those
 * counted. A restart of the sidecar or of the watchdog changes nothing here: the node goes on counting.
 * Without a mark, the node's count since its start is taken when that start lies in the same month; else counting
 * begins now.
 */
export function advance(mark: CounterMark | undefined, reading: NodeReading, atMs: number): LedgerStep {
  const next = { ...reading, atMs };
  if (mark === undefined) return firstStep(reading, next);
  if (!hasRestarted(mark, reading)) {
    const counts = { good: reading.success - mark.success, bad: reading.failure - mark.failure, unknown: 0n };
    return { counts, fromMs: mark.atMs, restarted: false, mark: next };
  }
  const { success: good, failure: bad } = reading;
  const counts = { good, bad, unknown: uncounted(mark, reading, good + bad) };
  return { counts, fromMs: mark.atMs, restarted: true, mark: next };
}

function firstStep(reading: NodeReading, mark: CounterMark): LedgerStep {
  const { processStartMs } = reading;
  const sameMonth =
    processStartMs !== undefined &&
    processStartMs <= mark.atMs &&
    monthOf(processStartMs) === monthOf(mark.atMs);
  return {
    counts: sameMonth ? { good: reading.success, bad: reading.failure, unknown: 0n } : NO_BLOCKS,
    fromMs: sameMonth ? processStartMs : mark.atMs,
    restarted: false,
    mark,
  };
}

function hasRestarted(mark: CounterMark, reading: NodeReading): boolean {
  if (reading.success < mark.success || reading.failure < mark.failure) return true;
  if (mark.processStartMs === undefined || reading.processStartMs === undefined) return false;
  return Math.abs(reading.processStartMs - mark.processStartMs) > START_TOLERANCE_MS;
}

function uncounted(mark: CounterMark, reading: NodeReading, counted: bigint): bigint {
  if (mark.height === undefined || reading.height === undefined) return 0n;
  const missing = reading.height - mark.height - counted;
  return missing > 0n ? missing : 0n;
}
