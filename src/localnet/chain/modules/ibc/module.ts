import type { AnteStep } from "../../runtime/ante-step.ts";
import type { ChainModule } from "../../runtime/context.ts";
import { channelHandlers } from "./channel/handlers.ts";
import type { PortRouter } from "./channel/ibc-module.ts";
import { createRelayCheck, packetMessages } from "./channel/packet-handlers.ts";
import { channelQueries } from "./channel/queries.ts";
import { clientHandlers } from "./client/handlers.ts";
import { updateLocalhostClient } from "./client/keeper.ts";
import { clientQueries } from "./client/queries.ts";
import { connectionHandlers } from "./connection/handlers.ts";
import { connectionQueries } from "./connection/queries.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import type { IbcOptions } from "./host/signed-handler.ts";
import { STORE_NAME } from "./host/keys.ts";
import { ibcKeeper, type IbcKeeper } from "./keeper.ts";

/** The module, its keeper and its ante step. */
export interface IbcModule extends ChainModule {
  readonly keeper: IbcKeeper;
  /** Checks relayers' transactions. It is the last ante step. */
  readonly relayCheck: AnteStep;
}

/**
 * Creates the `ibc` module: light clients, connections and channels. `router` finds a port's application; it is called for each
 * message, because the applications need this module's keeper.
 */
export function createIbcModule(options: IbcOptions, router: PortRouter = () => undefined): IbcModule {
  return {
    name: STORE_NAME,
    stores: [STORE_NAME],
    messages: [
      ...clientHandlers(options),
      ...connectionHandlers(options),
      ...channelHandlers(options, router, packetMessages(options, router)),
    ],
    queries: [...clientQueries, ...connectionQueries, ...channelQueries],
    beginBlock: updateLocalhostClient,
    initGenesis,
    exportGenesis,
    keeper: ibcKeeper,
    relayCheck: createRelayCheck({ router, bech32Prefix: options.bech32Prefix }),
  };
}
