import { type Month, monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { MINUTE_MS } from "../../platform/base/time.ts";
import type { ChainHead, MonthEdge, Observation } from "../sources/observation.ts";

/**
 * Time of the blocks that a poll counts. The chain pays by block time, so block time is used if the chain can be read; otherwise,
 * the time of the poll is used, which is at most one poll later.
 */
export interface LedgerTime {
  readonly timeMs: number;
  readonly edge?: MonthEdge | undefined;
  /** True if no counted block is later than `timeMs`, even if the ledger dates it later. */
  readonly isProven: boolean;
  /** Returns true if a month that has ended by `timeMs` can be closed. */
  readonly closes: (month: Month) => boolean;
}

/** Within this time, a wrong clock is noticed by the sources or by the person who corrects it. */
const CLOSE_AFTER_MS = 10 * MINUTE_MS;

/** Allowed difference between the clock and the chain's time. */
const TOLERANCE_MS = MINUTE_MS;

/** A REST server that lags behind the nodes by more than this says nothing about their blocks' times. */
const MAX_BEHIND = 20n;

/** The last counted block. */
export interface CountedTo {
  /** Block time; the wall-clock time of the reading if the chain cannot be read. */
  readonly timeMs: number;
  readonly height?: bigint;
}

/** Returns the time of the blocks that a source counts in a poll. `checkpoint` is undefined before the first reading. */
export function ledgerTime(checkpoint: CountedTo | undefined, observation: Observation): LedgerTime {
  const { atMs, clock } = observation;
  const head = currentHead(observation);
  if (head !== undefined) {
    const { blockTimeMs: timeMs, monthEdge: edge, height } = head;
    // A block at or above the checkpoint's height is later than all counted blocks.
    const isProven = checkpoint?.height !== undefined && height >= checkpoint.height;
    return { timeMs, edge, isProven, closes: () => true };
  }
  const counted = checkpoint?.timeMs ?? atMs;
  const sinceMs = clock === undefined ? Number.NEGATIVE_INFINITY : clock.believedSinceMs;
  if (sinceMs === undefined) return { timeMs: Math.max(atMs, counted), isProven: false, closes: () => false };
  return {
    timeMs: atMs,
    isProven: atMs < counted - TOLERANCE_MS,
    // A clock that ran steadily past the end of the month has not stepped.
    closes: (month) => sinceMs <= nextMonthMs(monthStartMs(month)) || atMs - sinceMs >= CLOSE_AFTER_MS,
  };
}

/** Returns the latest block unless it belongs to another chain or is far behind the nodes. */
function currentHead({ chain, nodes }: Observation): ChainHead | undefined {
  if (chain.head.state !== "up") return undefined;
  const head = chain.head.value;
  const isOther = nodes.some(({ metrics }) => {
    if (metrics.state !== "up") return false;
    const { chainId, height } = metrics.value;
    return chainId !== head.chainId || (height !== undefined && height - head.height > MAX_BEHIND);
  });
  return isOther ? undefined : head;
}
