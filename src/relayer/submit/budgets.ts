import type { BlockLimits } from "../chain/local-queries.ts";
import type { MarketBudget } from "../gas-budget/budget.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { BatchLimits } from "./plan.ts";
import { GAS_PER_CLIENT_UPDATE, GAS_PER_TRANSACTION } from "../result/proven-result.ts";

/** Limits the share of a block that all transactions in flight may use together. */
export type BlockBudget = ReturnType<typeof createBlockBudget>;

export interface BlockBudgetOptions {
  /** The relayer's share of a block, per mille. The rest is left to other senders. */
  readonly blockSharePermille: bigint;
  /** Ratio of a transaction's gas limit to its expected gas, per mille. */
  readonly gasAdjustmentPermille: bigint;
}

/** Limits used until the chain's limits are read. The gas is the deployed fee market's target, because more gas could raise the price. */
const DEFAULT_LIMITS: BlockLimits = {
  utilization: 15_000_000n,
  gas: undefined,
  bytes: undefined,
};
/** CometBFT's maximum (`MaxBlockSizeBytes`), which also applies to `max_bytes: -1`. */
const MAX_BLOCK_BYTES = 104_857_600n;

/** Creates a budget with the configured share of a block. `market` limits the budget further, unless it returns undefined. */
export function createBlockBudget(
  options: BlockBudgetOptions,
  market: () => Omit<MarketBudget, "phase"> | undefined,
) {
  let limits = DEFAULT_LIMITS;
  const taken = createAdaptiveShare({ kept: [3n, 4n], growth: 32n, floor: 32n });
  const chainGas = (): bigint => {
    const wanted =
      limits.gas === undefined ? undefined : (limits.gas * 1_000n) / options.gasAdjustmentPermille;
    const { utilization = wanted ?? MAX_GAS } = limits;
    return wanted !== undefined && wanted < utilization ? wanted : utilization;
  };
  const share = (of: bigint): bigint => taken.of(of * options.blockSharePermille) / 1_000n;
  const gas = (): bigint => {
    const most = share(chainGas());
    const bearable = market();
    return bearable === undefined ? most : minInt(most, bearable.gas);
  };
  const bytes = (): number => Number(share(limits.bytes ?? MAX_BLOCK_BYTES));
  return {
    /** Returns the gas that transactions may use: the configured share, or less if the gas price requires it. */
    gas,
    /** Returns the minimum gas of a worthwhile transaction: a tenth of the budget, or up to half of a small market budget. */
    leastGas: (): bigint => {
      const tenth = gas() / 10n;
      const fixed = 2n * (GAS_PER_TRANSACTION + GAS_PER_CLIENT_UPDATE);
      return market() === undefined ? tenth : maxInt(tenth, minInt(gas() / 2n, fixed));
    },
    /** Returns the gas by which the relayer's transactions in one block may exceed `gas`. */
    toleranceGas: (): bigint => market()?.toleranceGas ?? 0n,
    /** Returns true if a budget that depends on the gas price limits the relayer's gas in addition to the configured share of a block. */
    hasMarketBudget: (): boolean => market() !== undefined,
    /** Returns the gas that a result sent alone may use: the chain's limit, or less under a market budget. */
    singleGas: (): bigint => market()?.singleGas ?? chainGas(),
    bytes,
    /** Stores the limits read from the chain. */
    setLimits: (read: BlockLimits): void => {
      limits = read;
    },
    /** Reduces the share by a quarter. Call `shrink` after a block had no capacity for a transaction. */
    shrink: taken.shrink,
    /** Restores 1/32 of the configured share. Call `grow` for each transaction that a block includes. */
    grow: taken.grow,
    status: () => ({
      gas: gas(),
      bytes: bytes(),
      /** Gas that the chain allows in a block. */
      chainGas: chainGas(),
      /** Usable share of `chainGas`, per mille. The share shrinks when blocks reject transactions, then grows back. */
      sharePermille: Number(taken.of(options.blockSharePermille)),
    }),
  };
}

/** The assumed gas limit of a block if the chain has no limit. */
const MAX_GAS = 30_000_000n;

/** Limits on each transaction's size, which shrink while transactions of the configured size fail. */
export type BatchBudget = ReturnType<typeof createBatchBudget>;

/**
 * Creates limits for one transaction, which start at `max`. The budget always allows one result per transaction. `shrink` halves
 * the limits after a transaction fails, possibly because of its size. `grow` adds 1/16 of `max` for each included transaction.
 */
export function createBatchBudget(max: BatchLimits) {
  // A share of 1/1024 allows a single result. A smaller share would send just as little and take longer to grow.
  const share = createAdaptiveShare({ kept: [1n, 2n], growth: 16n, floor: 1n });
  const atLeastOne = (limit: number): number => Math.max(1, Number(share.of(BigInt(limit))));
  return {
    ...share,
    limits: (): BatchLimits => ({
      bytes: atLeastOne(max.bytes),
      gas: share.of(max.gas),
      results: atLeastOne(max.results),
    }),
  };
}

interface ShareSteps {
  /** The fraction of the share that remains after `shrink`: numerator and denominator. */
  readonly kept: readonly [bigint, bigint];
  /** `grow` adds 1/`growth` of the whole limit to the share. */
  readonly growth: bigint;
  /** Minimum share, in 1/1024ths of the limit. */
  readonly floor: bigint;
}

const WHOLE = 1_024n;

/**
 * Creates a variable share of a limit that other senders also use. Since nodes do not report the free capacity, the share is found
 * by trial (additive increase, multiplicative decrease). The share starts at the whole limit, grows slowly, and shrinks quickly,
 * because a failed transaction costs its fee.
 */
function createAdaptiveShare({ kept: [part, whole], growth, floor }: ShareSteps) {
  let share = WHOLE;
  return {
    /** Returns the share of `limit`, rounded down. */
    of: (limit: bigint): bigint => (limit * share) / WHOLE,
    shrink: (): void => {
      if (share > floor) share = (share * part) / whole;
    },
    grow: (): void => {
      const next = share + WHOLE / growth;
      share = next < WHOLE ? next : WHOLE;
    },
  };
}

/** A result or a client update whose gas is estimated from past transactions. */
export interface GasItem {
  /** The key of items that cost about the same: the query id of a result, or the connection id of a client update. */
  readonly key: GasKey;
  /** The initial estimate, used until a transaction has shown the gas of items with this key. */
  readonly guess: bigint;
}

type GasKey = bigint | string;

/** The gas of results and client updates, as learned from transactions. */
export type GasEstimates = ReturnType<typeof createGasEstimates>;

const SCALE = 1_000_000n;

/**
 * Creates gas estimates that initially equal each item's `guess`.
 *
 * The chain reports only a whole transaction's gas. `learn` divides the difference between expected and used gas among the items,
 * in proportion to their estimates. If some items are new, the new items take the entire difference. If all items are known, they
 * share half of the difference. Queries with different callbacks get different estimates once they share transactions with
 * different queries.
 */
export function createGasEstimates() {
  const learned = new Map<GasKey, bigint>();
  const estimate = ({ key, guess }: GasItem): bigint => learned.get(key) ?? guess;
  const sum = (items: readonly GasItem[]): bigint =>
    items.reduce((total, item) => total + estimate(item), 0n);
  return {
    estimate,
    sum,
    /** Returns the learned gas; undefined if nothing has been learned about the key. */
    known: (key: GasKey): bigint | undefined => learned.get(key),
    /** Records that these items together used `gas`, excluding their transaction's fixed gas. */
    learn: (items: readonly GasItem[], gas: bigint): void => {
      const newcomers = items.filter(({ key }) => !learned.has(key));
      const [adjusted, step] = newcomers.length > 0 ? [newcomers, 1n] : [items, 2n];
      const expected = sum(adjusted);
      // The new items account only for the gas that the known items do not explain.
      const rest = gas - (sum(items) - expected);
      if (expected === 0n) return;
      // If the remainder is negative or tiny, the known items are overestimated, so the new items get a sixteenth of their guess.
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

/** The margin between a transaction's gas limit and its expected gas, as learned from transactions. */
export type GasMargin = ReturnType<typeof createGasMargin>;

/**
 * Gas for distributing the fee, in addition to the simulated gas. A simulation has no fee and uses less gas for distribution:
 * 12,490 instead of 44,700 on a real chain.
 */
export const GAS_OF_PAYOUT = 36_000n;
/** Minimum margin of the gas limit over the expected gas, in millionths. */
const LEAST_MARGIN = 10_000n;
/** Percentage of the margin that remains after each transaction that used less gas. */
const MARGIN_DECAY = 95n;

/**
 * Creates a margin that adapts to the gas that transactions actually use, because the chain charges for the whole gas limit. The
 * margin starts at `most` and returns to `most` after a transaction has run out of gas.
 */
export function createGasMargin(mostPermille: bigint) {
  const most = maxInt(mostPermille * 1_000n - SCALE - LEAST_MARGIN, 0n);
  const margins = { whole: most, part: most };
  return {
    /** Returns the gas limit for a transaction with this expected gas. `isWhole` is true if the transaction was simulated unchanged. */
    limit: (expected: bigint, isWhole: boolean): bigint => {
      const margin = LEAST_MARGIN + margins[isWhole ? "whole" : "part"];
      return ((expected + GAS_OF_PAYOUT) * (SCALE + margin)) / SCALE + 1n;
    },
    /** Records the gas that a transaction used. `used` is undefined if the transaction ran out of gas. */
    learn: (expected: bigint, isWhole: boolean, used: bigint | undefined): void => {
      const kind = isWhole ? "whole" : "part";
      const excess = used === undefined ? most : (used * SCALE) / (expected + GAS_OF_PAYOUT) - SCALE;
      margins[kind] = minInt(maxInt(excess, (margins[kind] * MARGIN_DECAY) / 100n), most);
    },
  };
}
