import { maxInt, minInt } from "../../platform/base/integers.ts";

/** Something whose gas is learned: a result or a client update. */
export interface GasItem {
  /** Equal for items that cost about the same each time: the id of the query, or of the client's connection. */
  readonly key: GasKey;
  /** Estimate used until something has been learned about the key. */
  readonly guess: bigint;
}

type GasKey = bigint | string;

/** Learned gas for results and client updates. */
export interface GasEstimates {
  readonly estimate: (item: GasItem) => bigint;
  /** The learned gas; undefined if nothing has been learned about the key. */
  readonly known: (key: GasKey) => bigint | undefined;
  /** Records that these items together used `gas`, excluding the fixed gas of their transaction. */
  readonly learn: (items: readonly GasItem[], gas: bigint) => void;
  /** Forgets all other keys. */
  readonly keepOnly: (isKept: (key: GasKey) => boolean) => void;
}

const SCALE = 1_000_000n;

/**
 * Creates estimates that have learned nothing yet.
 *
 * The chain only reports the gas of a whole transaction. The difference between the gas expected for a transaction and the gas it
 * used is therefore spread over its items in proportion to their estimates. New items, if there are any, take the entire
 * difference; otherwise, known items take half of it. Estimates for queries with different callbacks diverge as these queries
 * share transactions with different queries.
 */
export function createGasEstimates(): GasEstimates {
  const learned = new Map<GasKey, bigint>();
  const estimate = ({ key, guess }: GasItem): bigint => learned.get(key) ?? guess;
  const sum = (items: readonly GasItem[]): bigint =>
    items.reduce((total, item) => total + estimate(item), 0n);
  return {
    estimate,
    known: (key) => learned.get(key),
    learn: (items, gas) => {
      const newcomers = items.filter(({ key }) => !learned.has(key));
      const [adjusted, step] = newcomers.length > 0 ? [newcomers, 1n] : [items, 2n];
      const expected = sum(adjusted);
      // What the other items are expected to use is not theirs to explain.
      const rest = gas - (sum(items) - expected);
      if (expected === 0n) return;
      // A sum below zero shows that the known items are estimated too high. The newcomers then get a sixteenth of their guess.
      const factor = maxInt((rest * SCALE) / expected, SCALE / 16n);
      // Several results of one TX query share a key.
      for (const [key, before] of new Map(adjusted.map((item) => [item.key, estimate(item)])))
        learned.set(key, maxInt(before + (before * (factor - SCALE)) / SCALE / step, 1n));
    },
    keepOnly: (isKept) => {
      for (const key of learned.keys()) if (!isKept(key)) learned.delete(key);
    },
  };
}

/** Learned difference between the gas that a transaction uses and the gas that was expected. */
export interface GasMargin {
  /** Returns the gas limit for a transaction that is expected to use this gas. `isWhole`: it was simulated unchanged. */
  readonly limit: (expected: bigint, isWhole: boolean) => bigint;
  /** Records the gas that a transaction used; undefined if it exceeded its limit. */
  readonly learn: (expected: bigint, isWhole: boolean, used: bigint | undefined) => void;
}

/**
 * Gas for the payouts of a fee. A simulation has no fee and consumes less gas for them: 12,490 instead of 44,700 on a real chain.
 */
export const GAS_OF_PAYOUT = 36_000n;
/** Minimum margin, in millionths. */
const LEAST_MARGIN = 10_000n;
/** Percentage of a margin that remains after each transaction that used less. */
const MARGIN_DECAY = 95n;

/**
 * Creates a margin. The chain charges the whole gas limit, so the limit follows what transactions have actually used. It starts
 * at `most` and returns there after a transaction has run out of gas.
 */
export function createGasMargin(mostPermille: bigint): GasMargin {
  const most = maxInt(mostPermille * 1_000n - SCALE - LEAST_MARGIN, 0n);
  const margins = { whole: most, part: most };
  return {
    limit: (expected, isWhole) => {
      const margin = LEAST_MARGIN + margins[isWhole ? "whole" : "part"];
      return ((expected + GAS_OF_PAYOUT) * (SCALE + margin)) / SCALE + 1n;
    },
    learn: (expected, isWhole, used) => {
      const kind = isWhole ? "whole" : "part";
      const excess = used === undefined ? most : (used * SCALE) / (expected + GAS_OF_PAYOUT) - SCALE;
      margins[kind] = minInt(maxInt(excess, (margins[kind] * MARGIN_DECAY) / 100n), most);
    },
  };
}
