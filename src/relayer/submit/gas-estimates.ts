import { maxInt, minInt } from "../../platform/base/integers.ts";

/** Something whose gas is learned: a result, or the update of a client. */
export interface GasItem {
  /** Equal for what costs about the same each time: the id of the query, or of the client's connection. */
  readonly key: GasKey;
  /** Estimate while nothing is learned about the key. */
  readonly guess: bigint;
}

type GasKey = bigint | string;

/** Learned gas of results and client updates. */
export interface GasEstimates {
  readonly estimate: (item: GasItem) => bigint;
  /** Whether something was learned about the key. */
  readonly known: (key: GasKey) => bigint | undefined;
  /** Notes that these items used `gas` together, without the fixed gas of their transaction. */
  readonly learn: (items: readonly GasItem[], gas: bigint) => void;
  /** Forgets all keys but these. */
  readonly keepOnly: (isKept: (key: GasKey) => boolean) => void;
}

const SCALE = 1_000_000n;

/**
 * Creates estimates that have learned nothing.
 *
 * The chain reports the gas of a whole transaction only. So the difference between what was expected of a transaction and
 * what it used is spread over its items in proportion to their estimates. First-timers take all of the difference when
 * there are any, known items half of it: queries with different callbacks separate as their company changes.
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

/** Learned difference between the gas that a transaction uses and what was expected. */
export interface GasMargin {
  /** Returns the gas limit of a transaction that is expected to use this gas. `isWhole`: it was simulated as it is. */
  readonly limit: (expected: bigint, isWhole: boolean) => bigint;
  /** Notes what a transaction used; undefined: more than its limit. */
  readonly learn: (expected: bigint, isWhole: boolean, used: bigint | undefined) => void;
}

/** Gas of the payouts of a fee. A simulation has no fee, and consumes less for them: 44,700 instead of 12,490 on a real chain. */
export const GAS_OF_PAYOUT = 36_000n;
/** Least margin, of a million. */
const LEAST_MARGIN = 10_000n;
/** What is left of a margin after each transaction that used less, in percent. */
const MARGIN_DECAY = 95n;

/**
 * Creates a margin. The chain charges the whole gas limit, so the limit follows what transactions really used. It starts at `most`
 * and returns there when a transaction ran out of gas.
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
