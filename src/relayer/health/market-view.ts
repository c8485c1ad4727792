import type { MarketParams } from "../../cosmos/fee-market/market.ts";
import { feeFor } from "../../cosmos/client/tx/tx-queries.ts";
import { type Dec18, mulDec18, parseDec18, truncateDec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import { gasGuess, GAS_PER_CLIENT_UPDATE, GAS_PER_TRANSACTION } from "../result/gas-guess.ts";
import type { Market } from "../market/create-market.ts";
import { ceilingOf, forecast, type ForecastInput, type QueryLoad } from "../market/forecast.ts";
import type { MarketStatus } from "../market/market-status.ts";
import { type QueryState, unchangedReadOf } from "../registry/query-state.ts";
import type { Registry } from "../registry/registry.ts";
import type { Watches } from "../watch/watches.ts";

/**
 * Fees are paid for gas limits at the offered price. Both are a little above what is used and charged: about this factor together,
 * while none was measured.
 */
const FEE_FACTOR = parseDec18("1.05");

/** Returns the part of a forecast's input that the configuration decides. */
export function configuredCosts(
  { gas, batch, connections }: Pick<RelayerConfig, "gas" | "batch" | "connections">,
  params: MarketParams,
): Pick<ForecastInput, "params" | "ceiling" | "feeFactor" | "batch"> {
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

/** Gas of a transaction besides its results, with an update of each client. */
function fixedGasOf({ connections }: Pick<RelayerConfig, "connections">): bigint {
  return GAS_PER_TRANSACTION + GAS_PER_CLIENT_UPDATE * BigInt(connections.length);
}

/** Returns the load of a KV query. `remoteMs` is the time between two remote blocks, 0 when it is unknown; `gas` is undefined when it is not learned. */
export function loadOf(
  query: RegisteredQuery,
  { queries }: Pick<RelayerConfig, "queries">,
  pace: { readonly blockMs: number; readonly remoteMs: number },
  gas?: bigint,
): QueryLoad {
  const { allow_kv_callbacks: callbacks, min_kv_update_period: least } = queries;
  // The next result needs a newer remote block.
  const remotePeriod = Math.round((pace.remoteMs * Number(maxInt(least, 1n))) / pace.blockMs);
  const used = gas ?? gasGuess(query, callbacks);
  return {
    queries: 1,
    updatePeriod: maxInt(query.updatePeriod, BigInt(Math.max(1, remotePeriod))),
    gas: used,
    gasWithoutCallback: minInt(used, gasGuess(query, false)),
  };
}

export interface MarketViewDeps {
  readonly market: Pick<Market, "status" | "params">;
  /** Learned gas of one result. */
  readonly gasOf: (queryId: bigint) => bigint | undefined;
  readonly registry: Pick<Registry, "states">;
  readonly watches: Pick<Watches, "local" | "connections">;
  readonly clock: { readonly monotonicMs: () => number };
}

/** Returns the fee market with a forecast for the served KV queries; undefined before the first reading and on a chain without one. */
export function createMarketView(
  config: Pick<RelayerConfig, "gas" | "batch" | "connections" | "queries">,
  deps: MarketViewDeps,
): () => MarketStatus | undefined {
  // Several readers ask for the status of one block.
  let last: Pick<MarketStatus, "readAtHeight" | "othersGas" | "feeFactor" | "forecast"> | undefined;
  return () => {
    const status = deps.market.status();
    const params = deps.market.params();
    const blockMs = deps.watches.local.view().blockMs;
    if (status === undefined || params === undefined || blockMs === undefined) return undefined;
    const { readAtMs, ...market } = status;
    const { readAtHeight, othersGas } = market;
    if (last?.readAtHeight !== readAtHeight || last.othersGas !== othersGas) {
      const costs = configuredCosts(config, params);
      const feeFactor = market.feeFactor ?? costs.feeFactor;
      const loads = loadsOf(config, deps, blockMs);
      last = {
        readAtHeight,
        othersGas,
        feeFactor,
        forecast: forecast({ ...costs, feeFactor, loads, blockMs, othersGas }),
      };
    }
    return { ...market, ...last, sinceReadMs: deps.clock.monotonicMs() - readAtMs };
  };
}

/** Time between two blocks of each connection's remote chain, ms; 0 when it is unknown. */
export function remotePaces({ watches }: Pick<MarketViewDeps, "watches">): ReadonlyMap<string, number> {
  return new Map(watches.connections.map(({ id, remote }) => [id, remote.view().blockMs ?? 0]));
}

/** Returns the load of a registered query, as {@link loadOf}. */
export function loadOfState(
  state: QueryState,
  config: Pick<RelayerConfig, "queries">,
  { gas, ...pace }: { readonly blockMs: number; readonly remoteMs: number; readonly gas: bigint | undefined },
): QueryLoad {
  // While its values do not change, it has a result in each of these intervals only.
  const interval = unchangedReadOf(state)?.maxAge ?? state.query.updatePeriod;
  return loadOf({ ...state.query, updatePeriod: interval }, config, pace, gas);
}

function loadsOf(
  config: Pick<RelayerConfig, "queries">,
  deps: MarketViewDeps,
  blockMs: number,
): readonly QueryLoad[] {
  const remotes = remotePaces(deps);
  return deps.registry.states().flatMap((state) => {
    const { id, type, connectionId } = state.query;
    if (type === "tx") return [];
    return [
      loadOfState(state, config, {
        blockMs,
        remoteMs: remotes.get(connectionId) ?? 0,
        gas: deps.gasOf(id),
      }),
    ];
  });
}

type FeeConfig = Pick<RelayerConfig, "gas" | "batch" | "connections">;

/** Returns the expected fee of a transaction with these results, as far as one can hold them. `price` is for one unit of gas. */
export function transactionFee(
  config: FeeConfig,
  resultGas: readonly bigint[],
  { price, feeFactor = FEE_FACTOR }: { readonly price: Dec18; readonly feeFactor?: Dec18 | undefined },
): bigint {
  const gas = resultGas.reduce((sum, one) => sum + one, fixedGasOf(config));
  return feeFor(mulDec18(price, feeFactor), minInt(gas, config.batch.gas));
}

/** Returns the expected fee of a transaction with a result of each served KV query, at the present price. */
export function createTransactionFee(
  config: FeeConfig & Pick<RelayerConfig, "queries">,
  { market, registry, gasOf }: Pick<MarketViewDeps, "market" | "registry" | "gasOf">,
): () => bigint {
  const callbacks = config.queries.allow_kv_callbacks;
  return () => {
    const queries = registry.states().flatMap(({ query }) => (query.type === "kv" ? [query] : []));
    return transactionFee(
      config,
      queries.map((query) => gasOf(query.id) ?? gasGuess(query, callbacks)),
      market.status() ?? { price: config.gas.fallback_price },
    );
  };
}
