import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import type { Params } from "../../cosmos/fee-market/market.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import type { Dec18 } from "../../platform/base/decimal.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import { type Forecast, forecast } from "../forecast/forecast.ts";
import { configuredCosts, loadOf } from "../forecast/loads.ts";
import type { QueryLoad } from "../forecast/steady-state.ts";
import { readMarketParams, readMarketState } from "../chain/local-queries.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import { type Preview, type PreviewConnection, servedQueries } from "./open-preview.ts";
import { previewKv } from "./preview-results.ts";
import { gasGuess } from "../result/proven-result.ts";

/** The local chain's fee market, with measurements from recent blocks. */
export interface MarketPreview {
  readonly params: Params;
  readonly price: Dec18;
  /** Mean time between two recent blocks, ms. */
  readonly blockMs: number;
  /** Mean gas that other accounts' transactions use per recent block; undefined if the node does not store block results. */
  readonly othersGas: bigint | undefined;
}

/** Number of recent blocks over which the mean block time is measured. */
const TIMED_BLOCKS = 100n;
/** Number of blocks whose transactions are read, which is low because a full block's results take several megabytes. */
const READ_BLOCKS = 10n;

/**
 * Reads the local chain's fee market and blocks. Resolves with undefined if there is no fee market. Rejects with `ClientError`.
 */
export async function previewMarket(
  { localClient, account }: Pick<Preview, "localClient" | "account">,
  signal: AbortSignal,
): Promise<MarketPreview | undefined> {
  const params = await readMarketParams(localClient, signal);
  if (params === undefined) return undefined;
  const [state, blockMs, othersGas] = await Promise.all([
    readMarketState(localClient, signal),
    meanBlockMs(localClient, signal),
    ifStored(() => meanOthersGas(localClient, account.address, signal)),
  ]);
  return { params, price: state.baseGasPrice, blockMs, othersGas };
}

/** Reads the mean time between two recent blocks, ms. Returns 1,000 for a chain with only one block. */
async function meanBlockMs(
  client: Pick<PooledChainClient, "status" | "comet">,
  signal: AbortSignal,
): Promise<number> {
  const { latestHeight, latestTimeNs, earliestHeight } = await client.status(signal);
  const first = maxInt(latestHeight - TIMED_BLOCKS, maxInt(earliestHeight, 1n));
  if (first >= latestHeight) return 1_000;
  const { header } = await raceAbort(client.comet.commit(Number(first)), signal);
  const passedMs = Number(latestTimeNs / NS_PER_MS) - header.time.getTime();
  return Math.max(1, passedMs / Number(latestHeight - first));
}

/** Awaits a read. Resolves with undefined if the node refuses the call, e.g. because of `storage.discard_abci_responses`. */
async function ifStored<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ClientError && error.facts.code === "rpc") return undefined;
    throw error;
  }
}

async function meanOthersGas(
  client: Pick<PooledChainClient, "status" | "comet">,
  address: string,
  signal: AbortSignal,
): Promise<bigint> {
  const { latestHeight, earliestHeight } = await client.status(signal);
  let [gas, blocks] = [0n, 0n];
  for (let height = latestHeight; height >= maxInt(earliestHeight, 1n) && blocks < READ_BLOCKS; height--) {
    const { results } = await raceAbort(client.comet.blockResults(Number(height)), signal);
    const others = results.filter(({ events }) => !isSignedBy(events, address));
    gas += others.reduce((sum, { gasUsed }) => sum + gasUsed, 0n);
    blocks++;
  }
  return blocks === 0n ? 0n : gas / blocks;
}

type BlockResults = Awaited<ReturnType<PooledChainClient["comet"]["blockResults"]>>;

/** Returns true if the account signed a transaction, according to the SDK's `tx.acc_seq` attributes ("address/sequence"). */
function isSignedBy(events: BlockResults["results"][number]["events"], address: string): boolean {
  return events.some(
    ({ type, attributes }) =>
      type === "tx" &&
      attributes.some(({ key, value }) => key === "acc_seq" && value.startsWith(`${address}/`)),
  );
}

interface LoadFacts {
  /** Time between two local blocks, ms. */
  readonly blockMs: number;
  /** Measured gas per result, including its share of the transaction, by query id. A query without an entry gets an estimate. */
  readonly measured: ReadonlyMap<bigint, bigint>;
}

/**
 * Reads the KV queries that the relayer would serve, with their gas. Omits TX queries, because their number of results depends on
 * the remote chain's transactions. If a remote chain cannot be read, assumes that it has a new block whenever a query is due.
 */
export async function presentLoads(
  preview: Preview,
  { blockMs, measured }: LoadFacts,
  signal: AbortSignal,
): Promise<readonly QueryLoad[]> {
  const loads: QueryLoad[] = [];
  for (const connection of preview.connections) {
    const { id, remote } = connection;
    const queries = (await servedQueries(preview, id, [], signal)).filter(({ type }) => type === "kv");
    if (queries.length === 0) continue;
    const [remoteMs, callbacks] = await Promise.all([
      meanBlockMs(remote, signal).catch(() => 0),
      callbackGasByOwner(preview, connection, queries, signal),
    ]);
    signal.throwIfAborted();
    for (const query of queries) {
      const callback = callbacks.get(query.owner);
      const simulated = callback === undefined ? undefined : gasGuess(query, false) + callback;
      const gas = measured.get(query.id) ?? simulated;
      loads.push(loadOf(query, preview.config, { blockMs, remoteMs, gas }));
    }
  }
  return loads;
}

/** Maximum number of contracts per connection whose callbacks are simulated. The gas of other contracts is guessed. */
const SIMULATED_OWNERS = 5;

/** Simulates one query's result per contract. Returns each contract's callback gas and omits failed simulations. */
async function callbackGasByOwner(
  preview: Preview,
  connection: PreviewConnection,
  queries: readonly RegisteredQuery[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint>> {
  if (!preview.config.queries.allow_kv_callbacks) return new Map();
  const ones = [...new Map(queries.map((query) => [query.owner, query])).values()];
  const previews = await previewKv(preview, connection, ones.slice(0, SIMULATED_OWNERS), signal).catch(
    () => [],
  );
  return new Map(
    previews.flatMap(({ query, outcome }) =>
      outcome.kind === "accepted" && outcome.callbackGas !== undefined
        ? [[query.owner, outcome.callbackGas] as const]
        : [],
    ),
  );
}

/** Forecasts the cost and lateness of the registered queries in the chain's fee market. Rejects with `ClientError`. */
export async function forecastPresent(
  preview: Preview,
  { params, blockMs, othersGas }: MarketPreview,
  signal: AbortSignal,
): Promise<Forecast> {
  const loads = await presentLoads(preview, { blockMs, measured: new Map() }, signal);
  return forecast({ ...configuredCosts(preview.config, params), loads, blockMs, othersGas: othersGas ?? 0n });
}
