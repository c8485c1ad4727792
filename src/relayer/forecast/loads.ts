import type { MarketParams } from "../../cosmos/fee-market/market.ts";
import { feeFor } from "../../cosmos/client/tx/tx-queries.ts";
import { type Dec18, mulDec18, truncateDec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import type { Market, MarketReading } from "../gas-budget/create-market.ts";
import { unchangedReadOf } from "../registry/query-state.ts";
import type { Registry } from "../registry/registry.ts";
import { forecast, type RegisteredLoad } from "./forecast.ts";
import type { MarketStatus } from "./market-view.ts";
import { FEE_FACTOR, type MarketFacts } from "./steady-state.ts";
import { GAS_PER_CLIENT_UPDATE, GAS_PER_TRANSACTION, gasGuess } from "../result/proven-result.ts";

/** Returns the price above which the relayer sends only urgent results. */
export function ceilingOf(
  { gas }: { readonly gas: { readonly price?: { readonly comfortable: Dec18 } | undefined } },
  { minBaseGasPrice }: Pick<MarketParams, "minBaseGasPrice">,
): Dec18 {
  return gas.price?.comfortable ?? 2n * minBaseGasPrice;
}

/** A price cap above this multiple of the minimum offers no protection, because only many full blocks in a row raise the price so far. */
const USEFUL_CAP = 100n;

/** Describes a problem with the configured prices and its remedy; undefined if the prices suit the market. */
export function adviseOnPrices(
  { ceiling, cap }: { readonly ceiling: Dec18; readonly cap: Dec18 },
  { minBaseGasPrice: minimum }: Pick<MarketParams, "minBaseGasPrice">,
): readonly [text: string, advice: string] | undefined {
  const times = (price: Dec18): string => `${(Number(price) / Number(minimum)).toFixed(1)} × the minimum`;
  if (cap < minimum)
    return [`gas.max_price is ${times(cap)}: nothing is sent`, "raise gas.max_price to twice the minimum"];
  if (ceiling < minimum)
    return [
      `gas.price.comfortable is ${times(ceiling)}: only urgent results are sent`,
      "raise gas.price.comfortable to the minimum or more, or remove it",
    ];
  if (ceiling >= cap && cap > USEFUL_CAP * minimum)
    return [
      `gas.price.comfortable is not below gas.max_price, which is ${times(cap)}: a backlog fills every block, and 300 full blocks raise the price 400,000-fold; the relayer pays up to gas.max_price`,
      "remove gas.price.comfortable, or lower gas.max_price",
    ];
  return undefined;
}

type FeeConfig = Pick<RelayerConfig, "gas" | "batch" | "connections">;

/** Returns the forecast input that the configuration determines. */
export function configuredCosts(
  { gas, batch, connections }: FeeConfig,
  params: MarketParams,
): Pick<MarketFacts, "params" | "ceiling" | "feeFactor" | "batch"> {
  return {
    params,
    ceiling: ceilingOf({ gas }, params),
    feeFactor: FEE_FACTOR,
    batch: {
      fixedGas: fixedGasOf({ connections }),
      blockSharePermille: truncateDec18(batch.block_share * 1_000n),
    },
  };
}

/** Returns the expected gas of a transaction with one client update per connection and no results. */
function fixedGasOf({ connections }: Pick<RelayerConfig, "connections">): bigint {
  return GAS_PER_TRANSACTION + GAS_PER_CLIENT_UPDATE * BigInt(connections.length);
}

interface QueryFacts {
  /** Local block time, ms; undefined until known. */
  readonly blockMs: number | undefined;
  /** Remote block time, ms; 0 if unknown. */
  readonly remoteMs: number;
  /** Measured gas per result; undefined if not measured yet. */
  readonly gas?: bigint | undefined;
  /** Newest local height; undefined if unknown. */
  readonly height?: bigint | undefined;
}

/**
 * Returns a registered query's period and gas for a forecast. A KV query's next result requires a newer remote block, so its period
 * is never shorter than the remote block time.
 */
export function loadOf(
  query: RegisteredQuery,
  { queries }: Pick<RelayerConfig, "queries">,
  { blockMs, remoteMs, gas, height }: QueryFacts,
): RegisteredLoad {
  const { allow_kv_callbacks: callbacks, min_kv_update_period: least } = queries;
  const { id, owner, type, registeredAtHeight } = query;
  const remotePeriod = Math.round((remoteMs * Number(maxInt(least, 1n))) / (blockMs ?? Infinity));
  const used = gas ?? gasGuess(query, callbacks);
  // The age of a query from the genesis state is unknown, because it has no registration height.
  const hasAge = height !== undefined && registeredAtHeight > 0n && height > registeredAtHeight;
  return {
    id,
    owner,
    queries: 1,
    updatePeriod: type === "tx" ? undefined : maxInt(query.updatePeriod, BigInt(Math.max(1, remotePeriod))),
    gas: used,
    gasWithoutCallback: minInt(used, gasGuess(query, false)),
    ageBlocks: hasAge ? height - registeredAtHeight : undefined,
  };
}

interface BlockTimes {
  readonly view: () => { readonly blockMs: number | undefined };
}

export interface LoadDeps {
  readonly gasOf: (queryId: bigint) => bigint | undefined;
  readonly registry: Pick<Registry, "states">;
  readonly watches: {
    readonly local: BlockTimes;
    readonly connections: readonly { readonly id: string; readonly remote: BlockTimes }[];
  };
  readonly localHeight: () => bigint;
}

export function createLoads(
  config: Pick<RelayerConfig, "queries">,
  { gasOf, registry, watches, localHeight }: LoadDeps,
): () => readonly RegisteredLoad[] {
  return () => {
    const { blockMs } = watches.local.view();
    const height = localHeight();
    const remotes = new Map(watches.connections.map(({ id, remote }) => [id, remote.view().blockMs ?? 0]));
    return registry.states().map((state) => {
      const { query } = state;
      // A query whose values do not change gets only one result per `maxAge` blocks.
      const updatePeriod = unchangedReadOf(state)?.maxAge ?? query.updatePeriod;
      const remoteMs = remotes.get(query.connectionId) ?? 0;
      return loadOf({ ...query, updatePeriod }, config, { blockMs, remoteMs, gas: gasOf(query.id), height });
    });
  };
}

interface MarketViewDeps {
  readonly market: Pick<Market, "status" | "params">;
  readonly loads: () => readonly RegisteredLoad[];
  /** Local block time, ms; undefined until known. */
  readonly blockMs: () => number | undefined;
  readonly clock: { readonly monotonicMs: () => number };
}

/**
 * Creates a function that returns the fee market with a forecast for the served KV queries. The function returns undefined before
 * the first reading and without a fee market.
 */
export function createMarketView(config: FeeConfig, deps: MarketViewDeps): () => MarketStatus | undefined {
  // Cache the forecast, because several readers request the status of the same block.
  let last: Pick<MarketStatus, "readAtHeight" | "othersGas" | "feeFactor" | "forecast"> | undefined;
  return () => {
    const status = deps.market.status();
    const params = deps.market.params();
    const blockMs = deps.blockMs();
    if (status === undefined || params === undefined || blockMs === undefined) return undefined;
    const { readAtMs, ...market } = status;
    const { readAtHeight, othersGas } = market;
    if (last?.readAtHeight !== readAtHeight || last.othersGas !== othersGas) {
      const costs = configuredCosts(config, params);
      const feeFactor = market.feeFactor ?? costs.feeFactor;
      const input = { ...costs, feeFactor, loads: deps.loads(), blockMs, othersGas };
      last = { readAtHeight, othersGas, feeFactor, forecast: forecast(input) };
    }
    return { ...market, ...last, sinceReadMs: deps.clock.monotonicMs() - readAtMs };
  };
}

/** Returns the expected fee for a transaction with the given results, at `price` per unit of gas and for at most `batch.gas`. */
export function transactionFee(
  config: FeeConfig,
  resultGas: readonly bigint[],
  { price, feeFactor = FEE_FACTOR }: { readonly price: Dec18; readonly feeFactor?: Dec18 | undefined },
): bigint {
  const gas = resultGas.reduce((sum, one) => sum + one, fixedGasOf(config));
  return feeFor(mulDec18(price, feeFactor), minInt(gas, config.batch.gas));
}

/**
 * Creates a function that returns the expected fee, at the current price, for a transaction with one result per served KV query.
 */
export function createTransactionFee(
  config: FeeConfig,
  loads: () => readonly RegisteredLoad[],
  market: () => Pick<MarketReading, "price" | "feeFactor"> | undefined,
): () => bigint {
  return () => {
    const kv = loads().filter(({ updatePeriod }) => updatePeriod !== undefined);
    return transactionFee(
      config,
      kv.map(({ gas }) => gas),
      market() ?? { price: config.gas.fallback_price },
    );
  };
}
