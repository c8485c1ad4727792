import { gasUpToPrice, type MarketParams, type State, targetOf } from "../../cosmos/fee-market/market.ts";
import { DEC18_ONE, type Dec18, mulDec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";

/**
 * Phases of the budget, as they appear in JSON and metrics:
 *
 * - "steady": the price stays where it is;
 * - "burst": a backlog is sent, up to the price ceiling;
 * - "recovering": the price returns to its steady value;
 * - "above-ceiling": the price is above the ceiling, and only urgent results are sent;
 * - "unpriced": the price in the fee denom is unknown, and a block gets the gas that leaves the market's price unchanged;
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

/** Others' gas per block, smoothed. */
export interface OthersGas {
  readonly mean: bigint;
  /** Mean absolute deviation. */
  readonly deviation: bigint;
}

/** The inputs from which a block's budget is decided. */
interface BudgetInput {
  /** The market before the block. */
  readonly state: State;
  readonly params: MarketParams;
  readonly ceiling: Dec18;
  readonly others: OthersGas;
  /** The most gas that others used in any of the last blocks. */
  readonly othersPeak: bigint;
  readonly backlog: Backlog;
  /** Gas sent for the last block. */
  readonly sentGas: bigint;
}

/** The results that are due. */
export interface Backlog {
  /** Gas of all results that are due and not in flight. */
  readonly gas: bigint;
  /** The part of `gas` that has been due for more than a minute. */
  readonly oldGas: bigint;
  /** Average gas that becomes due per block. */
  readonly demandGas: bigint;
}

/** The gas that the relayer may use in one block. */
export interface MarketBudget {
  readonly gas: bigint;
  /**
   * Gas by which a block may exceed `gas`, since the next budget makes up for it: splitting a transaction to avoid this would
   * cost the fixed gas of another one.
   */
  readonly toleranceGas: bigint;
  /**
   * Gas that a single result may use when nothing else is sent, even if it exceeds `gas`: the price stays below the ceiling and
   * recovers before the next such result.
   */
  readonly singleGas: bigint;
  readonly phase: MarketPhase;
}

/** Decides the budgets for consecutive blocks. */
interface BudgetController {
  /**
   * Returns the budget for the block after `height`. Call it for each height, in ascending order. Calling it again for the last
   * height replaces the previous budget, for instance once the state has been read instead of predicted.
   */
  readonly plan: (height: bigint, input: BudgetInput) => MarketBudget;
}

/** What a controller remembers from one block to the next. */
interface Memory {
  /**
   * Which backlog may start a burst; each backlog gets one burst. "old", as at startup: only results that have been due for more
   * than a minute.
   */
  readonly armed: "any" | "old" | "none";
  readonly burst: Burst | undefined;
  /** Gas in the last budget. */
  readonly gas: bigint;
  /** Number of consecutive blocks without a backlog. */
  readonly calmBlocks: number;
  /** Factor applied to the steady price while others leave no gas at that price. */
  readonly creep: Dec18;
}

/** A burst. It has its own end, because a backlog of queries that are always due never ends. */
interface Burst {
  /** Maximum number of blocks until the burst ends. */
  readonly blocksLeft: number;
  /** Number of blocks left unfilled since the burst first sent something. */
  readonly unfilled: number;
  readonly hasSent: boolean;
}

const START: Memory = { armed: "old", burst: undefined, gas: 0n, calmBlocks: 0, creep: DEC18_ONE };

/**
 * Creates a controller.
 *
 * It plans the price of the next block and derives the gas from it, using the chain's own arithmetic. In the steady state, that
 * price is one percent above the minimum, where a change in the price reveals exactly how much gas others used; at the minimum,
 * it would not. A backlog is sent in one burst that ends below the ceiling. Demand above the market is not a backlog, since a
 * burst would not end it. After a burst, the price falls by two percent per block, which costs a sixth of the throughput: a
 * faster fall would leave blocks empty, and a slower one would cost more.
 */
export function createBudgetController(): BudgetController {
  let last: { readonly height: bigint; readonly before: Memory; readonly after: Memory } | undefined;
  return {
    plan: (height, input) => {
      const before = last === undefined ? START : last.height === height ? last.before : last.after;
      const { budget, after } = step(before, input);
      last = { height, before, after };
      return budget;
    },
  };
}

/** Margin above the minimum at which the price stays, in per mille, and its limit when others' gas varies a lot. */
const STEADY_PERMILLE = 10n;
const MAX_STEADY_PERMILLE = 100n;
/** Factor by which the price falls per block after a burst. */
const FALL = (DEC18_ONE * 98n) / 100n;
/** A burst ends when the gas that can be sent below the ceiling is less than this percentage of the sustainable gas. */
const BURST_END_PERCENT = 105n;
/** Backlogs at which a burst begins and ends, in percent of the gas that a block can sustain. */
const BACKLOG_START_PERCENT = 150n;
const BACKLOG_END_PERCENT = 110n;
/** Blocks in a burst beyond those that its backlog fills, because its first results must still be read, proven and simulated. */
const BURST_START_BLOCKS = 3;
/** A burst leaves this percentage of a block to others who may start sending: recorded ones added up to 8 of 30 million gas. */
const SUDDEN_PERCENT = 30n;
/** A burst ends with the second block that uses less than this percentage of its budget. */
const UNFILLED_PERCENT = 75n;
const MAX_UNFILLED = 2;
/** Blocks without a backlog after which the next one may start a burst: demand near the budget is not a series of backlogs. */
const CALM_BLOCKS = 20;
/** Change in the steady price per block while others leave less than a tenth of the target. */
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
  // What others add to one block must have room in it: what exceeds the block fails there, and pays.
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
      // It stops at the ceiling, so that it does not take long to return.
      creep: minInt(creep, (ceiling * DEC18_ONE) / params.minBaseGasPrice + DEC18_ONE),
    },
  };
}

/** Returns the burst that continues or begins; undefined if there is none. `most`: gas per block up to the ceiling. */
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

/** Returns the price that the relayer maintains while it has more to send than the market can sustain. */
function steadyPriceOf({ state, params, ceiling, others }: BudgetInput, creep: Dec18): Dec18 {
  const minimum = params.minBaseGasPrice;
  // By so much others move the price from block to block.
  const noise = (state.learningRate * others.deviation) / maxInt(targetOf(params), 1n);
  const reserve = minInt(
    (DEC18_ONE * STEADY_PERMILLE) / 1_000n + noise,
    (DEC18_ONE * MAX_STEADY_PERMILLE) / 1_000n,
  );
  const wanted = mulDec18(mulDec18(minimum, DEC18_ONE + reserve), creep);
  return maxInt(minInt(wanted, mulDec18(ceiling, BELOW_CEILING)), minimum);
}

/** Returns the budget for a block while the state cannot be read: the gas that leaves the price unchanged, whatever it is. */
export function unreadBudget(params: MarketParams, { mean }: OthersGas): MarketBudget {
  const gas = maxInt(targetOf(params) - mean, 0n);
  return { gas, toleranceGas: 0n, singleGas: gas, phase: "steady" };
}
