import { advance, type Baseline, type CounterReading, type LedgerStep, relationOf } from "./advance.ts";

/** The last readings of one node. */
export interface Track {
  readonly baseline: Baseline;
  /** Present while two nodes answer in turn at the URL of this one. */
  readonly conflict?: Conflict;
}

/** Two nodes that answer in turn. */
interface Conflict {
  /** The last reading. */
  readonly last: Baseline;
  /** Last time at which another node answered than before. */
  readonly changedAtMs: number;
}

/** Time after which one node answers alone. */
const SETTLED_MS = 300_000;

/** Result of one reading of one node. */
export interface TrackStep {
  readonly track: Track;
  /** Undefined while two nodes answer in turn: neither is counted. */
  readonly step: LedgerStep | undefined;
}

/** Adds a reading to the track of its node; undefined before its first reading. */
export function followNode(track: Track | undefined, reading: CounterReading, atMs: number): TrackStep {
  const conflict = track && nextConflict(track, reading, atMs);
  if (track !== undefined && conflict !== undefined)
    return { track: { ...track, conflict }, step: undefined };
  const step = advance(track?.baseline, reading, atMs);
  return { track: { baseline: step.baseline }, step };
}

/** Returns the conflict after a reading; undefined without one, or when one node has answered alone for long enough. */
function nextConflict(
  { baseline, conflict }: Track,
  reading: CounterReading,
  atMs: number,
): Conflict | undefined {
  const last = { ...reading, atMs };
  if (relationOf(conflict?.last ?? baseline, reading) === "other") return { last, changedAtMs: atMs };
  if (conflict === undefined || atMs - conflict.changedAtMs >= SETTLED_MS) return undefined;
  return { last, changedAtMs: conflict.changedAtMs };
}
