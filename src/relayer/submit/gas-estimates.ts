import { maxInt, minInt } from "../../platform/base/integers.ts";

/** A result or a client update whose gas is learned. */
export interface GasItem {
  /** Equal for items with about equal cost: the query's id, or the id of the client's connection. */
  readonly key: GasKey;
  /** The estimate until the key's gas has been learned. */
  readonly guess: bigint;
}

type GasKey = bigint | string;

/** Learned gas of results and client updates. */
export type GasEstimates = ReturnType<typeof createGasEstimates>;

const SCALE = 1_000_000n;

/**
 * Creates estimates that have learned nothing yet.
 *
 * The chain reports only a whole transaction's gas. `learn` divides the difference between expected and used gas among the items,
 * in proportion to their estimates. New items take the entire difference. If there are none, known items take half of it. Queries
 * with different callbacks get different estimates once they share transactions with different queries.
 */
export function createGasEstimates() {
  const learned = new Map<GasKey, bigint>();
  const estimate = ({ key, guess }: GasItem): bigint => learned.get(key) ?? guess;
  const sum = (items: readonly GasItem[]): bigint =>
    items.reduce((total, item) => total + estimate(item), 0n);
  return {
    estimate,
    sum,
    /** Undefined if nothing has been learned about the key. */
    known: (key: GasKey): bigint | undefined => learned.get(key),
    /** Records that these items together used `gas`, without their transaction's fixed gas. */
    learn: (items: readonly GasItem[], gas: bigint): void => {
      const newcomers = items.filter(({ key }) => !learned.has(key));
      const [adjusted, step] = newcomers.length > 0 ? [newcomers, 1n] : [items, 2n];
      const expected = sum(adjusted);
      // Attribute only the remainder to the new items.
      const rest = gas - (sum(items) - expected);
      if (expected === 0n) return;
      // A negative remainder means that the known items are overestimated. The new items then get a sixteenth of their guess.
      const factor = maxInt((rest * SCALE) / expected, SCALE / 16n);
      // Several results of one TX query share a key.
      for (const [key, before] of new Map(adjusted.map((item) => [item.key, estimate(item)])))
        learned.set(key, maxInt(before + (before * (factor - SCALE)) / SCALE / step, 1n));
    },
    keepOnly: (isKept: (key: GasKey) => boolean): void => {
      for (const key of learned.keys()) if (!isKept(key)) learned.delete(key);
    },
  };
}

/** Learned difference between a transaction's used and expected gas. */
export type GasMargin = ReturnType<typeof createGasMargin>;

/** Gas for the payouts of a fee. A simulation has no fee and needs less gas for them: 12,490 instead of 44,700 on a real chain. */
export const GAS_OF_PAYOUT = 36_000n;
/** Minimum margin, in millionths. */
const LEAST_MARGIN = 10_000n;
/** Percentage of a margin that remains after each transaction that used less. */
const MARGIN_DECAY = 95n;

/**
 * Creates a margin. The chain charges the whole gas limit, so the limit follows the gas that transactions used. The margin starts
 * at `most` and returns there after a transaction has run out of gas.
 */
export function createGasMargin(mostPermille: bigint) {
  const most = maxInt(mostPermille * 1_000n - SCALE - LEAST_MARGIN, 0n);
  const margins = { whole: most, part: most };
  return {
    /** Returns the gas limit for a transaction with this expected gas. `isWhole`: the transaction was simulated unchanged. */
    limit: (expected: bigint, isWhole: boolean): bigint => {
      const margin = LEAST_MARGIN + margins[isWhole ? "whole" : "part"];
      return ((expected + GAS_OF_PAYOUT) * (SCALE + margin)) / SCALE + 1n;
    },
    /** Records a transaction's used gas; undefined if it exceeded its limit. */
    learn: (expected: bigint, isWhole: boolean, used: bigint | undefined): void => {
      const kind = isWhole ? "whole" : "part";
      const excess = used === undefined ? most : (used * SCALE) / (expected + GAS_OF_PAYOUT) - SCALE;
      margins[kind] = minInt(maxInt(excess, (margins[kind] * MARGIN_DECAY) / 100n), most);
    },
  };
}
