import {
  addUtilization,
  closeBlock,
  gasOfBlock,
  type Params,
  priceAfter,
  type State,
  targetOf,
} from "../../cosmos/fee-market/market.ts";
import { type Dec18, DEC18_ONE, mulDec18, quoDec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import {
  type Backlog,
  createBudgetController,
  type MarketBudget,
  type OthersGas,
  unreadBudget,
} from "./budget.ts";

interface MarketOptions {
  /** The setting `gas.price.comfortable`, in `denom`. If it is undefined, twice the chain's minimum price applies. */
  readonly ceiling: Dec18 | undefined;
  /** Maximum gas price (`gas.max_price`), in `denom`. */
  readonly cap: Dec18;
  /** The denom in which fees are paid. The chain converts the price if the fee market uses another denom. */
  readonly denom: string;
}

interface BlockPrice {
  /** The price that the next block will charge. */
  readonly price: Dec18;
  /** The factor, at least 1, by which the price may rise from the next block to the block after it. */
  readonly rise: Dec18;
}

/** The local chain's fee market, and the share of each block that the relayer may use. */
export type Market = ReturnType<typeof createMarket>;

/** The last reading of the fee market, with prices in the fee denom per unit of gas. */
export type MarketReading = NonNullable<ReturnType<Market["status"]>>;

interface MarketBlock {
  readonly height: bigint;
  /** The price that the block's transactions paid. */
  readonly price: Dec18;
  readonly ownGas: bigint;
  /** Total fees of the relayer's transactions in the block, in the fee denom's base unit. */
  readonly ownFee: bigint;
  /** Gas used by other senders; undefined if the price stayed at the minimum, which reveals only an upper bound. */
  readonly othersGas: bigint | undefined;
}

/** Maximum number of market states stored until the relayer's gas in their blocks is known. */
const MAX_STATES = 50;
/** Maximum age, in blocks, of a state that is used to predict the next state. */
const MAX_PREDICTED = 5n;
const MARKET_BLOCKS = 100;

/** Weight of the last block in an average, per mille. */
const MEAN_WEIGHT = 300n;
const DEVIATION_WEIGHT = 100n;
/** Share of the averages that remains after a block that reveals only an upper bound of other senders' gas, per mille. */
const DECAY = 970n;
const PERMILLE = 1_000n;

interface Readings {
  readonly states: Map<bigint, State>;
  readonly sent: Map<bigint, bigint>;
  readonly own: Map<bigint, bigint>;
  readonly fees: Map<bigint, bigint>;
  /** Height of the newest block with one of the relayer's transactions; 0 if there is none. */
  newestOwn: bigint;
  /** Height of the last block whose gas was divided into the relayer's and other senders' gas. */
  divided: bigint;
  complete: bigint;
  latest: { readonly height: bigint; readonly atMs: number } | undefined;
}

/** Creates the fee market's state before the first reading. */
export function createMarket(
  options: MarketOptions,
  clock: { readonly monotonicMs: () => number; readonly nowMs: () => number },
) {
  let params: Params | undefined;
  let readings = emptyReadings();
  let others: OthersGas = { mean: 0n, deviation: 0n };
  let controller = createBudgetController();
  let budget: MarketBudget | undefined;
  const blocks: MarketBlock[] = [];
  const day: PricePoint[] = [];
  const forget = (): void => {
    readings = emptyReadings();
    controller = createBudgetController();
    budget = undefined;
    blocks.length = 0;
  };
  /** Returns the newest known block's height, even if only a relayer transaction shows that the block exists. */
  const lastBlock = (height: bigint): bigint =>
    readings.newestOwn - height <= MAX_PREDICTED ? maxInt(height, readings.newestOwn) : height;
  /** The price in the fee denom divided by the price in the market's denom; undefined if unknown. */
  let rate: Dec18 | undefined;
  const rateOf = (known: Params): Dec18 | undefined => (known.feeDenom === options.denom ? DEC18_ONE : rate);
  const toMarket = (known: Params, price: Dec18): Dec18 | undefined => {
    const own = rateOf(known);
    return own === undefined ? undefined : quoDec18(price, own);
  };
  /** Returns the ceiling in the market's denom. */
  const ceiling = (known: Params): Dec18 | undefined =>
    options.ceiling === undefined ? known.minBaseGasPrice * 2n : toMarket(known, options.ceiling);
  const capOf = (known: Params): Dec18 | undefined => toMarket(known, options.cap);
  const toFee = (known: Params, price: Dec18 | undefined): Dec18 | undefined => {
    const own = rateOf(known);
    return own === undefined || price === undefined ? undefined : mulDec18(price, own);
  };
  const divide = (known: Params): void => {
    for (const one of divideBlocks(readings, known)) {
      others = updated(others, one);
      blocks.push(one.block);
    }
    blocks.splice(0, blocks.length - MARKET_BLOCKS);
  };
  return {
    /** Stores the fee market's parameters. Pass undefined if the chain has no fee market. */
    setParams: (read: Params | undefined): void => {
      const isSame = read !== undefined && params !== undefined && sameMarket(read, params);
      params = read?.enabled === true ? read : undefined;
      if (!isSame) forget();
    },
    /** Returns the fee market's parameters; undefined if the chain has no fee market, or if the fee market is disabled. */
    params: (): Params | undefined => params,
    recordState: (height: bigint, state: State): void => {
      if (params === undefined) return;
      const { latest } = readings;
      // A height that is not newer comes from a late response or a reset chain.
      if (latest !== undefined && height <= latest.height) {
        if (latest.height - height < MAX_PREDICTED) return;
        forget();
      }
      readings.latest = { height, atMs: clock.monotonicMs() };
      readings.states.set(height, state);
      dropOldest(readings.states);
      addPrice(day, state.baseGasPrice, clock.nowMs());
      divide(params);
    },
    /** Records the price in the fee denom at this height, if the market uses a different denom. */
    recordFeePrice: (height: bigint, price: Dec18): void => {
      const base = readings.states.get(height)?.baseGasPrice ?? latestState(readings)?.baseGasPrice;
      if (base !== undefined && base > 0n && price > 0n) rate = quoDec18(price, base);
    },
    /** Records the expected gas of a transaction that was broadcast at this height and that the next block will probably include. */
    recordSent: (height: bigint, gas: bigint): void => addTo(readings.sent, lastBlock(height), gas),
    /** Records the gas and fee of one of the relayer's transactions in a block. */
    recordOwn: (height: bigint, gas: bigint, fee: bigint): void => {
      addTo(readings.own, height, gas);
      addTo(readings.fees, height, fee);
      readings.newestOwn = maxInt(readings.newestOwn, height);
    },
    /** Records that blocks up to this height contain no more of the relayer's transactions. */
    recordComplete: (height: bigint): void => {
      readings.complete = maxInt(readings.complete, height);
      if (params !== undefined) divide(params);
    },
    /** Plans the budget for the block after height `at`. Call `plan` again after a market state has been read. */
    plan: (at: bigint, backlog: Backlog): void => {
      const height = lastBlock(at);
      const [most, cap] = params === undefined ? [] : [ceiling(params), capOf(params)];
      if (params === undefined || (most !== undefined && cap !== undefined && most >= cap)) {
        budget = undefined;
        return;
      }
      if (most === undefined || cap === undefined) {
        budget = { ...unreadBudget(params, others), phase: "unpriced" };
        return;
      }
      const state = stateAt(readings, params, height, others.mean);
      budget =
        state === undefined
          ? unreadBudget(params, others)
          : controller.plan(height, {
              state,
              params,
              ceiling: most,
              others,
              othersPeak: blocks.reduce((peak, { othersGas = 0n }) => maxInt(peak, othersGas), 0n),
              backlog,
              sentGas: readings.sent.get(height - 1n) ?? 0n,
            });
    },
    /** Returns true if the state after block `height` was read or can be computed from a slightly earlier state. */
    isKnown: (height: bigint): boolean =>
      params !== undefined && stateAt(readings, params, height, others.mean) !== undefined,
    /** Returns the last planned budget; undefined if there is no fee market or only `batch.block_share` limits a block. */
    budget: (): MarketBudget | undefined => budget,
    /**
     * Returns the price in the fee denom for a broadcast at height `at`; undefined if the caller must read the price from the
     * chain. `ownGas` is this relayer's gas in the next block, including the broadcast.
     */
    priceAt: (at: bigint, ownGas: bigint = 0n): BlockPrice | undefined => {
      const height = lastBlock(at);
      if (params === undefined || params.feeDenom !== options.denom) return undefined;
      // Assume that other senders who have begun to fill blocks will continue to do so.
      const high = maxInt(others.mean + 2n * others.deviation, blocks.at(-1)?.othersGas ?? 0n);
      const state = stateAt(readings, params, height, high);
      if (state === undefined) return undefined;
      const own = maxInt(ownGas, budget?.gas ?? targetOf(params));
      const next = priceAfter(state, own + high, params);
      return { price: state.baseGasPrice, rise: maxInt(quoDec18(next, state.baseGasPrice), DEC18_ONE) };
    },
    /**
     * Returns the last price read, in the fee denom. Returns undefined without a fee market, before the first read, and while the
     * price in the fee denom is unknown.
     */
    latestPrice: (): Dec18 | undefined =>
      params === undefined ? undefined : toFee(params, latestState(readings)?.baseGasPrice),
    /**
     * Returns the price above which only urgent results are sent, in the fee denom. Returns undefined without a fee market and
     * while the price in the fee denom is unknown.
     */
    ceiling: (): Dec18 | undefined => (params === undefined ? undefined : toFee(params, ceiling(params))),
    /** Returns the last reading of the market; undefined without a fee market and before the first read. */
    status: () => {
      const { latest, states } = readings;
      const state = states.get(latest?.height ?? 0n);
      if (params === undefined || latest === undefined || state === undefined) return undefined;
      const target = targetOf(params);
      return {
        denom: params.feeDenom,
        /** Local height of the block after which the price was read. */
        readAtHeight: latest.height,
        /** Monotonic time of the read, ms. */
        readAtMs: latest.atMs,
        /** Gas price of the next block. */
        price: state.baseGasPrice,
        /** The chain's minimum gas price. */
        minimum: params.minBaseGasPrice,
        /**
         * Price above which the relayer sends only urgent results: `gas.price.comfortable`. In phase "unpriced", the ceiling is
         * twice the minimum.
         */
        ceiling: ceiling(params) ?? params.minBaseGasPrice * 2n,
        /** Price above which the relayer sends nothing: `gas.max_price`, or the ceiling in phase "unpriced". */
        cap: capOf(params) ?? ceiling(params) ?? params.minBaseGasPrice * 2n,
        phase: budget?.phase ?? "unlimited",
        /** Gas per block that leaves the price unchanged. */
        targetGas: target,
        /** Other senders' gas per block, as an exponential average. */
        othersGas: others.mean,
        /** Gas that the relayer may use in the next block. */
        budgetGas: budget?.gas ?? params.maxBlockUtilization,
        /**
         * The relayer's fees in recent blocks, divided by gas used × price; undefined if these blocks contain none of the relayer's
         * transactions or the fee denom differs from the market's denom.
         */
        feeFactor: params.feeDenom === options.denom ? feeFactorOf(blocks) : undefined,
        /** Up to 100 recent blocks that have a reading, oldest first. */
        blocks: [...blocks],
        /** Up to 288 price ranges of the last day since the relayer's start, oldest first. */
        day: [...day],
      };
    },
  };
}

function latestState({ states, latest }: Readings): State | undefined {
  return states.get(latest?.height ?? 0n);
}

function emptyReadings(): Readings {
  return {
    states: new Map(),
    sent: new Map(),
    own: new Map(),
    fees: new Map(),
    newestOwn: 0n,
    divided: 0n,
    complete: 0n,
    latest: undefined,
  };
}

function sameMarket(a: Params, b: Params): boolean {
  return (
    a.enabled === b.enabled &&
    a.feeDenom === b.feeDenom &&
    a.window === b.window &&
    a.minBaseGasPrice === b.minBaseGasPrice &&
    a.maxBlockUtilization === b.maxBlockUtilization
  );
}

function addTo(gasByHeight: Map<bigint, bigint>, height: bigint, gas: bigint): void {
  gasByHeight.set(height, (gasByHeight.get(height) ?? 0n) + gas);
  dropOldest(gasByHeight);
}

function dropOldest(byHeight: Map<bigint, unknown>): void {
  const [oldest] = byHeight.keys();
  if (byHeight.size > MAX_STATES && oldest !== undefined) byHeight.delete(oldest);
}

/**
 * Returns the state after block `height`; undefined if no recent state was read. If the state was not read, computes it from an
 * earlier state, the gas that the relayer sent, and other senders' gas.
 */
function stateAt(
  { states, sent }: Readings,
  params: Params,
  height: bigint,
  othersGas: bigint,
): State | undefined {
  for (let back = 0n; back <= MAX_PREDICTED; back++) {
    let state = states.get(height - back);
    if (state === undefined) continue;
    for (let at = height - back; at < height; at++) {
      const gas = minInt((sent.get(at) ?? 0n) + othersGas, params.maxBlockUtilization);
      const added = addUtilization(state, gas, params);
      state = closeBlock("state" in added ? added.state : state, params);
    }
    return state;
  }
  return undefined;
}

interface DividedBlock {
  readonly block: MarketBlock;
  /** Upper bound of the gas that other senders used in the block. */
  readonly bound: bigint;
}

/** Divides the gas in complete blocks into the relayer's and other senders' gas. */
function* divideBlocks(readings: Readings, params: Params): Generator<DividedBlock> {
  const { states, own, fees, complete, latest } = readings;
  const end = minInt(complete, latest?.height ?? 0n);
  if (end <= readings.divided) return;
  const [oldest = end] = states.keys();
  for (let height = maxInt(readings.divided, oldest) + 1n; height <= end; height++) {
    const [before, after] = [states.get(height - 1n), states.get(height)];
    if (before === undefined || after === undefined) continue;
    const { gas, isExact } = gasOfBlock(before, after, params);
    const ownGas = own.get(height) ?? 0n;
    const bound = maxInt(gas - ownGas, 0n);
    const othersGas = isExact ? bound : undefined;
    const ownFee = fees.get(height) ?? 0n;
    yield { block: { height, price: before.baseGasPrice, ownGas, ownFee, othersGas }, bound };
  }
  readings.divided = end;
}

/** Updates the exponential averages. The averages decay after a block that reveals only an upper bound, e.g. at the minimum price. */
function updated({ mean, deviation }: OthersGas, { block, bound }: DividedBlock): OthersGas {
  const { othersGas } = block;
  if (othersGas === undefined)
    return { mean: minInt((mean * DECAY) / PERMILLE, bound), deviation: (deviation * DECAY) / PERMILLE };
  const distance = othersGas > mean ? othersGas - mean : mean - othersGas;
  return {
    mean: mean + ((othersGas - mean) * MEAN_WEIGHT) / PERMILLE,
    deviation: deviation + ((distance - deviation) * DEVIATION_WEIGHT) / PERMILLE,
  };
}

function feeFactorOf(blocks: readonly MarketBlock[]): Dec18 | undefined {
  let [fees, charged] = [0n, 0n];
  for (const { price, ownGas, ownFee } of blocks) {
    fees += ownFee;
    charged += ownGas * price;
  }
  return charged === 0n ? undefined : (fees * DEC18_ONE * DEC18_ONE) / charged;
}

/** The lowest and the highest price within a five-minute interval. */
export interface PricePoint {
  /** Start of the five-minute interval, as Unix time in ms. */
  readonly startMs: number;
  readonly low: Dec18;
  readonly high: Dec18;
}

const PRICE_POINT_MS = 300_000;
const PRICE_POINTS = 288;

function addPrice(day: PricePoint[], price: Dec18, nowMs: number): void {
  const startMs = nowMs - (nowMs % PRICE_POINT_MS);
  const last = day.at(-1);
  if (last?.startMs !== startMs) {
    day.push({ startMs, low: price, high: price });
    while (day.length > PRICE_POINTS || (day[0]?.startMs ?? 0) < startMs - PRICE_POINTS * PRICE_POINT_MS)
      day.shift();
    return;
  }
  day[day.length - 1] = { startMs, low: minInt(last.low, price), high: maxInt(last.high, price) };
}
