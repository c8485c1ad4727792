import type { ChainModule } from "../../runtime/module.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { type AuthKeeper, type AuthOptions, createAuthKeeper } from "./keeper.ts";
import { MODULE_NAME, STORE_NAME } from "./keys.ts";
import { createQueries } from "./queries.ts";

/** Creates the module `auth`: accounts with numbers, sequences and keys. */
export function createAuthModule(options: AuthOptions): ChainModule & { readonly keeper: AuthKeeper } {
  const keeper = createAuthKeeper(options);
  return {
    name: MODULE_NAME,
    stores: [STORE_NAME],
    messages: [],
    queries: createQueries(keeper, options.bech32Prefix),
    initGenesis: (context, genesis) => initGenesis(context, genesis, keeper),
    exportGenesis: (context) => exportGenesis(context, keeper),
    keeper,
  };
}
