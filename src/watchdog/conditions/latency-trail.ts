import type { Histogram } from "../sources/observation.ts";

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
  const from: CallTimes = hasRestarted(before, { calls, within }) ? { calls: 0n, within: new Map() } : before;
  const grown = [...within].map(([bound, count]) => [bound, count - (from.within.get(bound) ?? 0n)] as const);
  return { calls, within, recent: { atMs, calls: calls - from.calls, within: new Map(grown) } };
}

/** A node that restarted began again at zero. It can have made more calls since than before. */
function hasRestarted(before: CallTimes, { calls, within }: CallTimes): boolean {
  const fell = ([bound, count]: readonly [number, bigint]): boolean =>
    count < (before.within.get(bound) ?? 0n);
  return calls < before.calls || [...within].some(fell);
}
