import type { MonthPlan } from "./plan.ts";

const BLOCK_MS = 36_000;
const START = Date.UTC(2026, 9, 1);

/** A validator that misses the same share of its votes all the time. */
export interface SteadyOptions {
  /** Missed votes of 1,000 blocks. */
  readonly missesOf1000: number;
  readonly endMs: number;
}

/** October 2026 and what follows of one validator with a block every 36 s: 74,400 in a month of 31 days. */
export function planSteady({ missesOf1000, endMs }: SteadyOptions): MonthPlan {
  const blocks = Math.floor((endMs - START) / BLOCK_MS);
  const badBefore = Uint32Array.from({ length: blocks + 1 }, (_, index) =>
    Math.floor((index * missesOf1000) / 1000),
  );
  return {
    startMs: START,
    endMs,
    blocks,
    // A block is on the node's page half a second after the time in its header.
    timeOf: (index) => START + index * BLOCK_MS,
    blocksAt: (atMs) => Math.min(blocks, Math.max(0, Math.floor((atMs - 500 - START) / BLOCK_MS) + 1)),
    validators: [{ name: "steady", nodes: [{ name: "node", badBefore, restarts: [], unreachable: [] }] }],
    watchdogDown: { fromMs: START - 1, toMs: START - 1 },
    paramsChangeMs: Number.POSITIVE_INFINITY,
  };
}
