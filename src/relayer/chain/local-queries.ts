import { type ChainClient, queriesOf, type QueryHeight } from "../../cosmos/client/chain-client.ts";
import {
  allPages,
  createLightClientQueries,
  type LightClientQueries,
  page,
} from "../../cosmos/light-client/client-queries.ts";
import { Query as ConsensusQuery } from "../../cosmos/proto/gen/cosmos/consensus/v1/query.ts";
import { Query as BankQuery } from "../../cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import { Query as InterchainQueriesQuery } from "../../cosmos/proto/gen/neutron/interchainqueries/query.ts";
import type { StorageValue } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import {
  fromWire,
  type Params as MarketParams,
  paramsFromWire,
  type State as MarketState,
} from "../../cosmos/fee-market/market.ts";
import { fromWireQuery, type RegisteredQuery } from "./registered-query.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import { badResponse } from "../../cosmos/client/rpc-response.ts";
import { Query as MarketQuery } from "../../cosmos/proto/gen/feemarket/feemarket/v1/query.ts";

/** gRPC queries to the local chain, which reject with `ClientError` if they fail. */
export interface LocalQueries extends LightClientQueries {
  /**
   * Returns the connection's registered queries as of `height` (default: the latest). Rejects with `LightClientError`
   * "too-many-pages" if the list has more than 1,000 pages.
   */
  readonly registeredQueries: (
    connectionId: string,
    signal: AbortSignal,
    height?: QueryHeight,
  ) => Promise<readonly RegisteredQuery[]>;
  /** Reads one query. Resolves with undefined if the query's type is unknown. */
  readonly registeredQuery: (
    id: bigint,
    signal: AbortSignal,
    height?: QueryHeight,
  ) => Promise<RegisteredQuery | undefined>;
  readonly blockLimits: (signal: AbortSignal) => Promise<BlockLimits>;
  readonly marketState: (height: bigint, signal: AbortSignal) => Promise<MarketState>;
  /** Returns the account's balance in one denom; 0 if the account does not exist. */
  readonly balance: (address: string, denom: string, signal: AbortSignal) => Promise<bigint>;
}

export interface BlockLimits {
  /** Fee market parameters; undefined without a fee market. */
  readonly market?: MarketParams | undefined;
  /** Gas that a block's transactions may use (`max_block_utilization`); undefined without a fee market. */
  readonly utilization: bigint | undefined;
  /** Consensus parameter `max_gas`, the maximum sum of gas limits in a block; undefined if unlimited. */
  readonly gas: bigint | undefined;
  /** Consensus parameter `max_bytes`, the maximum size of a block; undefined if unlimited. */
  readonly bytes: bigint | undefined;
}

/** Creates the gRPC queries to the local chain. `chainName` is the prefix of the protobuf package `<chainName>.interchainqueries`. */
export function createLocalQueries(client: ChainClient, chainName: string): LocalQueries {
  const query = interchainQueriesOf(client, chainName);
  return {
    registeredQueries: (connectionId, signal, height) =>
      allPages(async (key) => {
        const request = { owners: [], connectionId, pagination: page(key) };
        const { registeredQueries, pagination } = await query("RegisteredQueries", request, signal, height);
        return {
          items: registeredQueries.flatMap((wire) => fromWireQuery(wire) ?? []),
          next: pagination?.nextKey,
        };
      }),
    registeredQuery: async (id, signal, height) => {
      const { registeredQuery } = await query("RegisteredQuery", { queryId: id }, signal, height);
      return registeredQuery && fromWireQuery(registeredQuery);
    },
    balance: async (address, denom, signal) => {
      const { balance } = await queriesOf(client, BankQuery)("Balance", { address, denom }, signal);
      const amount = balance?.amount ?? "";
      return /^\d{1,78}$/.test(amount) ? BigInt(amount) : 0n;
    },
    blockLimits: (signal) => readBlockLimits(client, signal),
    marketState: (height, signal) => readMarketState(client, signal, height),
    ...createLightClientQueries(client),
  };
}

function interchainQueriesOf(client: Pick<ChainClient, "grpcQuery">, chainName: string) {
  return queriesOf(client, { ...InterchainQueriesQuery, name: `${chainName}.interchainqueries.Query` });
}

/** Returns the values of the last KV result, in the order of the query's keys. Rejects with `ClientError` if the query has no result. */
export async function readQueryResult(
  client: Pick<ChainClient, "grpcQuery">,
  chainName: string,
  queryId: bigint,
  signal: AbortSignal,
): Promise<readonly StorageValue[]> {
  const { result } = await interchainQueriesOf(client, chainName)("QueryResult", { queryId }, signal);
  return result?.kvResults ?? [];
}

/** Reads the block limits from the fee market and the consensus parameters. Rejects with `ClientError`. */
export async function readBlockLimits(
  client: Pick<ChainClient, "grpcQuery">,
  signal: AbortSignal,
): Promise<BlockLimits> {
  const [market, consensus] = await Promise.all([
    readMarketParams(client, signal),
    ifServed(() => queriesOf(client, ConsensusQuery)("Params", {}, signal)),
  ]);
  const block = consensus?.params?.block;
  return {
    market,
    utilization: market?.maxBlockUtilization,
    gas: positive(block?.maxGas),
    bytes: positive(block?.maxBytes),
  };
}

/** Returns undefined for 0 and -1, which both mean "no limit" on the chain. */
function positive(value: bigint | undefined): bigint | undefined {
  return value !== undefined && value > 0n ? value : undefined;
}

/** Maximum accepted length of the fee market's averaging window, in blocks. The deployed chain averages over 1 block. */
const MAX_WINDOW = 10_000;

/**
 * Reads the chain's fee market parameters. Resolves with undefined if the chain has no fee market or disables it, so that the gas
 * price is constant. Rejects with `ClientError`, whose code is "bad-answer" if the chain returned a value that is invalid for a fee
 * market.
 */
export async function readMarketParams(
  client: Pick<ChainClient, "grpcQuery">,
  signal: AbortSignal,
): Promise<MarketParams | undefined> {
  const response = await ifServed(() => queriesOf(client, MarketQuery)("Params", {}, signal));
  if (response === undefined) return undefined;
  const wire = response.params;
  if (wire === undefined) throw badResponse("chain", "params", "is missing");
  if (!wire.enabled) return undefined;
  const { alpha, beta, gamma, delta, minBaseGasPrice, minLearningRate, maxLearningRate } = wire;
  const decimals = { alpha, beta, gamma, delta, minBaseGasPrice, minLearningRate, maxLearningRate };
  for (const [name, text] of Object.entries(decimals)) requireDecimal(`params.${name}`, text);
  const params = paramsFromWire(wire);
  if (params.minBaseGasPrice === 0n) throw badResponse("chain", "params.minBaseGasPrice", "is zero");
  if (params.maxBlockUtilization <= 1n)
    throw badResponse("chain", "params.maxBlockUtilization", "must be above 1");
  if (params.window < 1n || params.window > MAX_WINDOW)
    throw badResponse("chain", "params.window", `must be from 1 to ${MAX_WINDOW}`);
  return params;
}

/**
 * Reads the fee market's state after block `height` (default: the latest). The state's price applies to the next block. Rejects
 * with `ClientError`, whose code is "bad-answer" if the chain returned a value that is invalid for a fee market.
 */
export async function readMarketState(
  client: Pick<ChainClient, "grpcQuery">,
  signal: AbortSignal,
  height?: QueryHeight,
): Promise<MarketState> {
  const { state: wire } = await queriesOf(client, MarketQuery)("State", {}, signal, height);
  if (wire === undefined) throw badResponse("chain", "state", "is missing");
  requireDecimal("state.baseGasPrice", wire.baseGasPrice);
  requireDecimal("state.learningRate", wire.learningRate);
  if (wire.window.length > MAX_WINDOW || wire.index >= BigInt(wire.window.length))
    throw badResponse("chain", "state.index", "is outside the window");
  return fromWire(wire);
}

/**
 * Throws unless the text is a decimal in the chain's encoding, i.e. the value × 10^18 as digits. Rejects signs, because fee market
 * decimals are never negative.
 */
function requireDecimal(where: string, text: string): void {
  if (!/^\d{1,60}$/.test(text)) throw badResponse("chain", where, "is not a decimal number");
}

/** Awaits a read. Resolves with undefined if the chain does not serve the query. */
async function ifServed<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ClientError && error.facts.code === "abci") return undefined;
    throw error;
  }
}
