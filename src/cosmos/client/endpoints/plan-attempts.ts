import type { JsonObject } from "../../../platform/base/json.ts";
import type { EndpointHealth } from "./pooled-endpoint.ts";

/** An endpoint as a read chooses it. */
type Candidate = Pick<EndpointHealth, "status" | "latencyMs" | "distrusted"> & {
  /** Blocks behind the best endpoint; undefined when unknown. */
  readonly lagBlocks: bigint | undefined;
  /** Remaining rest after failures. */
  readonly restMs: number;
};

/** An endpoint that is this far behind the best one is used last. A smaller distance is chance. */
const MAX_LAG = 5n;

/** Latencies below the same limit count as equal, so that the configured order decides between them. */
const LATENCY_LIMITS_MS = [100, 300, 1_000, 3_000];

/**
 * Returns the indexes of the endpoints in the order of attempts: those that are not trusted come last, before them those that
 * rest after failures, before them those that are behind or catching up, and before them those that have pruned the height
 * that is read. Among the others a clearly faster one comes first, then the configured order counts.
 */
export function planAttempts(
  candidates: readonly Candidate[],
  method: string,
  params: JsonObject,
): readonly number[] {
  const height = heightOf(params);
  const ordered = candidates
    .map((candidate, index) => ({ rank: rankOf(candidate, height), index }))
    .toSorted((a, b) => compare(a.rank, b.rank) || a.index - b.index)
    .map(({ index }) => index);
  // A broadcast without a response may have arrived. Only the sender can decide whether to send the bytes again.
  if (method.startsWith("broadcast_")) return ordered.slice(0, 1);
  // A node may close an idle keep-alive connection just before we use it. A lone endpoint therefore gets two attempts.
  return ordered.length === 1 ? [...ordered, ...ordered] : ordered;
}

function rankOf(
  { restMs, status, latencyMs, lagBlocks, distrusted }: Candidate,
  height: bigint | undefined,
): readonly number[] {
  const isBehind = status?.catchingUp === true || (lagBlocks ?? 0n) > MAX_LAG;
  const hasPruned = height !== undefined && status !== undefined && status.earliestHeight > height;
  const slowness = LATENCY_LIMITS_MS.filter((limit) => (latencyMs ?? 0) >= limit).length;
  return [Number(distrusted !== undefined), restMs, Number(isBehind), Number(hasPruned), slowness];
}

/** The height that is read; undefined for the latest one. */
function heightOf({ height }: JsonObject): bigint | undefined {
  return typeof height === "string" && /^[1-9]\d{0,18}$/.test(height) ? BigInt(height) : undefined;
}

function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((value, index) => value - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
