import { packetQueries } from "./channel/packet-queries.ts";
import { channelQueries } from "./channel/queries.ts";
import { connectionQueries } from "./connection/queries.ts";
import { clientQueries } from "./client/queries.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { AnteStep } from "../../runtime/ante-step.ts";
import type { ChainModule } from "../../runtime/module.ts";
import type { PortRouter } from "./channel/application.ts";
import { createRelayCheck } from "./channel/relay-check.ts";
import { updateLocalhostClient } from "./client/localhost.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { createMessageHandlers } from "./handlers.ts";
import { type IbcKeeper, ibcKeeper } from "./keeper.ts";
import { STORE_NAME } from "./keys.ts";
import type { IbcOptions } from "./types.ts";

/** The module with its keeper and its ante step. */
export interface IbcModule extends ChainModule {
  readonly keeper: IbcKeeper;
  /** Checks transactions of relayers; the last ante step. */
  readonly relayCheck: AnteStep;
}

/**
 * Creates the module `ibc`: light clients, connections, channels. `router` finds the application of a port; it is called for
 * each message, because the applications need the keeper of this module.
 */
export function createIbcModule(options: IbcOptions, router: PortRouter = () => undefined): IbcModule {
  return {
    name: STORE_NAME,
    stores: [STORE_NAME],
    messages: createMessageHandlers(options, router),
    queries: [...clientQueries, ...connectionQueries, ...channelQueries, ...packetQueries],
    beginBlock: updateLocalhostClient,
    initGenesis,
    exportGenesis,
    keeper: ibcKeeper,
    relayCheck: createRelayCheck({
      router,
      parseAddress: (text) => parseAddress(options.bech32Prefix, text),
    }),
  };
}
