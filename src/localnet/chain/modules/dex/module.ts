import type { ChainModule } from "../../runtime/module.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { createHandlers } from "./handlers.ts";
import { MODULE_NAME } from "./keys.ts";
import { purgeExpired, purgeJitOrders } from "./purge.ts";
import { createQueries } from "./queries.ts";
import type { DexBank, DexOptions } from "./types.ts";
import type { DexBalances } from "./user-deposits.ts";

/** Dependencies of the module. */
export interface DexDeps {
  readonly bank: DexBank;
  readonly balances: DexBalances;
}

/** The module `dex`: pools, limit orders, swaps. */
export function createDexModule(options: DexOptions, deps: DexDeps): ChainModule {
  const environment = { ...options, ...deps };
  const { chainName, bech32Prefix } = options;
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(environment),
    queries: createQueries(environment),
    beginBlock: (context) => purgeExpired(context, chainName),
    endBlock: (context) => purgeJitOrders(context, chainName),
    initGenesis: (context, genesis) => initGenesis(context, genesis, bech32Prefix),
    exportGenesis: (context) => exportGenesis(context, deps.balances),
  };
}
