import type { ChainModule } from "../../runtime/module.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { createHandlers } from "./handlers.ts";
import { type BankAccounts, type BankKeeper, createBankKeeper } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import { createQueries } from "./queries.ts";

export interface BankOptions {
  /** Names of the modules to whose accounts messages may not send. */
  readonly blockedModules: readonly string[];
}

/** Creates the module `bank`: balances and supply. */
export function createBankModule(
  options: BankOptions,
  accounts: BankAccounts,
): ChainModule & { readonly keeper: BankKeeper } {
  const keeper = createBankKeeper(accounts, options.blockedModules);
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers({ accounts, keeper }),
    queries: createQueries(accounts),
    initGenesis: (context, genesis) => initGenesis(context, genesis, accounts),
    exportGenesis: (context) => exportGenesis(context, accounts),
    keeper,
  };
}
