import { gasUpToPrice, type MarketParams, type State, targetOf } from "../../cosmos/fee-market/market.ts";
import { DEC18_ONE, type Dec18, mulDec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";

/**
 * Phases of the budget, as they appear in JSON and metrics:
 *
 * - "steady": the price stays at its steady value;
 * - "burst": the relayer sends a backlog, up to the price ceiling;
 * - "recovering": the price returns to its steady value;
 * - "above-ceiling": the price exceeds the ceiling, so the relayer sends only urgent results;
 * - "unpriced": the price in the fee denom is unknown, so the relayer uses the gas that leaves the market's price unchanged;
 * - "unlimited": the ceiling is not below `gas.max_price`, so only `batch.block_share` limits a block.
 */
export const MARKET_PHASES = [
  "steady",
  "burst",
  "recovering",
  "above-ceiling",
  "unpriced",
  "unlimited",
] as const;

export type MarketPhase = (typeof MARKET_PHASES)[number];

/** Exponential averages of other senders' gas per block. */
export interface OthersGas {
  readonly mean: bigint;
  /** Mean absolute deviation of other senders' gas per block. */
  readonly deviation: bigint;
}

interface BudgetInput {
  /** The market's state before the block. */
  readonly state: State;
  readonly params: MarketParams;
  readonly ceiling: Dec18;
  readonly others: OthersGas;
  /** Maximum gas that other senders used in a recent block. */
  readonly othersPeak: bigint;
  readonly backlog: Backlog;
  /** Gas of the transactions that the relayer sent for the last block. */
  readonly sentGas: bigint;
}

export interface Backlog {
  /** The gas of all results that are due but not in flight. */
  readonly gas: bigint;
  /** The share of `gas` that has been due for more than a minute. */
  readonly oldGas: bigint;
  /** Average gas per block of the results that become due. */
  readonly demandGas: bigint;
}

export interface MarketBudget {
  readonly gas: bigint;
  /**
   * The gas by which a block may exceed `gas`. Any excess reduces the next budget. Without a tolerance, transactions would have to
   * be split, and each split costs another transaction's fixed gas.
   */
  readonly toleranceGas: bigint;
  /**
   * The gas that a single result may use if nothing else is sent, even if the result exceeds `gas`. With this gas, the price stays
   * below the ceiling and recovers before the next result of this size.
   */
  readonly singleGas: bigint;
  readonly phase: MarketPhase;
}

/** State that the gas budget's controller carries from one block to the next. */
interface Memory {
  /**
   * The backlog that may start a burst. Each backlog gets only one burst. The value "old", which applies at startup, allows only a
   * backlog of results that have been due for more than a minute.
   */
  readonly armed: "any" | "old" | "none";
  readonly burst: Burst | undefined;
  readonly gas: bigint;
  readonly calmBlocks: number;
  /** Factor by which the controller raises the steady price while other senders leave almost no gas at that price. */
  readonly creep: Dec18;
}

/** A burst, limited to a number of blocks because the backlog never ends if queries are always due. */
interface Burst {
  /** Maximum number of blocks until the burst ends. */
  readonly blocksLeft: number;
  /** Number of blocks that the burst has not filled since its first result. */
  readonly unfilled: number;
  readonly hasSent: boolean;
}

const START: Memory = { armed: "old", burst: undefined, gas: 0n, calmBlocks: 0, creep: DEC18_ONE };

/**
 * Creates a controller that plans the next block's price and derives the gas budget from it with the chain's own arithmetic.
 *
 * - Steady state: the price stays one percent above the minimum, so that price changes reveal other senders' exact gas.
 * - Backlog: one burst sends the backlog at prices below the ceiling. Lasting demand above the market is not a backlog, because no
 *   burst would end the demand.
 * - After a burst: the price falls by two percent per block, which costs a sixth of the throughput. With a faster fall, blocks
 *   would stay empty. With a slower fall, results would cost more.
 */
export function createBudgetController() {
  let last: { readonly height: bigint; readonly before: Memory; readonly after: Memory } | undefined;
  return {
    /**
     * Returns the budget for the block after `height`. Call `plan` once for each height, in ascending order. A second call for the
     * last height replaces its budget, e.g. once a predicted state has been read.
     */
    plan: (height: bigint, input: BudgetInput): MarketBudget => {
      const before = last === undefined ? START : last.height === height ? last.before : last.after;
      const { budget, after } = step(before, input);
      last = { height, before, after };
      return budget;
    },
  };
}

/** Normal margin of the price over its minimum while demand exceeds the market, per mille. */
const STEADY_PERMILLE = 10n;
/** Maximum margin of the price over its minimum, per mille. The margin grows with the variation in other senders' gas. */
const MAX_STEADY_PERMILLE = 100n;
/** Factor by which the price falls per block after a burst. */
const FALL = (DEC18_ONE * 98n) / 100n;
/** A burst ends when the gas available below the ceiling is less than this percentage of the sustainable gas. */
const BURST_END_PERCENT = 105n;
/** Backlog sizes at which a burst begins and ends, in percent of the gas that a block can sustain. */
const BACKLOG_START_PERCENT = 150n;
const BACKLOG_END_PERCENT = 110n;
/** Additional blocks for a burst, because its first results must still be read, proven and simulated. */
const BURST_START_BLOCKS = 3;
/**
 * Percentage of a block that a burst leaves free in case other senders become active. In recorded blocks, other senders use at most
 * 8 of 30 million gas.
 */
const SUDDEN_PERCENT = 30n;
/** A burst ends with the second block that uses less than this percentage of its budget. */
const UNFILLED_PERCENT = 75n;
const MAX_UNFILLED = 2;
/**
 * Number of blocks without a backlog after which a new backlog may start a burst. Without this pause, demand close to the budget
 * would look like a series of backlogs.
 */
const CALM_BLOCKS = 20;
/**
 * Factors by which the steady price changes per block. `CREEP_UP` applies while other senders leave less than a tenth of the
 * target, and `CREEP_DOWN` applies otherwise.
 */
const CREEP_UP = (DEC18_ONE * 101n) / 100n;
const CREEP_DOWN = (DEC18_ONE * 99n) / 100n;
/** Upper limit of the steady price, as a fraction of the ceiling. */
const BELOW_CEILING = (DEC18_ONE * 98n) / 100n;

function step(before: Memory, input: BudgetInput): { readonly budget: MarketBudget; readonly after: Memory } {
  const { state, params, ceiling, others, backlog } = input;
  const { baseGasPrice: price } = state;
  if (price > ceiling)
    return {
      budget: { gas: 0n, toleranceGas: 0n, singleGas: 0n, phase: "above-ceiling" },
      after: { ...before, burst: undefined, gas: 0n },
    };
  const target = targetOf(params);
  const sustainable = maxInt(target - others.mean, 0n);
  const isCrowded = sustainable * 10n < target && backlog.gas > sustainable;
  const creep = isCrowded
    ? mulDec18(before.creep, CREEP_UP)
    : maxInt(mulDec18(before.creep, CREEP_DOWN), DEC18_ONE);
  const steadyPrice = steadyPriceOf(input, creep);
  const gasUpTo = (most: Dec18, reserve: bigint): bigint =>
    maxInt((gasUpToPrice(state, most, params) ?? 0n) - reserve, 0n);
  const steady = gasUpTo(maxInt(steadyPrice, mulDec18(price, FALL)), others.mean);
  // Leave capacity for other senders' gas, because a transaction that exceeds the block's gas fails but still pays its fee.
  const room = maxInt(input.othersPeak, (params.maxBlockUtilization * SUDDEN_PERCENT) / 100n);
  const most = minInt(
    gasUpTo(ceiling, others.mean + 2n * others.deviation),
    maxInt(params.maxBlockUtilization - room, 0n),
  );
  const bearable = maxInt(steady, sustainable);
  const isWorthIt = most * 100n > sustainable * BURST_END_PERCENT;
  const burst = isWorthIt ? nextBurst(before, input, { most, bearable }) : undefined;
  const hasBacklog = backlog.gas > bearable;
  const calmBlocks = hasBacklog || price * 10n > params.minBaseGasPrice * 11n ? 0 : before.calmBlocks + 1;
  const isRecovering = price * 1_000n > steadyPrice * 1_005n;
  const gas = burst === undefined ? steady : maxInt(most, steady);
  return {
    budget: {
      gas,
      toleranceGas: burst === undefined ? steady / 25n : 0n,
      singleGas: isRecovering ? 0n : most,
      phase: burst !== undefined ? "burst" : isRecovering ? "recovering" : "steady",
    },
    after: {
      armed: burst !== undefined ? "none" : calmBlocks >= CALM_BLOCKS ? "any" : before.armed,
      burst,
      gas,
      calmBlocks,
      // Limit `creep` by the ceiling, so that the price falls quickly once other senders leave gas again.
      creep: minInt(creep, (ceiling * DEC18_ONE) / params.minBaseGasPrice + DEC18_ONE),
    },
  };
}

/** Returns the burst, continued or new, for the next block; undefined if there is none. `most` is the gas per block up to the ceiling. */
function nextBurst(
  before: Memory,
  { backlog, sentGas }: BudgetInput,
  { most, bearable }: { readonly most: bigint; readonly bearable: bigint },
): Burst | undefined {
  if (before.burst === undefined) {
    const waiting = before.armed === "any" ? backlog.gas : before.armed === "old" ? backlog.oldGas : 0n;
    const isBacklog = waiting * 100n > bearable * BACKLOG_START_PERCENT && backlog.demandGas < bearable;
    const blocksLeft = Number(backlog.gas / maxInt(most, 1n)) + BURST_START_BLOCKS;
    return isBacklog ? { blocksLeft, unfilled: 0, hasSent: false } : undefined;
  }
  const hasSent = before.burst.hasSent || sentGas > 0n;
  const isUnfilled = hasSent && sentGas * 100n < before.gas * UNFILLED_PERCENT;
  const unfilled = before.burst.unfilled + (isUnfilled ? 1 : 0);
  const blocksLeft = before.burst.blocksLeft - 1;
  const hasEnded = blocksLeft === 0 || unfilled >= MAX_UNFILLED;
  return hasEnded || backlog.gas * 100n <= bearable * BACKLOG_END_PERCENT
    ? undefined
    : { blocksLeft, unfilled, hasSent };
}

/** Returns the price that the relayer maintains while its demand exceeds what the market can sustain. */
function steadyPriceOf({ state, params, ceiling, others }: BudgetInput, creep: Dec18): Dec18 {
  const minimum = params.minBaseGasPrice;
  // The fraction by which other senders' gas usually changes the price from one block to the next.
  const noise = (state.learningRate * others.deviation) / maxInt(targetOf(params), 1n);
  const reserve = minInt(
    (DEC18_ONE * STEADY_PERMILLE) / 1_000n + noise,
    (DEC18_ONE * MAX_STEADY_PERMILLE) / 1_000n,
  );
  const wanted = mulDec18(mulDec18(minimum, DEC18_ONE + reserve), creep);
  return maxInt(minInt(wanted, mulDec18(ceiling, BELOW_CEILING)), minimum);
}

/** Returns the budget for a block while the market's state cannot be read: the gas that leaves any price unchanged. */
export function unreadBudget(params: MarketParams, { mean }: OthersGas): MarketBudget {
  const gas = maxInt(targetOf(params) - mean, 0n);
  return { gas, toleranceGas: 0n, singleGas: gas, phase: "steady" };
}
