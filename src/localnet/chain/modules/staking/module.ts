import type { ChainModule } from "../../runtime/module.ts";
import { endBlock } from "./end-block.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { createHandlers } from "./handlers.ts";
import { trackHistoricalInfo } from "./historical-info.ts";
import { createStakingKeeper, type StakingKeeper } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import { createQueryHandlers } from "./queries.ts";
import { createEnvironment, type StakingDeps, type StakingOptions } from "./types.ts";

/** The module with what slashing and the node read. */
export interface StakingModule extends ChainModule {
  readonly keeper: StakingKeeper;
}

/** Creates the module `staking`: validators, delegations, and the validator set of the chain. */
export function createStakingModule(options: StakingOptions, deps: StakingDeps): StakingModule {
  const environment = createEnvironment(options, deps);
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(environment),
    queries: createQueryHandlers(environment),
    beginBlock: trackHistoricalInfo,
    endBlock: (context) => endBlock(context, environment),
    initGenesis: (context, genesis) => initGenesis(context, genesis, environment),
    exportGenesis: (context) => exportGenesis(context, environment),
    keeper: createStakingKeeper(environment),
  };
}
