import { createWakeSignal } from "../../base/wake-signal.ts";
import { formatDec18 } from "../../base/decimal.ts";
import { createChainClient, type PooledChainClient } from "../../client/create-chain-client.ts";
import { createTxSender } from "../../client/tx/create-tx-sender.ts";
import type { RpcObserver } from "../../client/rpc/rpc-caller.ts";
import { createSigner } from "../../client/tx/signer.ts";
import type { ChainSubscription } from "../../client/events/subscription.ts";
import type { TxSender } from "../../client/tx/tx-sender.ts";
import { createWebSocketSubscription } from "../../client/events/websocket-subscription.ts";
import type { DaemonContext } from "../../ops/daemon-context.ts";
import type { RelayerConfig } from "../config.ts";
import { queryChangeSubscriptions } from "../registry/query-events.ts";

/** What parts take from the process. */
export function surroundings(context: DaemonContext): Pick<DaemonContext, "clock" | "random" | "logger"> {
  const { clock, random, logger } = context;
  return { clock, random, logger };
}

/** A client of one chain. Throws `ClientError` "bad-endpoint". */
export function openClient(
  chain: { readonly id: string; readonly rpc: readonly string[] },
  config: RelayerConfig,
  deps: { readonly context: DaemonContext; readonly observer: RpcObserver },
): PooledChainClient {
  return createChainClient(
    {
      endpoints: chain.rpc.map((url) => ({ url })),
      chainId: chain.id,
      limits: { deadlineMs: config.deadlines.call },
    },
    { ...surroundings(deps.context), observer: deps.observer },
  );
}

/** The local chain as it is followed. */
interface FollowedChain {
  readonly subscription: ChainSubscription;
  readonly newBlock: ReturnType<typeof createWakeSignal>;
}

/** The subscription to the local chain; every block that it tells wakes those who wait for inclusion. */
export function followLocalChain(config: RelayerConfig, context: DaemonContext): FollowedChain {
  const newBlock = createWakeSignal();
  const inner = createWebSocketSubscription(
    {
      endpoints: config.chain.rpc.map((url) => ({ url })),
      chainId: config.chain.id,
      queries: ["tm.event='NewBlockHeader'", ...queryChangeSubscriptions(config.chain.name)],
    },
    surroundings(context),
  );
  const next: ChainSubscription["next"] = async (signal) => {
    const notice = await inner.next(signal);
    if (notice.kind === "block") newBlock.wake();
    return notice;
  };
  return { subscription: { ...inner, next }, newBlock };
}

/** The account that pays, ready to send. Throws `ClientError` "bad-key". */
export async function openSender(
  config: RelayerConfig,
  client: PooledChainClient,
  followed: FollowedChain,
  context: DaemonContext,
): Promise<TxSender> {
  const { mnemonic, prefix, hd_path: hdPath } = config.signer;
  const signer = await createSigner({ kind: "mnemonic", mnemonic, hdPath }, prefix);
  context.logger.info("relayer account", {
    address: signer.address,
    maxGasPrice: formatDec18(config.gas.max_price),
  });
  return createTxSender(
    {
      chainId: config.chain.id,
      memo: "",
      gasPrice: {
        denom: config.gas.denom,
        multiplier: config.gas.price_multiplier,
        cap: config.gas.max_price,
        fallback: config.gas.fallback_price,
      },
      limits: { confirmDeadlineMs: config.deadlines.inclusion },
    },
    { client, signer, newBlock: followed.newBlock, ...surroundings(context) },
  );
}
