import { createChainClient, type PooledChainClient } from "../cosmos/client/create-chain-client.ts";
import type { Endpoint } from "../platform/http/remote.ts";
import type { EndpointCheck, EndpointPool } from "../cosmos/client/endpoint-pool.ts";
import { ClientError } from "../cosmos/client-error.ts";
import { readLightBlock } from "../cosmos/client/light-block.ts";
import type { ChainSubscription } from "../cosmos/client/events/subscription.ts";
import { createWebSocketSubscription } from "../cosmos/client/events/websocket-subscription.ts";
import type { RpcObserver } from "../cosmos/client/rpc-caller.ts";
import { createTxWindow } from "../cosmos/client/tx/create-tx-window.ts";
import type { GasPricePolicy } from "../cosmos/client/tx/tx-queries.ts";
import type { TxWindow } from "../cosmos/client/tx/tx-types.ts";
import { untilAborted } from "../platform/base/abort.ts";
import { formatDec18 } from "../platform/base/decimal.ts";
import { errorText } from "../platform/base/errors.ts";
import type { Logger } from "../platform/base/logger.ts";
import type { Service } from "../platform/base/service.ts";
import type { DaemonContext } from "../platform/process/daemon-context.ts";
import type { RelayerConfig } from "./config/relayer-config.ts";
import { type QueryFilter, queryChangeSubscriptions } from "./chain/registered-query.ts";
import { openSigner } from "./config/signer-config.ts";

/** Creates a client that uses all the chain's endpoints. Throws `ClientError` "bad-endpoint". */
export function openClient(
  chain: { readonly id: string; readonly rpc: readonly Endpoint[] },
  config: Pick<RelayerConfig, "deadlines" | "rpc" | "tls">,
  deps: {
    readonly context: Pick<DaemonContext, "clock" | "random" | "logger">;
    readonly observer: RpcObserver;
  },
): PooledChainClient {
  const { clock, random, logger } = deps.context;
  return createChainClient(
    {
      endpoints: chain.rpc,
      chainId: chain.id,
      limits: {
        deadlineMs: config.deadlines.call,
        maxBatch: config.rpc.batch,
        maxResponseBytes: config.rpc.max_response_bytes,
      },
      network: { ca: config.tls?.ca_file },
    },
    { clock, random, logger, observer: deps.observer, readLightBlock },
  );
}

/** Subscribes to the local chain's blocks and query events at the first endpoint in `order`. */
export function followLocalChain(
  config: RelayerConfig,
  order: () => readonly string[],
  context: DaemonContext,
): ChainSubscription {
  const { clock, random, logger } = context;
  return createWebSocketSubscription(
    {
      endpoints: config.chain.rpc,
      network: { ca: config.tls?.ca_file },
      chainId: config.chain.id,
      order,
      queries: ["tm.event='NewBlockHeader'", ...queryChangeSubscriptions(config.chain.name)],
    },
    { clock, random, logger },
  );
}

/** Opens the signing key and creates the transaction window, which tracks its account's sequences. Throws `ClientError` "bad-key". */
export async function openWindow(
  config: RelayerConfig,
  client: PooledChainClient,
  context: DaemonContext,
): Promise<TxWindow> {
  const { clock, random, logger } = context;
  const signer = await openSigner(config.signer);
  logger.info("relayer account", {
    address: signer.address,
    maxGasPrice: formatDec18(config.gas.max_price),
  });
  return createTxWindow(
    {
      chainId: config.chain.id,
      memo: config.signer.memo,
      gasPrice: gasPricePolicy(config.gas),
      limits: { confirmDeadlineMs: config.deadlines.inclusion },
    },
    { client, signer, clock, random, logger },
  );
}

export function gasPricePolicy(gas: RelayerConfig["gas"]): GasPricePolicy {
  const { denom, price_multiplier: multiplier, max_price: cap, fallback_price: fallback } = gas;
  return { denom, multiplier, cap, fallback };
}

interface CheckedChain {
  readonly chainId: string;
  readonly pool: Pick<EndpointPool, "check">;
}

/**
 * Creates a service that reads every endpoint's chain id once at startup.
 *
 * If every endpoint of a chain reports an id other than the configured id, the service throws `ClientError` "wrong-chain". An
 * unresponsive endpoint is only logged, because the endpoint may come up later.
 */
export function createChainCheck(chains: readonly CheckedChain[], logger: Logger): Service {
  return {
    name: "chain id check",
    run: async (signal) => {
      await Promise.all(chains.map((chain) => checkChain(chain, logger, signal)));
      // The supervisor would treat an early return as a failure of this service, so wait until the daemon stops.
      await untilAborted(signal);
    },
  };
}

async function checkChain(
  { chainId, pool }: CheckedChain,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const checks = await pool.check(signal);
  for (const check of checks) {
    if (!check.ok)
      logger.warn("endpoint is not usable", {
        chainId,
        endpoint: check.name,
        reason: errorText(check.error),
      });
  }
  const wrong = checks.find(isWrongChain);
  const isOnlyWrong = checks.every(isWrongChain);
  if (wrong?.ok === false && isOnlyWrong) throw wrong.error;
}

function isWrongChain(check: EndpointCheck): boolean {
  return !check.ok && check.error instanceof ClientError && check.error.facts.code === "wrong-chain";
}

/** Returns a filter for the queries that the configuration serves over the given connections. */
export function queryFilter(
  config: Pick<RelayerConfig, "queries">,
  connectionIds: readonly string[],
): QueryFilter {
  const { owners, ids, kv, tx } = config.queries;
  const types = [...(kv ? (["kv"] as const) : []), ...(tx ? (["tx"] as const) : [])];
  return { connectionIds, owners, queryIds: ids, types };
}
