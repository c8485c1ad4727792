import { formatDec18 } from "../platform/base/decimal.ts";
import { createChainClient, type PooledChainClient } from "../cosmos/client/create-chain-client.ts";
import type { ChainSubscription } from "../cosmos/client/events/subscription.ts";
import { createWebSocketSubscription } from "../cosmos/client/events/websocket-subscription.ts";
import type { RpcObserver } from "../cosmos/client/rpc/rpc-caller.ts";
import { createTxWindow } from "../cosmos/client/tx/create-tx-window.ts";
import { createSigner } from "../cosmos/client/tx/signer.ts";
import type { TxWindow } from "../cosmos/client/tx/tx-window.ts";
import type { DaemonContext } from "../platform/process/daemon-context.ts";
import type { RelayerConfig } from "./config.ts";
import { queryChangeSubscriptions } from "./registry/query-events.ts";
import { signingKey } from "./signer-config.ts";

/** Creates a client of one chain over all its endpoints. Throws `ClientError` "bad-endpoint". */
export function openClient(
  chain: { readonly id: string; readonly rpc: readonly string[] },
  config: RelayerConfig,
  deps: { readonly context: DaemonContext; readonly observer: RpcObserver },
): PooledChainClient {
  const { clock, random, logger } = deps.context;
  return createChainClient(
    {
      endpoints: chain.rpc.map((url) => ({ url })),
      chainId: chain.id,
      limits: { deadlineMs: config.deadlines.call },
    },
    { clock, random, logger, observer: deps.observer },
  );
}

/** Creates the subscription to the blocks and query events of the local chain, at the endpoint that `order` has first. */
export function followLocalChain(
  config: RelayerConfig,
  order: () => readonly string[],
  context: DaemonContext,
): ChainSubscription {
  const { clock, random, logger } = context;
  return createWebSocketSubscription(
    {
      endpoints: config.chain.rpc.map((url) => ({ url })),
      chainId: config.chain.id,
      order,
      queries: ["tm.event='NewBlockHeader'", ...queryChangeSubscriptions(config.chain.name)],
    },
    { clock, random, logger },
  );
}

/** Opens the relayer's account. Throws `ClientError` "bad-key". */
export async function openWindow(
  config: RelayerConfig,
  client: PooledChainClient,
  context: DaemonContext,
): Promise<TxWindow> {
  const { clock, random, logger } = context;
  const { prefix, fee_granter: feeGranter, memo } = config.signer;
  const signer = await createSigner(signingKey(config.signer), prefix, feeGranter);
  logger.info("relayer account", {
    address: signer.address,
    maxGasPrice: formatDec18(config.gas.max_price),
  });
  return createTxWindow(
    {
      chainId: config.chain.id,
      memo,
      gasPrice: {
        denom: config.gas.denom,
        multiplier: config.gas.price_multiplier,
        cap: config.gas.max_price,
        fallback: config.gas.fallback_price,
      },
      limits: { confirmDeadlineMs: config.deadlines.inclusion },
    },
    { client, signer, clock, random, logger },
  );
}
