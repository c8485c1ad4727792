import { parsePrecDec, PREC_ONE, quoPrec } from "../../src/platform/base/decimal.ts";
import { calcPrice } from "../../src/localnet/chain/modules/dex/price.ts";
import * as store from "../../src/localnet/chain/modules/dex/store.ts";
import type { PoolReserves } from "../../src/localnet/chain/modules/dex/types.ts";
import type { Context } from "../../src/localnet/chain/runtime/context.ts";
import {
  LimitOrderType,
  MsgCancelLimitOrder,
  MsgDeposit,
  MsgMultiHopSwap,
  MsgPlaceLimitOrder,
  MsgPlaceLimitOrderResponse,
} from "../../src/cosmos/proto/gen/neutron/dex/tx.ts";
import { encodeMessage } from "../../src/cosmos/proto/encode.ts";
import { createDexWorld, DEX_ADDRESS, type DexWorld, type WorldBank } from "../support/dex-world.ts";

/** Sender of all measured messages. */
export const ALICE = "neutron1v9kxjcm9ta047h6lta047h6lta047h6l4wqwn5";
const BOB = "neutron1vfhkyh6lta047h6lta047h6lta047h6lcjevvl";
/** Denominations of the workloads. */
export const TOKENS = ["TokenA", "TokenB", "TokenC", "TokenD"];
const OWNED = 10n ** 30n;
const DEEP = 10n ** 12n;

/** The linear congruential generator of the workloads. */
export interface Random {
  /** 31 bits. */
  readonly next: () => bigint;
  readonly below: (limit: bigint) => bigint;
  /** Below a limit of at most 62 bits. */
  readonly big: (limit: bigint) => bigint;
}

/** Creates the generator at its start. */
export function createRandom(): Random {
  let x = 603n;
  const next = (): bigint => {
    x = BigInt.asUintN(64, x * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n);
    return x >> 33n;
  };
  return {
    next,
    below: (limit) => next() % limit,
    big: (limit) => {
      const high = next();
      return (high * 2n ** 31n + next()) % limit;
    },
  };
}

/** A state, and the messages that handlers run on it. */
export interface Market {
  readonly world: DexWorld;
  /** Runs one message as one transaction; returns the encoded response. */
  readonly send: (name: string, message: Uint8Array) => Uint8Array;
  readonly counts: { events: number; gas: bigint };
}

/** One measured kind of operation. */
export interface Workload {
  readonly id: string;
  readonly text: string;
  /** Operations of the deployed keeper (Go) a second. */
  readonly deployed: number;
  /** Operations after which the state is built again; undefined: never. */
  readonly rebuildAfter?: number;
  readonly build: (bank: BankFactory) => Market;
  /** Prepares operation number `index` and returns what is measured. */
  readonly operation: (market: Market, random: Random, index: number) => () => void;
  /** Expected figures after 1,000 operations. */
  readonly fingerprint: Readonly<Record<string, string>>;
}

/** Creates the bank of a market. */
export type BankFactory = () => WorldBank;

/** Creates a market whose users own the tokens. */
function createMarket(bank: BankFactory): Market {
  const world = createDexWorld(bank());
  const coins = TOKENS.map((denom) => ({ denom, amount: OWNED }));
  world.fund(ALICE, coins);
  world.fund(BOB, coins);
  const handlers = new Map(world.module.messages.map((handler) => [handler.typeUrl, handler]));
  const counts = { events: 0, gas: 0n };
  return {
    world,
    counts,
    send: (name, message) => {
      const handler = handlers.get(`/neutron.dex.${name}`);
      if (handler === undefined) throw new Error(`nobody handles ${name}`);
      const { result, events, gas } = world.run(0n, (context) => handler.handle(context, message));
      counts.events += events.length;
      counts.gas += gas;
      return result.response;
    },
  };
}

/** A pool as genesis installs it: token0 and token1 in byte order, fee 1. */
interface GenesisPool {
  readonly token0: string;
  readonly token1: string;
  readonly centre: bigint;
  readonly reserves: readonly [bigint, bigint];
}

function installPools(market: Market, pools: readonly GenesisPool[]): void {
  const sums = new Map<string, bigint>();
  market.world.run(0n, (context) => {
    for (const [index, pool] of pools.entries()) {
      installPool(context, BigInt(index), pool);
      sums.set(pool.token0, (sums.get(pool.token0) ?? 0n) + pool.reserves[0]);
      sums.set(pool.token1, (sums.get(pool.token1) ?? 0n) + pool.reserves[1]);
    }
    store.poolCount.set(context, BigInt(pools.length));
  });
  market.world.fund(
    DEX_ADDRESS,
    [...sums].map(([denom, amount]) => ({ denom, amount })),
  );
}

function installPool(context: Context, id: bigint, { token0, token1, centre, reserves }: GenesisPool): void {
  const lower = side(token0, token1, 1n - centre);
  const upper = side(token1, token0, centre + 1n);
  store.setPoolMetadata(context, { id, tick: centre, fee: 1n, pairId: { token0, token1 } });
  if (reserves[0] > 0n) store.setReserves(context, { ...lower, reserves: reserves[0] });
  if (reserves[1] > 0n) store.setReserves(context, { ...upper, reserves: reserves[1] });
}

function side(makerDenom: string, takerDenom: string, tick: bigint): PoolReserves {
  const makerPrice = calcPrice(tick);
  return {
    key: { tradePairId: { makerDenom, takerDenom }, tick, fee: 1n },
    reserves: 0n,
    priceTakerToMaker: quoPrec(PREC_ONE, makerPrice),
    priceOppositeTakerToMaker: calcPrice(tick - 2n),
    makerPrice,
  };
}

function range(from: number, to: number): readonly bigint[] {
  return Array.from({ length: to - from + 1 }, (_, index) => BigInt(from + index));
}

function swapMarket(bank: BankFactory, isCrossed: boolean): Market {
  const market = createMarket(bank);
  const pools = range(-50, 49).map((centre) => ({
    token0: "TokenA",
    token1: "TokenB",
    centre,
    reserves: [isCrossed || centre < 0n ? DEEP : 0n, isCrossed || centre >= 0n ? DEEP : 0n] as const,
  }));
  installPools(market, pools);
  return market;
}

/** Fields of an order that the workloads set. */
interface Order {
  readonly tokenIn: string;
  readonly tokenOut: string;
  readonly tick: bigint;
  readonly amountIn: bigint;
  readonly orderType: LimitOrderType;
}

function encodeOrder(creator: string, { tokenIn, tokenOut, tick, amountIn, orderType }: Order): Uint8Array {
  return encodeMessage(MsgPlaceLimitOrder, {
    creator,
    receiver: creator,
    tokenIn,
    tokenOut,
    tickIndexInToOut: tick,
    amountIn: amountIn.toString(),
    orderType,
    expirationTime: undefined,
    maxAmountOut: "",
    limitSellPrice: "",
    minAverageSellPrice: "",
  });
}

function swapOperation(amountOf: (random: Random) => bigint): Workload["operation"] {
  return (market, random, index) => {
    const [tokenIn = "", tokenOut = ""] = index % 2 === 0 ? ["TokenA", "TokenB"] : ["TokenB", "TokenA"];
    const message = encodeOrder(ALICE, {
      tokenIn,
      tokenOut,
      tick: 1000n,
      amountIn: amountOf(random),
      orderType: LimitOrderType.IMMEDIATE_OR_CANCEL,
    });
    return () => void market.send("MsgPlaceLimitOrder", message);
  };
}

function orderMarket(bank: BankFactory): Market {
  const market = createMarket(bank);
  for (const k of range(0, 199)) {
    const order = { tokenIn: "TokenA", tokenOut: "TokenB", tick: -(5n * k + 1n), amountIn: 1_000_000n };
    const orderType = LimitOrderType.GOOD_TIL_CANCELLED;
    market.send("MsgPlaceLimitOrder", encodeOrder(BOB, { ...order, orderType }));
  }
  return market;
}

const placeAndCancel: Workload["operation"] = (market, random) => {
  const amountIn = 1_000_000n + random.below(1_000_000n);
  const tick = -(1n + random.below(1000n));
  const message = encodeOrder(ALICE, {
    tokenIn: "TokenA",
    tokenOut: "TokenB",
    tick,
    amountIn,
    orderType: LimitOrderType.GOOD_TIL_CANCELLED,
  });
  return () => {
    const { trancheKey } = MsgPlaceLimitOrderResponse.decode(market.send("MsgPlaceLimitOrder", message));
    market.send("MsgCancelLimitOrder", encodeMessage(MsgCancelLimitOrder, { creator: ALICE, trancheKey }));
  };
};

function encodeDeposit(amounts: readonly [bigint, bigint], tick: bigint): Uint8Array {
  const option = {
    disableAutoswap: false,
    failTxOnBel: false,
    swapOnDeposit: false,
    swapOnDepositSlopToleranceBps: 0n,
  };
  return encodeMessage(MsgDeposit, {
    creator: ALICE,
    receiver: ALICE,
    tokenA: "TokenA",
    tokenB: "TokenB",
    amountsA: [amounts[0].toString()],
    amountsB: [amounts[1].toString()],
    tickIndexesAToB: [tick],
    fees: [1n],
    options: [option],
  });
}

function depositMarket(bank: BankFactory): Market {
  const market = createMarket(bank);
  for (const centre of range(1, 1000)) {
    market.send("MsgDeposit", encodeDeposit([1_000_000n, 0n], -centre));
    market.send("MsgDeposit", encodeDeposit([0n, 1_000_000n], centre));
  }
  return market;
}

function depositOperation(centreOf: (random: Random, index: number) => bigint): Workload["operation"] {
  return (market, random, index) => {
    const amount = 1_000_000n + random.below(1_000_000n);
    const centre = centreOf(random, index);
    const message =
      random.below(2n) === 0n ? encodeDeposit([amount, 0n], -centre) : encodeDeposit([0n, amount], centre);
    return () => void market.send("MsgDeposit", message);
  };
}

const PAIRS: readonly (readonly [string, string])[] = [
  ["TokenA", "TokenB"],
  ["TokenB", "TokenC"],
  ["TokenC", "TokenD"],
  ["TokenA", "TokenD"],
];

function multiHopMarket(bank: BankFactory): Market {
  const market = createMarket(bank);
  const pools = PAIRS.flatMap(([token0, token1]) =>
    range(-10, 9).map((centre) => ({ token0, token1, centre, reserves: [DEEP, DEEP] as const })),
  );
  installPools(market, pools);
  return market;
}

const multiHop: Workload["operation"] = (market, random, index) => {
  const start = Math.floor(index / 2) % TOKENS.length;
  const cycle = TOKENS.map((_, at) => TOKENS[(start + at) % TOKENS.length] ?? "");
  const message = encodeMessage(MsgMultiHopSwap, {
    creator: ALICE,
    receiver: ALICE,
    routes: [{ hops: index % 2 === 0 ? cycle : cycle.toReversed() }],
    amountIn: (1_000_000n + random.below(10n ** 9n)).toString(),
    exitLimitPrice: parsePrecDec("0.000001").toString(),
    pickBestRoute: false,
  });
  return () => void market.send("MsgMultiHopSwap", message);
};

const large = (random: Random): bigint => 1_000_000n + random.big(2n * DEEP);

/** The workloads, with their words, figures and fingerprints of the deployed keeper. */
export const WORKLOADS: readonly Workload[] = [
  {
    id: "A1",
    text: "swap, 100 pools, both sides filled (book initially crossed)",
    deployed: 13_271,
    rebuildAfter: 1000,
    build: (bank) => swapMarket(bank, true),
    operation: swapOperation(large),
    fingerprint: {
      TokenA: "999999999999999997322391287918",
      TokenB: "1000000000000000002828018976102",
      ticks: "101",
      events: "15677",
    },
  },
  {
    id: "A2",
    text: "swap, same pools, uncrossed book",
    deployed: 12_031,
    rebuildAfter: 1000,
    build: (bank) => swapMarket(bank, false),
    operation: swapOperation(large),
    fingerprint: {
      TokenA: "999999999999999997056458104361",
      TokenB: "1000000000000000002844197440667",
      ticks: "101",
    },
  },
  {
    id: "A3",
    text: "swap sweeping 20 ticks",
    deployed: 2_210,
    rebuildAfter: 1000,
    build: (bank) => swapMarket(bank, false),
    operation: swapOperation(() => 20n * DEEP),
    fingerprint: {
      TokenA: "1000000000000000005074237621407",
      TokenB: "999999999999999992925025102816",
      events: "71276",
    },
  },
  {
    id: "A4",
    text: "swap, small amounts (one tick)",
    deployed: 16_067,
    rebuildAfter: 1000,
    build: (bank) => swapMarket(bank, false),
    operation: swapOperation((random) => 1_000_000n + random.below(1_000_000n)),
    fingerprint: {
      TokenA: "1000000000000000000000010132373",
      TokenB: "999999999999999999999989716422",
      events: "14387",
    },
  },
  {
    id: "B1",
    text: "place GTC at a random tick, then cancel (2 messages = 1 op)",
    deployed: 14_126,
    build: orderMarket,
    operation: placeAndCancel,
    fingerprint: { TokenA: "1000000000000000000000000000000", trancheCount: "1006", events: "16612" },
  },
  {
    id: "C1",
    text: "deposit into one of 2,000 existing pools",
    deployed: 18_101,
    build: depositMarket,
    operation: depositOperation((random) => 1n + random.below(1000n)),
    fingerprint: {
      TokenA: "999999999999999999998220910256",
      TokenB: "999999999999999999998285543417",
      shares: "3582286124",
    },
  },
  {
    id: "C2",
    text: "deposit that creates a pool",
    deployed: 16_782,
    rebuildAfter: 1000,
    build: createMarket,
    operation: depositOperation((_random, index) => 7n * BigInt(index % 1000) + 1n),
    fingerprint: {},
  },
  {
    id: "D1",
    text: "multi-hop, 3 hops, 4 pairs",
    deployed: 9_302,
    rebuildAfter: 1000,
    build: multiHopMarket,
    operation: multiHop,
    fingerprint: {
      TokenA: "999999999999999999994778079601",
      TokenB: "1000000000000000000000489495636",
      TokenC: "999999999999999999998435612704",
      TokenD: "1000000000000000000007468704043",
      events: "18000",
    },
  },
];
