import type { Histogram } from "../observation.ts";
import { active, cannotSee, clear, type Verdict } from "./condition.ts";

/** Calls of a node to its sidecar, by how long they took. */
interface CallTimes {
  readonly calls: bigint;
  /** Calls that took at most so many ms. */
  readonly within: ReadonlyMap<number, bigint>;
}

/** What earlier polls showed of the node's own histogram of its calls. */
export interface LatencyTrail extends CallTimes {
  /** The calls between the last two polls with a new call, and the time of the second one. */
  readonly recent?: CallTimes & { readonly atMs: number };
}

/** Adds the histogram of one poll. `isRecent`: the poll before shows when the calls between the two were made. */
export function advanceLatency(
  before: LatencyTrail | undefined,
  histogram: Histogram | undefined,
  atMs: number,
  isRecent: boolean,
): LatencyTrail | undefined {
  if (histogram === undefined) return undefined;
  const { count: calls, buckets: within } = histogram;
  if (before === undefined || !isRecent) return { calls, within };
  if (calls === before.calls) return { ...before, within };
  // A node that restarted began again at zero.
  const from: CallTimes = calls > before.calls ? before : { calls: 0n, within: new Map() };
  const grown = [...within].map(([bound, count]) => [bound, count - (from.within.get(bound) ?? 0n)] as const);
  return { calls, within, recent: { atMs, calls: calls - from.calls, within: new Map(grown) } };
}

/** Age up to which the node's calls show how the sidecar responds. */
const RECENT_MS = 30_000;

/**
 * Judges the node's own times of its calls: active when at least half of the latest ones took longer than `slowAfterMs`. A
 * histogram counts calls up to its bounds, so the least bound that is not shorter decides.
 */
export function judgeLatency(trail: LatencyTrail | undefined, atMs: number, slowAfterMs: number): Verdict {
  const recent = trail?.recent;
  if (recent === undefined || atMs - recent.atMs > RECENT_MS)
    return cannotSee("the sidecar's prices cannot be read, and the node times no call");
  const bounds = [...recent.within.keys()].filter((bound) => bound >= slowAfterMs);
  if (bounds.length === 0)
    return cannotSee("the sidecar's prices cannot be read, and the node does not tell such long calls apart");
  const bound = Math.min(...bounds);
  const slow = recent.calls - (recent.within.get(bound) ?? 0n);
  const reason = `${slow} of the node's last ${recent.calls} calls took longer than ${bound} ms`;
  return 2n * slow >= recent.calls ? active(reason) : clear(reason);
}
