import { ascending } from "../../platform/base/order.ts";
import type { PeerComparison, Share } from "./standing-views.ts";

/** Compares a share exactly with the other validators' shares. Undefined if there are no others. */
export function comparePeers(
  own: Share,
  others: readonly Share[],
): Pick<PeerComparison, "own" | "rank" | "compared" | "notBetter" | "median"> | undefined {
  const sorted = others.toSorted(compareShares);
  const median = medianOf(sorted);
  if (median === undefined) return undefined;
  const better = sorted.filter((other) => compareShares(other, own) > 0).length;
  return { own, rank: better + 1, compared: others.length + 1, notBetter: others.length - better, median };
}

function compareShares(a: Share, b: Share): number {
  return ascending(a.good * b.total, b.good * a.total);
}

/** Returns the middle value, or the mean of the two middle values. */
function medianOf(sorted: readonly Share[]): Share | undefined {
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined || upper === lower) return upper;
  return { good: lower.good * upper.total + upper.good * lower.total, total: 2n * lower.total * upper.total };
}
