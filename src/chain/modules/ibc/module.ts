import type { ChainModule } from "../../runtime/module.ts";
import { updateLocalhostClient } from "./client/localhost.ts";
import { clientQueries } from "./client/queries.ts";
import { connectionQueries } from "./connection/queries.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { createMessageHandlers, type IbcOptions } from "./handlers.ts";
import { type IbcKeeper, ibcKeeper } from "./keeper.ts";
import { STORE_NAME } from "./keys.ts";

/** Creates the module `ibc`: light clients and connections. */
export function createIbcModule(options: IbcOptions): ChainModule & { readonly keeper: IbcKeeper } {
  return {
    name: STORE_NAME,
    stores: [STORE_NAME],
    messages: createMessageHandlers(options),
    queries: [...clientQueries, ...connectionQueries],
    beginBlock: updateLocalhostClient,
    initGenesis,
    exportGenesis,
    keeper: ibcKeeper,
  };
}
