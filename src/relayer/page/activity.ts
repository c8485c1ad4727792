import type { QueryCost } from "../health/relayer-status.ts";
import { type Attempt, type AttemptSink, NOT_NEEDED } from "../state/attempt.ts";

export interface ActivitySample {
  readonly startMs: number;
  readonly included: number;
  /** Failed attempts. A result that was no longer needed is not a failure. */
  readonly failed: number;
  readonly transactions: number;
  /** Client updates needed by these results. */
  readonly updates: number;
  readonly gas: bigint;
}

/** The relayer's recent activity for the page, in memory. */
export type Activity = ReturnType<typeof createActivity>;

const SPAN_MS = 60_000;
/** Number of stored samples: one hour. */
const SAMPLES = 60;
/** Maximum number of queries with a cost. The query added first is dropped first. */
const MAX_COSTS = 20_000;

interface OpenSample {
  included: number;
  failed: number;
  gas: bigint;
  readonly hashes: Set<string>;
  /** Connection and remote height of each client update. */
  readonly updates: Set<string>;
}

/** Creates an empty activity. `nowMs` is wall-clock time. */
export function createActivity(nowMs: () => number) {
  const startedAt = spanOf(nowMs());
  const samples = new Map<number, OpenSample>();
  const costs = new Map<bigint, QueryCost>();
  const current = (): OpenSample => {
    const span = spanOf(nowMs());
    const found = samples.get(span);
    if (found !== undefined) return found;
    for (const old of samples.keys()) if (old <= span - SAMPLES || old > span) samples.delete(old);
    const fresh = { included: 0, failed: 0, gas: 0n, hashes: new Set<string>(), updates: new Set<string>() };
    samples.set(span, fresh);
    return fresh;
  };
  const record = (attempt: Attempt): void => {
    addToSample(current(), attempt);
    if (attempt.gas === 0n && attempt.fee === 0n) return;
    const { gas, fee } = costs.get(attempt.queryId) ?? { gas: 0n, fee: 0n };
    costs.set(attempt.queryId, { gas: gas + attempt.gas, fee: fee + attempt.fee });
    const [oldest] = costs.keys();
    if (costs.size > MAX_COSTS && oldest !== undefined) costs.delete(oldest);
  };
  return {
    /** Wraps a sink so that it also records attempts. */
    sink: (inner: AttemptSink): AttemptSink => ({
      note: (attempts) => {
        for (const attempt of attempts) record(attempt);
        inner.note(attempts);
      },
    }),
    /** Samples of the last hour, oldest first, without gaps; undefined before the relayer's start. */
    samples: (): readonly (ActivitySample | undefined)[] => {
      const last = spanOf(nowMs());
      return Array.from({ length: SAMPLES }, (_, index) => {
        const span = last - SAMPLES + 1 + index;
        return span < startedAt ? undefined : toSample(span, samples.get(span));
      });
    },
    costOf: (queryId: bigint): QueryCost | undefined => costs.get(queryId),
  };
}

function addToSample(sample: OpenSample, attempt: Attempt): void {
  const { outcome, gas, txHash, localHeight, connectionId, remoteHeight } = attempt;
  if (outcome === "included") {
    sample.included += 1;
    sample.updates.add(`${connectionId}/${remoteHeight}`);
  } else if (!NOT_NEEDED.has(outcome)) sample.failed += 1;
  sample.gas += gas;
  if (txHash !== undefined && localHeight !== undefined) sample.hashes.add(txHash);
}

function toSample(span: number, sample: OpenSample | undefined): ActivitySample {
  const { included = 0, failed = 0, gas = 0n, hashes, updates } = sample ?? {};
  const startMs = span * SPAN_MS;
  return { startMs, included, failed, gas, transactions: hashes?.size ?? 0, updates: updates?.size ?? 0 };
}

function spanOf(atMs: number): number {
  return Math.floor(atMs / SPAN_MS);
}
