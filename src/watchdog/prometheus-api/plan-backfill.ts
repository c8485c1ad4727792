import { HOUR_MS } from "../../platform/base/time.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { nextMonthMs } from "../ledger/month.ts";
import type { Observation } from "../observation.ts";

export interface BackfillOptions {
  /** Gaps that are longer than this are filled. */
  readonly afterMs: number;
  /** No older samples are read. */
  readonly longestMs: number;
  /** Time of failing queries after which a gap is counted without Prometheus. */
  readonly giveUpMs: number;
}

/** Time between two readings of a validator. */
export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

/** One query: samples in (fromMs, toMs]. */
export type Piece = Gap;

/**
 * Returns the gap that the readings of a poll would close; undefined when they are soon enough after the last ones, when
 * nothing could be read, and before the first reading. A gap begins where the ledger is, so its month is never sealed, and
 * what was filled is not filled again.
 */
export function planGap(
  ledger: Ledger | undefined,
  { nodes, atMs }: Observation,
  { afterMs, longestMs }: BackfillOptions,
): Gap | undefined {
  const cursor = ledger?.sources.calls.cursor;
  const times = nodes.flatMap(({ metrics }) =>
    metrics.state === "up" ? [metrics.value.sampledAtMs ?? atMs] : [],
  );
  if (cursor === undefined || times.length === 0) return undefined;
  const toMs = Math.max(...times);
  // The rest of a gap whose filling was interrupted can be short.
  const filled = ledger?.events.recent.findLast(({ kind }) => kind === "backfill");
  if (toMs - cursor.atMs <= (filled?.toMs === cursor.atMs ? 0 : afterMs)) return undefined;
  return { fromMs: Math.max(cursor.atMs, toMs - longestMs), toMs };
}

/** Longest part of a gap that one query reads. */
export const LONGEST_PIECE_MS = HOUR_MS;

/** Shortest part, when longer ones are too large. */
const SHORTEST_PIECE_MS = 60_000;

/** Returns the next part of a gap: at most `lengthMs` long, and within one month. */
export function nextPiece({ fromMs, toMs }: Gap, lengthMs: number): Piece {
  return { fromMs, toMs: Math.min(toMs, fromMs + lengthMs, nextMonthMs(fromMs)) };
}

/** Returns the length of the next pieces after one was too large; undefined when it was the shortest. */
export function shorterPieceMs(lengthMs: number): number | undefined {
  return lengthMs <= SHORTEST_PIECE_MS ? undefined : Math.max(SHORTEST_PIECE_MS, lengthMs / 4);
}
