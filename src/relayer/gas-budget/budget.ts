import { gasUpToPrice, type MarketParams, type State, targetOf } from "../../cosmos/fee-market/market.ts";
import { DEC18_ONE, type Dec18, mulDec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";

/**
 * Phases of the budget, as they appear in JSON and metrics:
 *
 * - "steady": the price stays where it is;
 * - "burst": a backlog is sent, up to the ceiling of the price;
 * - "recovering": the price returns to its steady value;
 * - "above-ceiling": the price is above the ceiling, and only urgent results are sent;
 * - "unpriced": the price in the denom of the fees is not known, and a block gets what keeps the market's price where it is;
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

/** Others' gas in a block, smoothed. */
export interface OthersGas {
  readonly mean: bigint;
  /** Mean absolute deviation. */
  readonly deviation: bigint;
}

/** What the budget of a block is decided on. */
interface BudgetInput {
  /** The market before the block. */
  readonly state: State;
  readonly params: MarketParams;
  readonly ceiling: Dec18;
  readonly others: OthersGas;
  /** Others' largest gas in one of the last blocks. */
  readonly othersPeak: bigint;
  readonly backlog: Backlog;
  /** Gas that was sent for the last block. */
  readonly sentGas: bigint;
}

/** The results that are due. */
export interface Backlog {
  /** Gas of all that are due and not in flight. */
  readonly gas: bigint;
  /** The part of `gas` that has been due for more than a minute. */
  readonly oldGas: bigint;
  /** Gas that becomes due in each block, on average. */
  readonly demandGas: bigint;
}

/** What the relayer may use of one block. */
export interface MarketBudget {
  readonly gas: bigint;
  /**
   * Gas by which a block may exceed `gas`, since the next budget makes up for it: the rest of a transaction that was split would
   * cost the fixed gas of another one.
   */
  readonly toleranceGas: bigint;
  /**
   * Gas that a single result may use although it exceeds `gas`, when nothing else is sent: the price stays below the ceiling, and
   * returns before the next one.
   */
  readonly singleGas: bigint;
  readonly phase: MarketPhase;
}

/** Decides the budgets of consecutive blocks. */
interface BudgetController {
  /**
   * Returns the budget of the block after `height`. Call it for each height, in ascending order. A further call for the last
   * height replaces the one before it, for instance when the state was read and not only predicted.
   */
  readonly plan: (height: bigint, input: BudgetInput) => MarketBudget;
}

/** What a controller remembers from block to block. */
interface Memory {
  /**
   * A backlog may start a burst. Each one has one. "old": only one that is old. At a start, what became due in the meantime is no
   * backlog.
   */
  readonly armed: "any" | "old" | "none";
  readonly burst: Burst | undefined;
  /** Gas of the last budget. */
  readonly gas: bigint;
  /** Consecutive blocks without a backlog. */
  readonly calmBlocks: number;
  /** Factor on the steady price, while others leave nothing at it. */
  readonly creep: Dec18;
}

/** A burst. It has its own end: the backlog of queries that are always due has none. */
interface Burst {
  /** Blocks until its end, at most. */
  readonly blocksLeft: number;
  /** Blocks that were not filled since the first one that was sent. */
  readonly unfilled: number;
  readonly hasSent: boolean;
}

const START: Memory = { armed: "old", burst: undefined, gas: 0n, calmBlocks: 0, creep: DEC18_ONE };

/**
 * Creates a controller.
 *
 * It plans the price of the next block and derives the gas from it, with the chain's own arithmetic. In the steady state that price
 * is one percent above the minimum: there the change of the price tells the gas of others exactly, and at the minimum it would not.
 * A backlog is sent in one burst that ends below the ceiling. A demand above the market is no backlog: a burst would not end it.
 * After a burst the price falls by two percent a block, which costs a sixth of the throughput: faster would leave blocks empty,
 * slower would cost more.
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

/** Reserve above the minimum at which the price stays, in per mille, and the most of it, when others vary much. */
const STEADY_PERMILLE = 10n;
const MAX_STEADY_PERMILLE = 100n;
/** Fall of the price in one block after a burst. */
const FALL = (DEC18_ONE * 98n) / 100n;
/** A burst ends when less than this many percent of what is sustainable can be sent below the ceiling. */
const BURST_END_PERCENT = 105n;
/** A burst begins with this backlog, and ends with this one, in percent of what a block bears. */
const BACKLOG_START_PERCENT = 150n;
const BACKLOG_END_PERCENT = 110n;
/** Blocks of a burst besides those that its backlog fills: its first results have to be read, proven and simulated. */
const BURST_START_BLOCKS = 3;
/** A burst leaves these percent of a block to others who may begin to use blocks: recorded ones added up to 8 of 30 million gas. */
const SUDDEN_PERCENT = 30n;
/** A burst ends with the second block of which less than this many percent of its budget were used. */
const UNFILLED_PERCENT = 75n;
const MAX_UNFILLED = 2;
/** Blocks without a backlog after which the next one may start a burst: a demand close to the budget is no series of backlogs. */
const CALM_BLOCKS = 20;
/** Change of the steady price in one block while others leave less than a tenth of the target. */
const CREEP_UP = (DEC18_ONE * 101n) / 100n;
const CREEP_DOWN = (DEC18_ONE * 99n) / 100n;
/** The steady price stays this far below the ceiling. */
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

/** The burst that goes on, or begins; undefined when there is none. `most`: gas of a block up to the ceiling. */
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

/** Returns the price at which the relayer stays while there is more to send than the market bears. */
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

/** While the state cannot be read, a block gets what keeps the price where it is, whatever the price is. */
export function unreadBudget(params: MarketParams, { mean }: OthersGas): MarketBudget {
  const gas = maxInt(targetOf(params) - mean, 0n);
  return { gas, toleranceGas: 0n, singleGas: gas, phase: "steady" };
}
